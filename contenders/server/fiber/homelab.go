package main

import (
	"errors"
	"net/url"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/cors"
	"github.com/gofiber/fiber/v3/middleware/recover"
	"github.com/gofiber/fiber/v3/middleware/requestid"
	"github.com/gofiber/utils/v2"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// house serves app homelab, the API of a house with devices.
type house struct {
	*homelab.House                     // the logic of the app
	receipts       *server.Receipts    // counts requests, bytes and calls of middleware; tare compares them with what it sent
	decode         utils.JSONUnmarshal // JSON decoder of fiber's configuration
}

func serveHomelab(o server.Options, s *homelab.House) (server.Server, error) {
	h := &house{House: s, receipts: o.Receipts}
	app := newBodyApp(o, homelab.MaxCommand, h.writeError)
	h.decode = app.Config().JSONDecoder
	use := func(layer fiber.Handler) { app.Use(countCalls(o.Receipts, layer)) }
	use(h.dropInvalidID(requestid.New(requestid.Config{Generator: func() string { return h.RequestID("") }})))
	addLog(app, o)
	use(recover.New())
	if h.CORS() {
		use(cors.New(cors.Config{
			AllowOriginsFunc: func(origin string) bool { return h.Allow(origin) != "" },
			AllowMethods:     []string{fiber.MethodGet, fiber.MethodPost},
		}))
	}
	if h.Limited() {
		use(h.limitRate)
	}
	h.addRoutes(app)
	return quietApp{app}, nil
}

func (h *house) addRoutes(app *fiber.App) {
	app.Get("/health", h.newPage("text/plain", func() []byte { return []byte("ok\n") }))
	app.Get("/metrics", h.newPage("text/plain; version=0.0.4", h.Metrics))
	app.Get("/openapi.json", h.newPage(fiber.MIMEApplicationJSON, homelab.OpenAPI))
	api := app.Group("/api/v1")
	api.Get("/", h.newJSONHandler(func(fiber.Ctx) (any, error) { return h.Info(), nil }))
	api.Get("/services", h.newJSONHandler(func(fiber.Ctx) (any, error) { return fiber.Map{"services": h.Services("")}, nil }))
	api.Get("/cluster/services", h.newJSONHandler(func(c fiber.Ctx) (any, error) { return fiber.Map{"services": h.Services(c.Query("name"))}, nil }))
	api.Get("/devices", h.newJSONHandler(func(fiber.Ctx) (any, error) { return fiber.Map{"devices": h.Devices()}, nil }))
	api.Get("/devices/:id", h.newJSONHandler(func(c fiber.Ctx) (any, error) { return h.Device(decodeID(c)) }))
	api.Post("/homeassistant/devices/:id/command", h.newJSONHandler(h.runCommand))
}

// decodeID returns the id in the path without percent escapes, which fiber does not decode. An invalid escape
// stays: no device has such an id.
func decodeID(c fiber.Ctx) string {
	escaped := c.Params("id")
	if id, err := url.PathUnescape(escaped); err == nil {
		return id
	}
	return escaped
}

// newPage returns a handler that sends a page of a content type.
func (h *house) newPage(kind string, body func() []byte) fiber.Handler {
	return func(c fiber.Ctx) error {
		h.receipts.Request()
		h.Served(fiber.StatusOK)
		return writeBody(c, kind, body())
	}
}

// newJSONHandler returns a handler that sends the result of answer as JSON, or its error.
func (h *house) newJSONHandler(answer func(c fiber.Ctx) (any, error)) fiber.Handler {
	return func(c fiber.Ctx) error {
		h.receipts.Request()
		v, err := answer(c)
		if err != nil {
			return err
		}
		h.Served(fiber.StatusOK)
		return c.JSON(v)
	}
}

// runCommand reads a command, runs it and returns the outcome.
func (h *house) runCommand(c fiber.Ctx) (any, error) {
	body := c.Request().Body() // Bind would unpack without a limit
	h.receipts.Body(int64(len(body)))
	if err := h.Admit(c.Get(fiber.HeaderContentType), c.Get(fiber.HeaderOrigin), string(c.Request().Host())); err != nil {
		return nil, err
	}
	var command homelab.Command
	if err := h.decode(body, &command); err != nil {
		return nil, homelab.Malformed(err)
	}
	return h.Command(decodeID(c), command)
}

// writeError sends the error response for an error of a handler, of recovery, or of fiber itself.
func (h *house) writeError(c fiber.Ctx, err error) error {
	var fiberErr *fiber.Error
	if errors.As(err, &fiberErr) {
		switch fiberErr.Code {
		case fiber.StatusNotFound:
			err = homelab.NotFound()
		case fiber.StatusMethodNotAllowed:
			err = homelab.NotAllowed()
		case fiber.StatusRequestEntityTooLarge:
			err = homelab.TooLarge()
		default:
			err = &homelab.Refusal{Status: fiberErr.Code, Code: "malformed", Message: "the request cannot be read"}
		}
	}
	r := h.RefusalOf(err)
	if r.Code == "read_only" {
		c.Set(fiber.HeaderAllow, fiber.MethodGet)
	}
	h.Served(r.Status)
	return c.Status(r.Status).JSON(r)
}
