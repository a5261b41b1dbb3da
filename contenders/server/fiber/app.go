package main

import (
	"context"
	"encoding/json"
	"net"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/logger"

	"github.com/tarebench/tare/contender/server"
)

// newApp returns fiber's server for an app whose requests have no bodies, with the access log of the
// options.
func newApp(o server.Options) *fiber.App {
	c := newConfig(o)
	c.JSONEncoder = encodeLine
	app := fiber.New(c)
	addLog(app, o)
	return app
}

// defaultBody limits the bytes of a body if requests have none: the server allocates as many at once.
const defaultBody = 4 << 10

// newConfig returns the configuration of all apps. In a standalone service, which has o.Ops and is not
// measured, the server accepts request heads of server.MaxHead bytes; fiber's default is 4 KiB. It then
// allocates a buffer only while a request arrives, because buffers for all connections would take 128 MiB.
func newConfig(o server.Options) fiber.Config {
	c := fiber.Config{
		BodyLimit:     defaultBody,
		ReadTimeout:   server.ReadTimeout,
		IdleTimeout:   server.IdleTimeout,
		StrictRouting: true, // /health/ is another path than /health
		CaseSensitive: true, // and so is /Health
	}
	if o.Ops != nil {
		c.ReadBufferSize, c.ReduceMemoryUsage = server.MaxHead+1<<10, true // with a margin of 1 KiB
	}
	return c
}

// newBodyApp returns fiber's server for an app with bodies of up to limit bytes. fiber passes all errors to
// writeError, also those of requests that it cannot read.
func newBodyApp(o server.Options, limit int64, writeError fiber.ErrorHandler) *fiber.App {
	c := newConfig(o)
	c.BodyLimit = int(limit)
	c.DisablePreParseMultipartForm = true // do not parse a form before its content type is rejected
	c.ErrorHandler = writeError
	return fiber.New(c)
}

// addLog adds the access log of the options, if they have one.
func addLog(app *fiber.App, o server.Options) {
	if o.Log != nil {
		app.Use(countCalls(o.Receipts, logger.New(logger.Config{Stream: o.Log})))
	}
}

// countCalls returns a middleware that calls layer and counts the calls, for the lab.
func countCalls(r *server.Receipts, layer fiber.Handler) fiber.Handler {
	return func(c fiber.Ctx) error {
		r.Layer()
		return layer(c)
	}
}

// encodeLine encodes v as fiber does by default, and adds the line end that app tiny requires.
func encodeLine(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	return append(body, '\n'), err
}

// writeBody sends a body of a content type.
func writeBody(c fiber.Ctx, kind string, body []byte) error {
	c.Set(fiber.HeaderContentType, kind)
	return c.Send(body)
}

// quietApp serves an app without fiber's message at the start.
type quietApp struct{ app *fiber.App }

// Serve implements [server.Server].
func (q quietApp) Serve(l net.Listener) error {
	return q.app.Listener(l, fiber.ListenConfig{DisableStartupMessage: true})
}

// Shutdown implements [server.Server].
func (q quietApp) Shutdown(ctx context.Context) error { return q.app.ShutdownWithContext(ctx) }
