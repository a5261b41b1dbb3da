module github.com/tarebench/tare/contenders/codec/segmentio

go 1.25

require (
	github.com/segmentio/encoding v0.5.4
	github.com/tarebench/tare v0.0.0
)

require (
	github.com/segmentio/asm v1.1.3 // indirect
	golang.org/x/sys v0.0.0-20211110154304-99a53858aa08 // indirect
)

replace github.com/tarebench/tare => ../../..
