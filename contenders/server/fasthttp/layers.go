package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/valyala/fasthttp"

	"github.com/tarebench/tare/apps/homelab"
)

// fasthttp brings no middleware: these are the house's own.

// countCalls returns layer with a count of its calls.
func (h house) countCalls(layer fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		h.receipts.Layer()
		layer(c)
	}
}

func (h house) requestID(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		c.Response.Header.Set("X-Request-Id", h.RequestID(string(c.Request.Header.Peek("X-Request-Id"))))
		next(c)
	}
}

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

func (h house) addCORS(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		asked, answer := &c.Request.Header, &c.Response.Header
		answer.Set("Vary", "Origin")
		allowed := h.Allow(string(asked.Peek("Origin")))
		if allowed != "" {
			answer.Set("Access-Control-Allow-Origin", allowed)
		}
		if !c.IsOptions() || len(asked.Peek("Origin")) == 0 || len(asked.Peek("Access-Control-Request-Method")) == 0 {
			next(c)
			return
		}
		if allowed != "" {
			answer.Set("Access-Control-Allow-Methods", "GET, POST")
			answer.Set("Access-Control-Allow-Headers", "Content-Type")
		}
		h.Served(fasthttp.StatusNoContent)
		c.SetStatusCode(fasthttp.StatusNoContent)
	}
}

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
