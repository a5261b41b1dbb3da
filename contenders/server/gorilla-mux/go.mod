module github.com/tarebench/tare/contenders/server/gorilla-mux

go 1.25

require github.com/tarebench/tare v0.0.0

require github.com/gorilla/mux v1.8.1

replace github.com/tarebench/tare => ../../..
