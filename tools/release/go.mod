module github.com/tarebench/tare/tools/release

go 1.25.0

require golang.org/x/mod v0.32.0
