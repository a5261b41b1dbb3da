module github.com/tarebench/tare/contenders/router/bunrouter

go 1.25

require (
	github.com/tarebench/tare v0.0.0
	github.com/uptrace/bunrouter v1.0.23
)

replace github.com/tarebench/tare => ../../..
