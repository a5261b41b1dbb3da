module github.com/tarebench/tare/contenders/codec/fastjson

go 1.25

require github.com/tarebench/tare v0.0.0

require github.com/valyala/fastjson v1.6.10

replace github.com/tarebench/tare => ../../..
