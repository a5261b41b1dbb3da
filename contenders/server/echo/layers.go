package main

import (
	"net"

	"github.com/labstack/echo/v5"

	"github.com/tarebench/tare/apps/homelab"
)

// soundID replaces an id that a client made up beyond measure: echo takes any.
func (h house) soundID(c *echo.Context, id string) {
	if sound := h.RequestID(id); sound != id {
		c.Response().Header().Set(echo.HeaderXRequestID, sound)
	}
}

func (h house) allowed(_ *echo.Context, origin string) (string, bool, error) {
	value := h.Allow(origin)
	return value, value != "", nil
}

// limit is the house's own: echo's tells clients nothing of what is left to them.
func (h house) limit(next echo.HandlerFunc) echo.HandlerFunc {
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
