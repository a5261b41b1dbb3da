package main

import (
	"context"

	"github.com/cloudwego/hertz/pkg/app"
	hertz "github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/json" // sonic where supported, else encoding/json
	"github.com/cloudwego/hertz/pkg/protocol/consts"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
)

// batches serves app ingest, which receives batches of events.
type batches struct {
	server.Options                 // its Receipts count requests, bytes and calls of middleware
	Ingest         *ingest.Service // the logic of the app
}

func serveIngest(o server.Options, s *ingest.Service) (server.Server, error) {
	return newEngine(o, func(h *hertz.Hertz) {
		addLog(h, o)
		batches{o, s}.addRoutes(h)
	}, bodyOptions(s.MaxBody())...), nil
}

func (b batches) addRoutes(h *hertz.Hertz) {
	h.NoRoute(func(_ context.Context, c *app.RequestContext) { b.writeError(c, ingest.NotFound()) })
	h.NoMethod(func(_ context.Context, c *app.RequestContext) {
		method := consts.MethodGet
		if string(c.Path()) == "/" {
			method = consts.MethodPost
		}
		c.Header("Allow", method) // hertz does not set it
		b.writeError(c, ingest.NotAllowed())
	})
	h.POST("/", func(ctx context.Context, c *app.RequestContext) {
		b.Receipts.Request()
		receipt, err := b.acceptBatch(ctx, c)
		if err != nil {
			b.writeError(c, err)
			return
		}
		c.JSON(consts.StatusOK, receipt)
	})
	h.GET("/health", func(_ context.Context, c *app.RequestContext) {
		b.Receipts.Request()
		c.String(consts.StatusOK, "ok\n")
	})
	h.GET("/metrics", func(_ context.Context, c *app.RequestContext) {
		b.Receipts.Request()
		c.Data(consts.StatusOK, "text/plain; version=0.0.4", b.Ingest.Metrics())
	})
	h.GET("/openapi.json", func(_ context.Context, c *app.RequestContext) {
		b.Receipts.Request()
		c.Data(consts.StatusOK, consts.MIMEApplicationJSON, ingest.OpenAPI())
	})
}

// acceptBatch passes a batch to the service. Admit checks headers before the body is decoded. Accept checks
// and stores the events. The receipt is the response.
func (b batches) acceptBatch(ctx context.Context, c *app.RequestContext) (ingest.Receipt, error) {
	body := c.Request.Body()
	b.Receipts.Body(int64(len(body)))
	head := ingest.Head{
		Authorization:   string(c.GetHeader("Authorization")),
		ContentType:     string(c.ContentType()),
		ContentEncoding: string(c.GetHeader("Content-Encoding")),
		Length:          int64(len(body)),
		Traceparent:     string(c.GetHeader("traceparent")),
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
	return b.Ingest.Accept(ctx, head, batch)
}

func (b batches) writeError(c *app.RequestContext, err error) {
	r := b.Ingest.RefusalOf(err)
	switch r.Status {
	case consts.StatusUnauthorized:
		c.Header("WWW-Authenticate", "Bearer")
	case consts.StatusServiceUnavailable:
		c.Header("Retry-After", "1")
	}
	c.AbortWithStatusJSON(r.Status, r)
}
