package main

import (
	"context"
	"encoding/json"

	"github.com/valyala/fasthttp"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
)

// batches serves app ingest, which receives batches of events. fasthttp reads the body before it calls the
// handler.
type batches struct {
	server.Options                 // its Receipts count requests, bytes and calls of middleware
	Ingest         *ingest.Service // the logic of the app
}

func serveIngest(o server.Options, s *ingest.Service) (server.Server, error) {
	r := newRouter()
	b := batches{o, s}
	r.NotFound = func(c *fasthttp.RequestCtx) { b.writeError(c, ingest.NotFound()) }
	r.MethodNotAllowed = func(c *fasthttp.RequestCtx) { b.writeError(c, ingest.NotAllowed()) }
	r.POST("/", func(c *fasthttp.RequestCtx) {
		o.Receipts.Request()
		receipt, err := b.acceptBatch(c)
		if err != nil {
			b.writeError(c, err)
			return
		}
		sendJSON(c, fasthttp.StatusOK, receipt)
	})
	r.GET("/health", func(c *fasthttp.RequestCtx) {
		o.Receipts.Request()
		_, _ = c.WriteString("ok\n")
	})
	r.GET("/metrics", func(c *fasthttp.RequestCtx) {
		o.Receipts.Request()
		writeBody(c, "text/plain; version=0.0.4", s.Metrics())
	})
	r.GET("/openapi.json", func(c *fasthttp.RequestCtx) {
		o.Receipts.Request()
		writeBody(c, "application/json", ingest.OpenAPI())
	})
	return newBodyServer(addLog(r.Handler, o), o, s.MaxBody(), b.writeUnread), nil
}

// acceptBatch passes a batch to the service. The receipt is the response.
func (b batches) acceptBatch(c *fasthttp.RequestCtx) (ingest.Receipt, error) {
	body := c.PostBody()
	b.Receipts.Body(int64(len(body)))
	h := &c.Request.Header
	head := ingest.Head{
		Authorization:   string(h.Peek("Authorization")),
		ContentType:     string(h.ContentType()),
		ContentEncoding: string(h.ContentEncoding()),
		Length:          int64(len(body)),
		Traceparent:     string(h.Peek("traceparent")),
	}
	if _, err := b.Ingest.Admit(head); err != nil {
		return ingest.Receipt{}, err
	}
	body, err := b.Ingest.Unpack(head, body)
	if err != nil {
		return ingest.Receipt{}, err
	}
	batch := b.Ingest.Batch(json.Marshal)
	if err := json.Unmarshal(body, batch.Target()); err != nil {
		return ingest.Receipt{}, b.Ingest.Malformed(head, body, err)
	}
	return b.Ingest.Accept(context.Background(), head, batch) // c ends with the server, not with the request
}

func (b batches) writeError(c *fasthttp.RequestCtx, err error) {
	r := b.Ingest.RefusalOf(err)
	switch r.Status {
	case fasthttp.StatusUnauthorized:
		c.Response.Header.Set("WWW-Authenticate", "Bearer")
	case fasthttp.StatusServiceUnavailable:
		c.Response.Header.Set("Retry-After", "1")
	}
	sendJSON(c, r.Status, r)
}

// writeUnread sends the error response for a request that could not be read.
func (b batches) writeUnread(c *fasthttp.RequestCtx, status int, err error) {
	switch status {
	case fasthttp.StatusRequestEntityTooLarge:
		err = b.Ingest.TooLarge()
	case fasthttp.StatusRequestTimeout:
		err = ingest.TooSlow()
	default:
		err = &ingest.Refusal{Status: status, Code: "malformed", Message: "the request cannot be read"}
	}
	b.writeError(c, err)
}
