package main

import (
	"fmt"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// homelabServer serves app homelab, the API of a house with devices. It translates between HTTP and app, which
// decides what to answer.
type homelabServer struct {
	app      *homelab.House   // the logic of the app
	receipts *server.Receipts // counts requests, bytes and calls of middleware; tare compares them with what it sent
}

func serveHomelab(o server.Options, s *homelab.House) (server.Server, error) {
	r, err := newEngine(o)
	if err != nil {
		return nil, err
	}
	h := homelabServer{s, o.Receipts}
	// The middleware for request ids must precede that of newEngine.
	handlers := r.Handlers
	r.Handlers = nil
	h.addLayer(r, h.setRequestID)
	r.Use(handlers...)
	hasRecovery := o.Variant == "default" || o.Variant == "default-discard" // gin.Default includes recovery from panics
	if !hasRecovery {
		h.addLayer(r, gin.CustomRecovery(func(c *gin.Context, cause any) { h.writeError(c, fmt.Errorf("panic: %v", cause)) }))
	}
	if h.app.CORS() {
		h.addLayer(r, h.addCORS)
	}
	if h.app.Limited() {
		h.addLayer(r, h.limitRate)
	}
	r.NoRoute(func(c *gin.Context) { h.writeError(c, homelab.NotFound()) })
	r.NoMethod(func(c *gin.Context) { h.writeError(c, homelab.NotAllowed()) })
	h.addRoutes(r)
	return server.HTTPBodies(r), nil
}

func (h homelabServer) addRoutes(r *gin.Engine) {
	r.GET("/health", h.newPage("text/plain", func() []byte { return []byte("ok\n") }))
	r.GET("/metrics", h.newPage("text/plain; version=0.0.4", h.app.Metrics))
	r.GET("/openapi.json", h.newPage(gin.MIMEJSON, homelab.OpenAPI))
	api := r.Group("/api/v1")
	api.GET("/", h.newJSONHandler(func(*gin.Context) (any, error) { return h.app.Info(), nil }))
	api.GET("/services", h.newJSONHandler(func(*gin.Context) (any, error) { return gin.H{"services": h.app.Services("")}, nil }))
	api.GET("/cluster/services", h.newJSONHandler(func(c *gin.Context) (any, error) { return gin.H{"services": h.app.Services(c.Query("name"))}, nil }))
	api.GET("/devices", h.newJSONHandler(func(*gin.Context) (any, error) { return gin.H{"devices": h.app.Devices()}, nil }))
	api.GET("/devices/:id", h.newJSONHandler(func(c *gin.Context) (any, error) { return h.app.Device(c.Param("id")) }))
	api.POST("/homeassistant/devices/:id/command", h.newJSONHandler(h.runCommand))
}

// newPage returns a handler that sends a page of a content type. In all handlers, Request counts the request,
// which tare compares with those it sent. Served counts the response in the app's metrics.
func (h homelabServer) newPage(kind string, body func() []byte) gin.HandlerFunc {
	return func(c *gin.Context) {
		h.receipts.Request()
		h.app.Served(http.StatusOK)
		c.Data(http.StatusOK, kind, body())
	}
}

// newJSONHandler returns a handler that sends the result of answer as JSON, or its error.
func (h homelabServer) newJSONHandler(answer func(c *gin.Context) (any, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		h.receipts.Request()
		v, err := answer(c)
		if err != nil {
			h.writeError(c, err)
			return
		}
		h.app.Served(http.StatusOK)
		writeJSON(c, v)
	}
}

// runCommand reads a command to a device, runs it and returns the outcome. Admit checks content type and origin.
func (h homelabServer) runCommand(c *gin.Context) (any, error) {
	if err := h.app.Admit(c.ContentType(), c.GetHeader("Origin"), c.Request.Host); err != nil {
		return nil, err
	}
	sent := &meter{Reader: http.MaxBytesReader(c.Writer, c.Request.Body, homelab.MaxCommand)}
	c.Request.Body = io.NopCloser(sent)
	var command homelab.Command
	err := c.ShouldBindJSON(&command)
	if err == nil { // gin's decoder stops after the first value
		_, err = io.Copy(io.Discard, sent)
	}
	h.receipts.Body(sent.n)
	switch {
	case sent.isTooLong():
		return nil, homelab.TooLarge()
	case err != nil:
		return nil, homelab.Malformed(err)
	}
	return h.app.Command(c.Param("id"), command)
}

func (h homelabServer) writeError(c *gin.Context, err error) {
	r := h.app.RefusalOf(err)
	if r.Code == "read_only" {
		c.Header("Allow", http.MethodGet)
	}
	h.app.Served(r.Status)
	c.AbortWithStatusJSON(r.Status, r)
}
