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
	c := newConfig(o)
	c.JSONEncoder = encodeLine
	app := fiber.New(c)
	addLog(app, o)
	return app
}

// unasked is how many bytes a body may have where none is asked for: the server
// makes room for all of them at once.
const unasked = 4 << 10

// newConfig returns the configuration of all apps. Without a lab the server accepts heads of server.MaxHead
// bytes; fiber's default is 4 KiB. The buffers are then those of requests that arrive, as those of all
// connections would be 128 MiB.
func newConfig(o server.Options) fiber.Config {
	c := fiber.Config{
		BodyLimit:   unasked,
		ReadTimeout: server.ReadTimeout, IdleTimeout: server.IdleTimeout,
		StrictRouting: true, CaseSensitive: true, // /health is neither /health/ nor /Health
	}
	if o.Ops != nil {
		c.ReadBufferSize, c.ReduceMemoryUsage = server.MaxHead+1<<10, true
	}
	return c
}

// newBodyApp returns an app with bodies of up to limit bytes. All errors, also of unreadable requests, go to
// refuse.
func newBodyApp(o server.Options, limit int64, refuse fiber.ErrorHandler) *fiber.App {
	c := newConfig(o)
	c.BodyLimit = int(limit)
	c.DisablePreParseMultipartForm = true // a form is not looked into before its type is refused
	c.ErrorHandler = refuse
	return fiber.New(c)
}

// addLog adds the access log of the options.
func addLog(app *fiber.App, o server.Options) {
	if o.Log != nil {
		app.Use(countCalls(o.Receipts, logger.New(logger.Config{Stream: o.Log})))
	}
}

// countCalls returns layer with a count of its calls.
func countCalls(r *server.Receipts, layer fiber.Handler) fiber.Handler {
	return func(c fiber.Ctx) error {
		r.Layer()
		return layer(c)
	}
}

// encodeLine is fiber's default encoder with a line end, as the app tiny requires.
func encodeLine(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	return append(body, '\n'), err
}

// writeBody answers with an encoded body.
func writeBody(c fiber.Ctx, kind string, body []byte) error {
	c.Set(fiber.HeaderContentType, kind)
	return c.Send(body)
}

// quiet is an app that serves without a start-up message.
type quiet struct{ app *fiber.App }

func (q quiet) Serve(l net.Listener) error {
	return q.app.Listener(l, fiber.ListenConfig{DisableStartupMessage: true})
}

func (q quiet) Shutdown(ctx context.Context) error { return q.app.ShutdownWithContext(ctx) }
