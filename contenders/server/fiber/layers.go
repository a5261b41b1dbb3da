package main

import (
	"github.com/gofiber/fiber/v3"

	"github.com/tarebench/tare/apps/homelab"
)

// Methods of house adapt fiber's middleware to app homelab, or replace it.

// dropInvalidID removes an invalid id before next, fiber's middleware for ids. fiber checks the characters of
// an id, but not its length.
func (h *house) dropInvalidID(next fiber.Handler) fiber.Handler {
	return func(c fiber.Ctx) error {
		if id := c.Get(fiber.HeaderXRequestID); id != "" && h.RequestID(id) != id {
			c.Request().Header.Del(fiber.HeaderXRequestID)
		}
		return next(c)
	}
}

// limitRate takes a token of the client's rate limit, and rejects the request if none is left. fiber's
// middleware counts requests in windows and has no tokens.
func (h *house) limitRate(c fiber.Ctx) error {
	headers, ok := h.Take(c.IP())
	for _, header := range headers {
		c.Set(header[0], header[1])
	}
	if !ok {
		return homelab.TooMany()
	}
	return c.Next()
}
