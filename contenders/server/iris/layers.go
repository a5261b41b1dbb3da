package main

import (
	"github.com/kataras/iris/v12"
	"github.com/kataras/iris/v12/middleware/cors"

	"github.com/tarebench/tare/apps/homelab"
)

// The methods of homelabServer below configure iris's middleware for app homelab, or replace it.

// setRequestID returns the id of the request for iris's middleware, and sets it in the response.
func (h homelabServer) setRequestID(c iris.Context) string {
	id := h.app.RequestID(c.GetHeader("X-Request-Id"))
	c.Header("X-Request-Id", id)
	return id
}

// newCORS returns iris's middleware for CORS with two changes. iris would reject requests from
// unknown origins: newCORS passes them to the next handler, without the headers of CORS. iris would
// respond to all OPTIONS: with newCORS it responds only to preflights.
func (h homelabServer) newCORS() iris.Handler {
	irisCORS := cors.New().DisallowCredentials().
		AllowOriginFunc(func(_ iris.Context, origin string) bool { return h.app.Allow(origin) != "" }).
		HandleErrorFunc(func(c iris.Context, _ error) {
			if isPreflight(c) {
				h.app.Served(iris.StatusNoContent)
				c.StatusCode(iris.StatusNoContent)
				return
			}
			c.Next()
		}).Handler()
	return func(c iris.Context) {
		if c.Method() == iris.MethodOptions && !isPreflight(c) {
			c.Next()
			return
		}
		irisCORS(c)
		if isPreflight(c) && h.app.Allow(c.GetHeader("Origin")) != "" {
			c.ResponseWriter().Header().Set("Access-Control-Allow-Methods", "GET, POST") // iris sets *
		}
	}
}

// isPreflight reports whether a browser asks by the request whether a page may send another request.
func isPreflight(c iris.Context) bool {
	return c.Method() == iris.MethodOptions && c.GetHeader("Origin") != "" && c.GetHeader("Access-Control-Request-Method") != ""
}

// limitRate takes a token from the rate limit of the client, and rejects the request if no token is
// left. iris's middleware is not used because it does not send clients their remaining requests.
func (h homelabServer) limitRate(c iris.Context) {
	headers, ok := h.app.Take(c.RemoteAddr()) // the address of the connection, since no header is trusted
	for _, header := range headers {
		c.Header(header[0], header[1])
	}
	if !ok {
		h.writeError(c, homelab.TooMany())
		return
	}
	c.Next()
}
