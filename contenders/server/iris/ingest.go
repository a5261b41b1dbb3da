package main

import (
	"encoding/json"
	"io"

	"github.com/kataras/iris/v12"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
)

// batches serves app ingest, which receives batches of events.
type batches struct {
	server.Options                 // its Receipts count requests, bytes and calls of middleware
	Ingest         *ingest.Service // the logic of the app
}

func serveIngest(o server.Options, s *ingest.Service) (server.Server, error) {
	app := newApp()
	addLog(app, o)
	b := batches{o, s}
	app.OnErrorCode(iris.StatusNotFound, func(c iris.Context) { b.writeError(c, ingest.NotFound()) })
	app.OnErrorCode(iris.StatusMethodNotAllowed, func(c iris.Context) { b.writeError(c, ingest.NotAllowed()) })
	app.Post("/", func(c iris.Context) {
		o.Receipts.Request()
		receipt, err := b.acceptBatch(c)
		if err != nil {
			b.writeError(c, err)
			return
		}
		_ = c.JSON(receipt) // iris itself responds to an error
	})
	app.Get("/health", func(c iris.Context) {
		o.Receipts.Request()
		_, _ = c.WriteString("ok\n")
	})
	app.Get("/metrics", func(c iris.Context) {
		o.Receipts.Request()
		writeBody(c, "text/plain; version=0.0.4", s.Metrics())
	})
	app.Get("/openapi.json", func(c iris.Context) {
		o.Receipts.Request()
		writeBody(c, "application/json", ingest.OpenAPI())
	})
	return newServer(app)
}

// acceptBatch passes a batch to the service. Admit checks headers before the body is decoded. Accept checks
// and stores the events. The receipt is the response.
func (b batches) acceptBatch(c iris.Context) (ingest.Receipt, error) {
	r := c.Request()
	head := ingest.Head{
		Authorization:   c.GetHeader("Authorization"),
		ContentType:     c.GetHeader("Content-Type"),
		ContentEncoding: c.GetHeader("Content-Encoding"),
		Length:          r.ContentLength,
		Traceparent:     c.GetHeader("traceparent"),
	}
	if _, err := b.Ingest.Admit(head); err != nil {
		return ingest.Receipt{}, err
	}
	sent := &meter{Reader: r.Body}
	body := b.Ingest.Body(head, sent)
	defer body.Close()
	r.Body = body
	batch := b.Ingest.Batch(json.Marshal)
	err := c.ReadJSON(batch.Target())
	if err == nil { // iris's decoder stops after the first value
		_, err = io.Copy(io.Discard, body)
	}
	b.Receipts.Body(sent.n)
	if err != nil {
		return ingest.Receipt{}, body.Refusal(err)
	}
	return b.Ingest.Accept(r.Context(), head, batch)
}

func (b batches) writeError(c iris.Context, err error) {
	r := b.Ingest.RefusalOf(err)
	switch r.Status {
	case iris.StatusUnauthorized:
		c.Header("WWW-Authenticate", "Bearer")
	case iris.StatusServiceUnavailable:
		c.Header("Retry-After", "1")
	}
	c.StatusCode(r.Status)
	_ = c.JSON(r) // iris itself responds to an error
}
