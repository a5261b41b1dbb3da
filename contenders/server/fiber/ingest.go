package main

import (
	"errors"

	"github.com/gofiber/fiber/v3"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
)

// batches serves app ingest, which receives batches of events. fiber passes returned errors to writeError.
type batches struct {
	server.Options                 // its Receipts count requests, bytes and calls of middleware
	Ingest         *ingest.Service // the logic of the app
	config         fiber.Config    // decodes and encodes JSON
}

func serveIngest(o server.Options, s *ingest.Service) (server.Server, error) {
	b := &batches{Options: o, Ingest: s}
	app := newBodyApp(o, s.MaxBody(), b.writeError)
	b.config = app.Config()
	addLog(app, o)
	app.Post("/", b.acceptBatch)
	app.Get("/health", func(c fiber.Ctx) error {
		o.Receipts.Request()
		return c.SendString("ok\n")
	})
	app.Get("/metrics", func(c fiber.Ctx) error {
		o.Receipts.Request()
		return writeBody(c, "text/plain; version=0.0.4", s.Metrics())
	})
	app.Get("/openapi.json", func(c fiber.Ctx) error {
		o.Receipts.Request()
		return writeBody(c, fiber.MIMEApplicationJSON, ingest.OpenAPI())
	})
	return quietApp{app}, nil
}

// acceptBatch reads a batch and sends the service's receipt.
func (b *batches) acceptBatch(c fiber.Ctx) error {
	b.Receipts.Request()
	body := c.Request().Body() // c.Body and Bind would unpack without a limit
	b.Receipts.Body(int64(len(body)))
	head := ingest.Head{
		Authorization:   c.Get(fiber.HeaderAuthorization),
		ContentType:     c.Get(fiber.HeaderContentType),
		ContentEncoding: c.Get(fiber.HeaderContentEncoding),
		Length:          int64(len(body)),
		Traceparent:     c.Get("traceparent"),
	}
	if _, err := b.Ingest.Admit(head); err != nil {
		return err
	}
	body, err := b.Ingest.Unpack(head, body)
	if err != nil {
		return err
	}
	batch := b.Ingest.Batch(b.config.JSONEncoder)
	if err := b.config.JSONDecoder(body, batch.Target()); err != nil {
		return b.Ingest.Malformed(head, body, err)
	}
	receipt, err := b.Ingest.Accept(c.Context(), head, batch)
	if err != nil {
		return err
	}
	return c.JSON(receipt)
}

// writeError sends the error response for an error of a handler or of fiber itself.
func (b *batches) writeError(c fiber.Ctx, err error) error {
	var fiberErr *fiber.Error
	if errors.As(err, &fiberErr) {
		switch fiberErr.Code {
		case fiber.StatusNotFound:
			err = ingest.NotFound()
		case fiber.StatusMethodNotAllowed:
			err = ingest.NotAllowed()
		case fiber.StatusRequestEntityTooLarge:
			err = b.Ingest.TooLarge()
		case fiber.StatusRequestTimeout:
			err = ingest.TooSlow()
		default:
			err = &ingest.Refusal{Status: fiberErr.Code, Code: "malformed", Message: "the request cannot be read"}
		}
	}
	r := b.Ingest.RefusalOf(err)
	switch r.Status {
	case fiber.StatusUnauthorized:
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	case fiber.StatusServiceUnavailable:
		c.Set(fiber.HeaderRetryAfter, "1")
	}
	return c.Status(r.Status).JSON(r)
}
