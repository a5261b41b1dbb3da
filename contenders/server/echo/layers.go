package main

import (
	"net"

	"github.com/labstack/echo/v5"

	"github.com/tarebench/tare/apps/homelab"
)

// Methods of house adapt echo's middleware to app homelab, or replace it.

// fixRequestID replaces an invalid id of a client by a new one. echo accepts any id.
func (h house) fixRequestID(c *echo.Context, id string) {
	if validID := h.RequestID(id); validID != id {
		c.Response().Header().Set(echo.HeaderXRequestID, validID)
	}
}

// allowOrigin returns the value of Access-Control-Allow-Origin, and whether origin is allowed.
func (h house) allowOrigin(_ *echo.Context, origin string) (string, bool, error) {
	value := h.Allow(origin)
	return value, value != "", nil
}

// limitRate takes a token of the client's rate limit, and rejects the request if none is left. echo's
// middleware does not send the remaining requests.
func (h house) limitRate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		client, _, _ := net.SplitHostPort(c.Request().RemoteAddr) // no header is trusted
		headers, ok := h.Take(client)
		for _, header := range headers {
			c.Response().Header().Set(header[0], header[1])
		}
		if !ok {
			return homelab.TooMany()
		}
		return next(c)
	}
}
