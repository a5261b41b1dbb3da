package main

import (
	"github.com/kataras/iris/v12"
	"github.com/kataras/iris/v12/middleware/cors"

	"github.com/tarebench/tare/apps/homelab"
)

// requestID is what iris's middleware asks for the id of a request.
func (h house) requestID(c iris.Context) string {
	id := h.RequestID(c.GetHeader("X-Request-Id"))
	c.Header("X-Request-Id", id)
	return id
}

// addCORS is iris's own, which would forbid origins it does not know and answer
// all OPTIONS by itself; here those requests go on without its headers.
func (h house) addCORS() iris.Handler {
	own := cors.New().DisallowCredentials().
		AllowOriginFunc(func(_ iris.Context, origin string) bool { return h.Allow(origin) != "" }).
		HandleErrorFunc(func(c iris.Context, _ error) {
			if isPreflight(c) {
				h.Served(iris.StatusNoContent)
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
		own(c)
		if isPreflight(c) && h.Allow(c.GetHeader("Origin")) != "" {
			c.ResponseWriter().Header().Set("Access-Control-Allow-Methods", "GET, POST") // where it says *
		}
	}
}

func isPreflight(c iris.Context) bool {
	return c.Method() == iris.MethodOptions && c.GetHeader("Origin") != "" && c.GetHeader("Access-Control-Request-Method") != ""
}

// limitRate is the house's own: iris's tells clients nothing of what is left to them.
func (h house) limitRate(c iris.Context) {
	headers, ok := h.Take(c.RemoteAddr()) // of the connection, as no header is trusted
	for _, header := range headers {
		c.Header(header[0], header[1])
	}
	if !ok {
		h.writeError(c, homelab.TooMany())
		return
	}
	c.Next()
}
