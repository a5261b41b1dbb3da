package main

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/labstack/echo/v5"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
)

// batches serves app ingest, which receives batches of events. echo passes returned errors to writeError.
type batches struct {
	server.Options                 // its Receipts count requests, bytes and calls of middleware
	Ingest         *ingest.Service // the logic of the app
}

func serveIngest(o server.Options, s *ingest.Service) (server.Server, error) {
	e := newEcho(o)
	b := batches{o, s}
	e.HTTPErrorHandler = b.writeError
	e.POST("/", b.acceptBatch)
	e.GET("/health", func(c *echo.Context) error {
		o.Receipts.Request()
		return c.String(http.StatusOK, "ok\n")
	})
	e.GET("/metrics", func(c *echo.Context) error {
		o.Receipts.Request()
		return c.Blob(http.StatusOK, "text/plain; version=0.0.4", s.Metrics())
	})
	e.GET("/openapi.json", func(c *echo.Context) error {
		o.Receipts.Request()
		return c.JSONBlob(http.StatusOK, ingest.OpenAPI())
	})
	return server.HTTPBodies(e), nil
}

// acceptBatch reads a batch and sends the service's receipt.
func (b batches) acceptBatch(c *echo.Context) error {
	b.Receipts.Request()
	r := c.Request()
	head := ingest.Head{
		Authorization:   r.Header.Get(echo.HeaderAuthorization),
		ContentType:     r.Header.Get(echo.HeaderContentType),
		ContentEncoding: r.Header.Get(echo.HeaderContentEncoding),
		Length:          r.ContentLength,
		Traceparent:     r.Header.Get("traceparent"),
	}
	if _, err := b.Ingest.Admit(head); err != nil {
		return err
	}
	sent := &meter{Reader: r.Body}
	body := b.Ingest.Body(head, sent)
	defer body.Close()
	r.Body = body
	batch := b.Ingest.Batch(json.Marshal)
	err := c.Echo().JSONSerializer.Deserialize(c, batch.Target()) // Bind would check the content type again
	b.Receipts.Body(sent.n)
	if err != nil {
		return body.Refusal(err)
	}
	receipt, err := b.Ingest.Accept(r.Context(), head, batch)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, receipt)
}

// writeError sends the error response for an error of a handler or of echo's router.
func (b batches) writeError(c *echo.Context, err error) {
	if hasAnswered(c) {
		return
	}
	switch echo.StatusCode(err) {
	case http.StatusNotFound:
		err = ingest.NotFound()
	case http.StatusMethodNotAllowed:
		err = ingest.NotAllowed()
	}
	r := b.Ingest.RefusalOf(err)
	switch r.Status {
	case http.StatusUnauthorized:
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, "Bearer")
	case http.StatusServiceUnavailable:
		c.Response().Header().Set(echo.HeaderRetryAfter, "1")
	}
	_ = c.JSON(r.Status, r) // fails only if the client has disconnected
}

func hasAnswered(c *echo.Context) bool {
	w, err := echo.UnwrapResponse(c.Response())
	return err == nil && w.Committed
}

// meter counts the bytes of a body as sent.
type meter struct {
	io.Reader
	n int64 // number of bytes
}

// Read implements [io.Reader].
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.n += int64(n)
	return n, err
}
