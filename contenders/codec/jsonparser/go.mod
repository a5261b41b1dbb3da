module github.com/tarebench/tare/contenders/codec/jsonparser

go 1.25

require github.com/tarebench/tare v0.0.0

require github.com/buger/jsonparser v1.6.1

replace github.com/tarebench/tare => ../../..
