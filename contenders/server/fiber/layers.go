package main

import (
	"github.com/gofiber/fiber/v3"

	"github.com/tarebench/tare/apps/homelab"
)

// soundID takes an id away that a client made up beyond measure, before own
// would take it: fiber looks at its characters only.
func (h *house) soundID(own fiber.Handler) fiber.Handler {
	return func(c fiber.Ctx) error {
		if given := c.Get(fiber.HeaderXRequestID); given != "" && h.RequestID(given) != given {
			c.Request().Header.Del(fiber.HeaderXRequestID)
		}
		return own(c)
	}
}

// limitRate is the house's own: fiber's counts requests in windows and has no
// buckets of tokens.
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
