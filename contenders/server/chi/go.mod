module github.com/tarebench/tare/contenders/server/chi

go 1.25

require github.com/tarebench/tare v0.0.0

require github.com/go-chi/chi/v5 v5.5.0

replace github.com/tarebench/tare => ../../..
