package main

import (
	"net"

	"github.com/labstack/echo/v5"

	"github.com/tarebench/tare/apps/homelab"
)

// fixRequestID replaces a client's id that is too long or has invalid bytes: echo accepts any.
func (h house) fixRequestID(c *echo.Context, id string) {
	if sound := h.RequestID(id); sound != id {
		c.Response().Header().Set(echo.HeaderXRequestID, sound)
	}
}

func (h house) allowOrigin(_ *echo.Context, origin string) (string, bool, error) {
	value := h.Allow(origin)
	return value, value != "", nil
}

// limitRate is not echo's own, which does not send clients what is left of their limit.
func (h house) limitRate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		client, _, _ := net.SplitHostPort(c.Request().RemoteAddr)
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
