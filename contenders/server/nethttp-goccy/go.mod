module github.com/tarebench/tare/contenders/server/nethttp-goccy

go 1.25

require (
	github.com/goccy/go-json v0.12.0
	github.com/tarebench/tare v0.0.0
)

replace github.com/tarebench/tare => ../../..
