package main

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/tarebench/tare/apps/homelab"
)

// addLayer adds a middleware that counts its calls. Of those that the app needs, only the access log and
// recovery are in gin's own module.
func (h house) addLayer(r *gin.Engine, layer gin.HandlerFunc) {
	r.Use(func(c *gin.Context) {
		h.receipts.Layer()
		layer(c)
	})
}

func (h house) requestID(c *gin.Context) {
	c.Header("X-Request-Id", h.RequestID(c.GetHeader("X-Request-Id")))
}

func (h house) addCORS(c *gin.Context) {
	c.Header("Vary", "Origin")
	allowed := h.Allow(c.GetHeader("Origin"))
	if allowed != "" {
		c.Header("Access-Control-Allow-Origin", allowed)
	}
	if c.Request.Method != http.MethodOptions || c.GetHeader("Origin") == "" || c.GetHeader("Access-Control-Request-Method") == "" {
		return
	}
	if allowed != "" {
		c.Header("Access-Control-Allow-Methods", "GET, POST")
		c.Header("Access-Control-Allow-Headers", "Content-Type")
	}
	h.Served(http.StatusNoContent)
	c.AbortWithStatus(http.StatusNoContent)
}

func (h house) limitRate(c *gin.Context) {
	headers, ok := h.Take(c.RemoteIP())
	for _, header := range headers {
		c.Header(header[0], header[1])
	}
	if !ok {
		h.writeError(c, homelab.TooMany())
	}
}
