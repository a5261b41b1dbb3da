module github.com/tarebench/tare/contenders/server/echo

go 1.25.0

require github.com/tarebench/tare v0.0.0

require (
	github.com/labstack/echo/v5 v5.3.1
	golang.org/x/time v0.15.0 // indirect
)

replace github.com/tarebench/tare => ../../..
