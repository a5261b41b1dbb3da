module github.com/tarebench/tare/contenders/router/echo

go 1.25.0

require (
	github.com/labstack/echo/v5 v5.3.1
	github.com/tarebench/tare v0.0.0
)

replace github.com/tarebench/tare => ../../..
