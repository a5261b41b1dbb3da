module github.com/tarebench/tare/contenders/router/chi

go 1.25

require (
	github.com/go-chi/chi/v5 v5.5.0
	github.com/tarebench/tare v0.0.0
)

replace github.com/tarebench/tare => ../../..
