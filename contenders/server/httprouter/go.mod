module github.com/tarebench/tare/contenders/server/httprouter

go 1.25

require github.com/tarebench/tare v0.0.0

require github.com/julienschmidt/httprouter v1.3.0

replace github.com/tarebench/tare => ../../..
