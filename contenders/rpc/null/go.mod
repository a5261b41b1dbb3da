module github.com/tarebench/tare/contenders/rpc/null

go 1.25

require github.com/tarebench/tare v0.0.0

replace github.com/tarebench/tare => ../../..
