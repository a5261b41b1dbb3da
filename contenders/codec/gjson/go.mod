module github.com/tarebench/tare/contenders/codec/gjson

go 1.25

require (
	github.com/tarebench/tare v0.0.0
	github.com/tidwall/gjson v1.20.0
)

require (
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
)

replace github.com/tarebench/tare => ../../..
