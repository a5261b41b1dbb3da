module github.com/tarebench/tare/contenders/router/httprouter

go 1.25

require (
	github.com/julienschmidt/httprouter v1.3.0
	github.com/tarebench/tare v0.0.0
)

replace github.com/tarebench/tare => ../../..
