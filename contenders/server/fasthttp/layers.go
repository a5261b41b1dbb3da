package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/valyala/fasthttp"

	"github.com/tarebench/tare/apps/homelab"
)

// fasthttp has no middleware. This is the middleware of app homelab.

// countCalls returns a handler that calls layer and counts the calls.
func (h house) countCalls(layer fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		h.receipts.Layer()
		layer(c)
	}
}

func (h house) setRequestID(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		c.Response.Header.Set("X-Request-Id", h.RequestID(string(c.Request.Header.Peek("X-Request-Id"))))
		next(c)
	}
}

// recoverPanic logs a panic of next and sends an error.
func (h house) recoverPanic(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		defer func() {
			if cause := recover(); cause != nil {
				fmt.Fprintf(os.Stderr, "panic: %v\n%s", cause, debug.Stack())
				h.writeError(c, fmt.Errorf("panic: %v", cause))
			}
		}()
		next(c)
	}
}

// addCORS responds to preflights (OPTIONS of browsers) without calling next.
func (h house) addCORS(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		request, response := &c.Request.Header, &c.Response.Header
		response.Set("Vary", "Origin")
		allowed := h.Allow(string(request.Peek("Origin")))
		if allowed != "" {
			response.Set("Access-Control-Allow-Origin", allowed)
		}
		isPreflight := c.IsOptions() && len(request.Peek("Origin")) > 0 && len(request.Peek("Access-Control-Request-Method")) > 0
		if !isPreflight {
			next(c)
			return
		}
		if allowed != "" {
			response.Set("Access-Control-Allow-Methods", "GET, POST")
			response.Set("Access-Control-Allow-Headers", "Content-Type")
		}
		h.Served(fasthttp.StatusNoContent)
		c.SetStatusCode(fasthttp.StatusNoContent)
	}
}

// limitRate takes a token of the client's rate limit, and rejects the request if none is left.
func (h house) limitRate(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		headers, ok := h.Take(c.RemoteIP().String())
		for _, header := range headers {
			c.Response.Header.Set(header[0], header[1])
		}
		if !ok {
			h.writeError(c, homelab.TooMany())
			return
		}
		next(c)
	}
}
