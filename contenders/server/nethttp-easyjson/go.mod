module github.com/tarebench/tare/contenders/server/nethttp-easyjson

go 1.25

require (
	github.com/mailru/easyjson v0.9.2
	github.com/tarebench/tare v0.0.0
)

require github.com/josharian/intern v1.0.0 // indirect

replace github.com/tarebench/tare => ../../..
