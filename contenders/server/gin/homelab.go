package main

import (
	"fmt"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// house serves app homelab.
type house struct {
	*homelab.House
	receipts *server.Receipts
}

func serveHomelab(o server.Options, s *homelab.House) (server.Server, error) {
	r, err := engine(o)
	if err != nil {
		return nil, err
	}
	h := house{s, o.Receipts}
	log := r.Handlers
	r.Handlers = nil
	h.use(r, h.requestID)
	r.Use(log...)
	if o.Variant != "default" && o.Variant != "default-discard" { // which have gin's own recovery already
		h.use(r, gin.CustomRecovery(func(c *gin.Context, cause any) { h.refuse(c, fmt.Errorf("panic: %v", cause)) }))
	}
	if h.CORS() {
		h.use(r, h.cors)
	}
	if h.Limited() {
		h.use(r, h.limit)
	}
	r.NoRoute(func(c *gin.Context) { h.refuse(c, homelab.NotFound()) })
	r.NoMethod(func(c *gin.Context) { h.refuse(c, homelab.NotAllowed()) })
	h.routes(r)
	return server.HTTPBodies(r), nil
}

func (h house) routes(r *gin.Engine) {
	r.GET("/health", h.data("text/plain", func() []byte { return []byte("ok\n") }))
	r.GET("/metrics", h.data("text/plain; version=0.0.4", h.Metrics))
	r.GET("/openapi.json", h.data(gin.MIMEJSON, homelab.OpenAPI))
	api := r.Group("/api/v1")
	api.GET("/", h.json(func(*gin.Context) (any, error) { return h.Info(), nil }))
	api.GET("/services", h.json(func(*gin.Context) (any, error) { return gin.H{"services": h.Services("")}, nil }))
	api.GET("/cluster/services", h.json(func(c *gin.Context) (any, error) { return gin.H{"services": h.Services(c.Query("name"))}, nil }))
	api.GET("/devices", h.json(func(*gin.Context) (any, error) { return gin.H{"devices": h.Devices()}, nil }))
	api.GET("/devices/:id", h.json(func(c *gin.Context) (any, error) { return h.Device(c.Param("id")) }))
	api.POST("/homeassistant/devices/:id/command", h.json(h.command))
}

func (h house) data(kind string, body func() []byte) gin.HandlerFunc {
	return func(c *gin.Context) {
		h.receipts.Request()
		h.Served(http.StatusOK)
		c.Data(http.StatusOK, kind, body())
	}
}

func (h house) json(answer func(c *gin.Context) (any, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		h.receipts.Request()
		v, err := answer(c)
		if err != nil {
			h.refuse(c, err)
			return
		}
		h.Served(http.StatusOK)
		answerJSON(c, v)
	}
}

func (h house) command(c *gin.Context) (any, error) {
	if err := h.Admit(c.ContentType(), c.GetHeader("Origin"), c.Request.Host); err != nil {
		return nil, err
	}
	wire := &counted{Reader: http.MaxBytesReader(c.Writer, c.Request.Body, homelab.MaxCommand)}
	c.Request.Body = io.NopCloser(wire)
	var command homelab.Command
	err := c.ShouldBindJSON(&command)
	if err == nil { // gin's decoder stops behind the first value
		_, err = io.Copy(io.Discard, wire)
	}
	h.receipts.Body(wire.n)
	switch {
	case wire.tooLong():
		return nil, homelab.TooLarge()
	case err != nil:
		return nil, homelab.Malformed(err)
	}
	return h.Command(c.Param("id"), command)
}

func (h house) refuse(c *gin.Context, err error) {
	r := h.RefusalOf(err)
	if r.Code == "read_only" {
		c.Header("Allow", http.MethodGet)
	}
	h.Served(r.Status)
	c.AbortWithStatusJSON(r.Status, r)
}
