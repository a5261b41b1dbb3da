module github.com/tarebench/tare/contenders/codec/cbor

go 1.25

require (
	github.com/fxamacker/cbor/v2 v2.9.6
	github.com/tarebench/tare v0.0.0
)

require github.com/x448/float16 v0.8.4 // indirect

replace github.com/tarebench/tare => ../../..
