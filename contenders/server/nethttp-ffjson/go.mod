module github.com/tarebench/tare/contenders/server/nethttp-ffjson

go 1.25

require (
	github.com/pquerna/ffjson v0.0.0-20190930134022-aa0246cd15f7
	github.com/tarebench/tare v0.0.0
)

replace github.com/tarebench/tare => ../../..
