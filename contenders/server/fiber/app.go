package main

import (
	"context"
	"encoding/json"
	"net"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/logger"

	"github.com/tarebench/tare/contender/server"
)

// newApp returns fiber's server for an app without bodies.
func newApp(o server.Options) *fiber.App {
	c := newConfig(o)
	c.JSONEncoder = encodeLine
	app := fiber.New(c)
	addLog(app, o)
	return app
}

// defaultBody limits the body of a request, in bytes, in apps without bodies. The server allocates as many at once.
const defaultBody = 4 << 10

// newConfig returns the configuration of all apps. A standalone service, which has o.Ops, accepts heads of
// server.MaxHead bytes; fiber's default is 4 KiB. Buffers for all connections would take 128 MiB, so the server
// allocates one when a request arrives.
func newConfig(o server.Options) fiber.Config {
	c := fiber.Config{
		BodyLimit:     defaultBody,
		ReadTimeout:   server.ReadTimeout,
		IdleTimeout:   server.IdleTimeout,
		StrictRouting: true, // /health/ is another path than /health
		CaseSensitive: true, // and so is /Health
	}
	if o.Ops != nil {
		c.ReadBufferSize, c.ReduceMemoryUsage = server.MaxHead+1<<10, true // the margin is 1 KiB
	}
	return c
}

// newBodyApp returns fiber's server for an app with bodies of up to limit bytes. writeError also gets errors of
// unreadable requests.
func newBodyApp(o server.Options, limit int64, writeError fiber.ErrorHandler) *fiber.App {
	c := newConfig(o)
	c.BodyLimit = int(limit)
	c.DisablePreParseMultipartForm = true // the content type is checked first
	c.ErrorHandler = writeError
	return fiber.New(c)
}

func addLog(app *fiber.App, o server.Options) {
	if o.Log != nil {
		app.Use(countCalls(o.Receipts, logger.New(logger.Config{Stream: o.Log})))
	}
}

// countCalls returns a middleware that calls layer and counts the calls.
func countCalls(r *server.Receipts, layer fiber.Handler) fiber.Handler {
	return func(c fiber.Ctx) error {
		r.Layer()
		return layer(c)
	}
}

// encodeLine encodes v like fiber, and adds the line end that app tiny requires.
func encodeLine(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	return append(body, '\n'), err
}

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
