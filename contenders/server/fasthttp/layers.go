package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/valyala/fasthttp"

	"github.com/tarebench/tare/apps/homelab"
)

// fasthttp brings no middleware: these are the house's own.

// counted is layer, with its calls counted.
func (h house) counted(layer fasthttp.RequestHandler) fasthttp.RequestHandler {
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

func (h house) recovery(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		defer func() {
			if cause := recover(); cause != nil {
				fmt.Fprintf(os.Stderr, "panic: %v\n%s", cause, debug.Stack())
				h.refuse(c, fmt.Errorf("panic: %v", cause))
			}
		}()
		next(c)
	}
}

func (h house) cors(next fasthttp.RequestHandler) fasthttp.RequestHandler {
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

func (h house) limit(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		headers, ok := h.Take(c.RemoteIP().String())
		for _, header := range headers {
			c.Response.Header.Set(header[0], header[1])
		}
		if !ok {
			h.refuse(c, homelab.TooMany())
			return
		}
		next(c)
	}
}
