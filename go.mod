module github.com/tarebench/tare

go 1.25
