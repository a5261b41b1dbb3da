package main

import (
	"github.com/kataras/iris/v12"
	"github.com/kataras/iris/v12/middleware/cors"

	"github.com/tarebench/tare/apps/homelab"
)

// Methods of homelabServer configure iris's middleware for app homelab, or replace it.

// setRequestID returns the id for iris's middleware and sets it in the response.
func (h homelabServer) setRequestID(c iris.Context) string {
	id := h.app.RequestID(c.GetHeader("X-Request-Id"))
	c.Header("X-Request-Id", id)
	return id
}

// newCORS changes iris's middleware for CORS. Requests from unknown origins pass without headers of CORS; iris
// would reject them. Of OPTIONS, only preflights are answered; iris would answer all.
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

// isPreflight reports whether a browser asks if a page may send a request.
func isPreflight(c iris.Context) bool {
	return c.Method() == iris.MethodOptions && c.GetHeader("Origin") != "" && c.GetHeader("Access-Control-Request-Method") != ""
}

// limitRate takes a token of the client's rate limit, and rejects the request if none is left. iris's
// middleware does not send the remaining requests.
func (h homelabServer) limitRate(c iris.Context) {
	headers, ok := h.app.Take(c.RemoteAddr()) // no header is trusted
	for _, header := range headers {
		c.Header(header[0], header[1])
	}
	if !ok {
		h.writeError(c, homelab.TooMany())
		return
	}
	c.Next()
}
