package main

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/tarebench/tare/apps/homelab"
)

// Middleware of app homelab. The access log and recovery are gin's, which has no other that the app needs.

// addLayer adds a middleware and counts its calls.
func (h homelabServer) addLayer(r *gin.Engine, layer gin.HandlerFunc) {
	r.Use(func(c *gin.Context) {
		h.receipts.Layer()
		layer(c)
	})
}

func (h homelabServer) setRequestID(c *gin.Context) {
	c.Header("X-Request-Id", h.app.RequestID(c.GetHeader("X-Request-Id")))
}

// addCORS responds to preflights, OPTIONS of browsers.
func (h homelabServer) addCORS(c *gin.Context) {
	c.Header("Vary", "Origin")
	allowed := h.app.Allow(c.GetHeader("Origin"))
	if allowed != "" {
		c.Header("Access-Control-Allow-Origin", allowed)
	}
	isPreflight := c.Request.Method == http.MethodOptions && c.GetHeader("Origin") != "" && c.GetHeader("Access-Control-Request-Method") != ""
	if !isPreflight {
		return
	}
	if allowed != "" {
		c.Header("Access-Control-Allow-Methods", "GET, POST")
		c.Header("Access-Control-Allow-Headers", "Content-Type")
	}
	h.app.Served(http.StatusNoContent)
	c.AbortWithStatus(http.StatusNoContent)
}

// limitRate takes a token of the client's rate limit, and rejects the request if none is left.
func (h homelabServer) limitRate(c *gin.Context) {
	headers, ok := h.app.Take(c.RemoteIP())
	for _, header := range headers {
		c.Header(header[0], header[1])
	}
	if !ok {
		h.writeError(c, homelab.TooMany())
	}
}
