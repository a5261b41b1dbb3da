module github.com/tarebench/tare/cgocopy

go 1.25.0
