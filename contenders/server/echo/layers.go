package main

import (
	"net"

	"github.com/labstack/echo/v5"

	"github.com/tarebench/tare/apps/homelab"
)

// The functions of house below adapt echo's middleware to app homelab, or replace it.

// fixRequestID replaces an invalid request id of a client, in the response, with a new id. echo
// accepts any id.
func (h house) fixRequestID(c *echo.Context, id string) {
	if validID := h.RequestID(id); validID != id {
		c.Response().Header().Set(echo.HeaderXRequestID, validID)
	}
}

// allowOrigin returns the value of Access-Control-Allow-Origin for an origin, and whether it is allowed.
func (h house) allowOrigin(_ *echo.Context, origin string) (string, bool, error) {
	value := h.Allow(origin)
	return value, value != "", nil
}

// limitRate takes a token from the rate limit of the client, and rejects the request if no token is
// left. echo's middleware is not used because it does not send clients their remaining requests.
func (h house) limitRate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		client, _, _ := net.SplitHostPort(c.Request().RemoteAddr) // the address of the connection, since no header is trusted
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
