package main

import (
	"errors"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/codec/json"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
)

// batches serves app ingest, which receives batches of events. It uses the JSON library of gin's build.
type batches struct {
	server.Options                 // its Receipts count requests, bytes and calls of middleware
	Ingest         *ingest.Service // the logic of the app
}

func serveIngest(o server.Options, s *ingest.Service) (server.Server, error) {
	r, err := newEngine(o)
	if err != nil {
		return nil, err
	}
	b := batches{o, s}
	r.NoRoute(func(c *gin.Context) { b.writeError(c, ingest.NotFound()) })
	r.NoMethod(func(c *gin.Context) { b.writeError(c, ingest.NotAllowed()) })
	r.POST("/", func(c *gin.Context) {
		o.Receipts.Request()
		receipt, err := b.acceptBatch(c)
		if err != nil {
			b.writeError(c, err)
			return
		}
		c.JSON(http.StatusOK, receipt)
	})
	r.GET("/health", func(c *gin.Context) {
		o.Receipts.Request()
		c.String(http.StatusOK, "ok\n")
	})
	r.GET("/metrics", func(c *gin.Context) {
		o.Receipts.Request()
		c.Data(http.StatusOK, "text/plain; version=0.0.4", s.Metrics())
	})
	r.GET("/openapi.json", func(c *gin.Context) {
		o.Receipts.Request()
		c.Data(http.StatusOK, gin.MIMEJSON, ingest.OpenAPI())
	})
	return server.HTTPBodies(r), nil
}

// acceptBatch passes a batch to the service. Admit checks headers before the body is decoded. Accept checks
// and stores the events. The receipt is the response.
func (b batches) acceptBatch(c *gin.Context) (ingest.Receipt, error) {
	head := ingest.Head{
		Authorization:   c.GetHeader("Authorization"),
		ContentType:     c.GetHeader("Content-Type"),
		ContentEncoding: c.GetHeader("Content-Encoding"),
		Length:          c.Request.ContentLength,
		Traceparent:     c.GetHeader("traceparent"),
	}
	if _, err := b.Ingest.Admit(head); err != nil {
		return ingest.Receipt{}, err
	}
	sent := &meter{Reader: c.Request.Body}
	body := b.Ingest.Body(head, sent)
	defer body.Close()
	c.Request.Body = body
	batch := b.Ingest.Batch(json.API.Marshal)
	err := c.ShouldBindJSON(batch.Target())
	if err == nil { // gin's decoder stops after the first value
		_, err = io.Copy(io.Discard, body)
	}
	b.Receipts.Body(sent.n)
	if err != nil {
		return ingest.Receipt{}, body.Refusal(err)
	}
	return b.Ingest.Accept(c.Request.Context(), head, batch)
}

func (b batches) writeError(c *gin.Context, err error) {
	r := b.Ingest.RefusalOf(err)
	switch r.Status {
	case http.StatusUnauthorized:
		c.Header("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		c.Header("Retry-After", "1")
	}
	c.AbortWithStatusJSON(r.Status, r)
}

// meter counts the bytes of a body as sent.
type meter struct {
	io.Reader
	n   int64 // number of bytes
	err error // error of the last Read
}

// Read implements [io.Reader].
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.n += int64(n)
	m.err = err
	return n, err
}

// isTooLong reports whether the body exceeds the limit of an [http.MaxBytesReader].
func (m *meter) isTooLong() bool {
	var tooLong *http.MaxBytesError
	return errors.As(m.err, &tooLong)
}
