module github.com/tarebench/tare/bench/ffi

go 1.25.0

require github.com/tarebench/tare/cgocopy v0.0.0

replace github.com/tarebench/tare/cgocopy => ../../cgocopy
