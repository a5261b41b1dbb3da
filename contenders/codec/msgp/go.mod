module github.com/tarebench/tare/contenders/codec/msgp

go 1.25

require (
	github.com/tarebench/tare v0.0.0
	github.com/tinylib/msgp v1.6.5
)

require (
	github.com/philhofer/fwd v1.2.0 // indirect
	golang.org/x/mod v0.18.0 // indirect
	golang.org/x/tools v0.22.0 // indirect
)

replace github.com/tarebench/tare => ../../..

tool github.com/tinylib/msgp
