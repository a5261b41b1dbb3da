module github.com/tarebench/tare/contenders/server/bunrouter

go 1.25

require github.com/tarebench/tare v0.0.0

require github.com/uptrace/bunrouter v1.0.23

replace github.com/tarebench/tare => ../../..
