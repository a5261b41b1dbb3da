module github.com/tarebench/tare/contenders/router/gorilla-mux

go 1.25

require (
	github.com/gorilla/mux v1.8.1
	github.com/tarebench/tare v0.0.0
)

replace github.com/tarebench/tare => ../../..
