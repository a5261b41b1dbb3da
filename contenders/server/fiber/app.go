package main

import (
	"context"
	"encoding/json"
	"net"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/logger"

	"github.com/tarebench/tare/contender/server"
)

// newApp is an app with the access log that is asked for.
func newApp(o server.Options) *fiber.App {
	app := fiber.New(fiber.Config{
		ReadTimeout: server.ReadTimeout, IdleTimeout: server.IdleTimeout,
		StrictRouting: true, CaseSensitive: true, // /health is neither /health/ nor /Health
		JSONEncoder: line,
	})
	if o.Log != nil {
		lines := logger.New(logger.Config{Stream: o.Log})
		app.Use(func(c fiber.Ctx) error {
			o.Receipts.Layer()
			return lines(c)
		})
	}
	return app
}

// line is fiber's default encoder, with a line end, as the app wants it.
func line(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	return append(body, '\n'), err
}

// quiet is an app that serves without a start-up message.
type quiet struct{ app *fiber.App }

func (q quiet) Serve(l net.Listener) error {
	return q.app.Listener(l, fiber.ListenConfig{DisableStartupMessage: true})
}

func (q quiet) Shutdown(ctx context.Context) error { return q.app.ShutdownWithContext(ctx) }
