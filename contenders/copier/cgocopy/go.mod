module github.com/tarebench/tare/contenders/copier/cgocopy

go 1.25.0

require (
	github.com/tarebench/tare v0.0.0
	github.com/tarebench/tare/cgocopy v0.0.0
)

replace (
	github.com/tarebench/tare => ../../..
	github.com/tarebench/tare/cgocopy => ../../../cgocopy
)
