package main

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// house serves app homelab, the API of a house with devices.
type house struct {
	*homelab.House                  // the logic of the app
	receipts       *server.Receipts // counts requests, bytes and calls of middleware; tare compares them with what it sent
}

func serveHomelab(o server.Options, s *homelab.House) (server.Server, error) {
	h := house{s, o.Receipts}
	e := plainEcho()
	use := func(layer echo.MiddlewareFunc) { e.Use(countCalls(o.Receipts, layer)) }
	use(middleware.RequestIDWithConfig(middleware.RequestIDConfig{
		Generator:        func() string { return h.RequestID("") },
		RequestIDHandler: h.fixRequestID,
	}))
	addLog(e, o)
	use(middleware.Recover())
	if h.CORS() {
		use(middleware.CORSWithConfig(middleware.CORSConfig{
			UnsafeAllowOriginFunc: h.allowOrigin,
			AllowMethods:          []string{http.MethodGet, http.MethodPost},
		}))
	}
	if h.Limited() {
		use(h.limitRate)
	}
	e.HTTPErrorHandler = h.writeError
	h.addRoutes(e)
	return server.HTTPBodies(e), nil
}

func (h house) addRoutes(e *echo.Echo) {
	e.GET("/health", h.newPage("text/plain", func() []byte { return []byte("ok\n") }))
	e.GET("/metrics", h.newPage("text/plain; version=0.0.4", h.Metrics))
	e.GET("/openapi.json", h.newPage(echo.MIMEApplicationJSON, homelab.OpenAPI))
	api := e.Group("/api/v1")
	api.GET("/", h.newJSONHandler(func(*echo.Context) (any, error) { return h.Info(), nil }))
	api.GET("/services", h.newJSONHandler(func(*echo.Context) (any, error) { return map[string]any{"services": h.Services("")}, nil }))
	api.GET("/cluster/services", h.newJSONHandler(func(c *echo.Context) (any, error) {
		return map[string]any{"services": h.Services(c.QueryParam("name"))}, nil
	}))
	api.GET("/devices", h.newJSONHandler(func(*echo.Context) (any, error) { return map[string]any{"devices": h.Devices()}, nil }))
	api.GET("/devices/:id", h.newJSONHandler(func(c *echo.Context) (any, error) {
		id, err := deviceID(c)
		if err != nil {
			return nil, err
		}
		return h.Device(id)
	}))
	api.POST("/homeassistant/devices/:id/command", h.newJSONHandler(h.runCommand))
}

// deviceID returns the id in the path. echo's last parameter matches the rest of the path, so several segments
// are an error.
func deviceID(c *echo.Context) (string, error) {
	escaped := c.Param("id")
	if strings.Contains(escaped, "/") {
		return "", echo.ErrNotFound
	}
	id, err := server.Unescape(c.Request(), escaped)
	if err != nil {
		return escaped, nil // no device has this id
	}
	return id, nil
}

// newPage returns a handler that sends a page of a content type.
func (h house) newPage(kind string, body func() []byte) echo.HandlerFunc {
	return func(c *echo.Context) error {
		h.receipts.Request()
		h.Served(http.StatusOK)
		return c.Blob(http.StatusOK, kind, body())
	}
}

// newJSONHandler returns a handler that sends the result of answer as JSON, or its error.
func (h house) newJSONHandler(answer func(c *echo.Context) (any, error)) echo.HandlerFunc {
	return func(c *echo.Context) error {
		h.receipts.Request()
		v, err := answer(c)
		if err != nil {
			return err
		}
		h.Served(http.StatusOK)
		return c.JSON(http.StatusOK, v)
	}
}

// runCommand reads a command, runs it and returns the outcome.
func (h house) runCommand(c *echo.Context) (any, error) {
	r := c.Request()
	if err := h.Admit(r.Header.Get(echo.HeaderContentType), r.Header.Get(echo.HeaderOrigin), r.Host); err != nil {
		return nil, err
	}
	sent := &meter{Reader: http.MaxBytesReader(c.Response(), r.Body, homelab.MaxCommand)}
	r.Body = io.NopCloser(sent)
	var command homelab.Command
	err := c.Echo().JSONSerializer.Deserialize(c, &command) // Bind would require a content type
	h.receipts.Body(sent.n)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, homelab.TooLarge()
	case err != nil:
		return nil, homelab.Malformed(err)
	}
	id, err := deviceID(c)
	if err != nil {
		return nil, err
	}
	return h.Command(id, command)
}

// writeError sends the error response for an error of a handler, of recovery or of echo's router.
func (h house) writeError(c *echo.Context, err error) {
	if hasAnswered(c) {
		return
	}
	switch echo.StatusCode(err) {
	case http.StatusNotFound:
		err = homelab.NotFound()
	case http.StatusMethodNotAllowed:
		err = homelab.NotAllowed()
	}
	r := h.RefusalOf(err)
	if r.Code == "read_only" {
		c.Response().Header().Set(echo.HeaderAllow, http.MethodGet)
	}
	h.Served(r.Status)
	_ = c.JSON(r.Status, r) // fails only if the client has disconnected
}
