package main

import (
	"encoding/json"
	"net/url"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// house serves app homelab, the API of a house with devices.
type house struct {
	*homelab.House                  // the logic of the app
	receipts       *server.Receipts // counts requests, bytes and calls of middleware; tare compares them with what it sent
}

func serveHomelab(o server.Options, s *homelab.House) (server.Server, error) {
	h := house{s, o.Receipts}
	r := newRouter()
	r.NotFound = func(c *fasthttp.RequestCtx) { h.writeError(c, homelab.NotFound()) }
	r.MethodNotAllowed = func(c *fasthttp.RequestCtx) { h.writeError(c, homelab.NotAllowed()) }
	h.addRoutes(r)
	handler := r.Handler // the innermost handler
	if h.Limited() {
		handler = h.countCalls(h.limitRate(handler))
	}
	if h.CORS() {
		handler = h.countCalls(h.addCORS(handler))
	}
	handler = h.countCalls(h.recoverPanic(handler))
	handler = addLog(handler, o)
	handler = h.countCalls(h.setRequestID(handler))
	return newBodyServer(handler, o, homelab.MaxCommand, h.writeUnread), nil
}

func (h house) addRoutes(r *router.Router) {
	r.GET("/health", h.newPage("text/plain", func() []byte { return []byte("ok\n") }))
	r.GET("/metrics", h.newPage("text/plain; version=0.0.4", h.Metrics))
	r.GET("/openapi.json", h.newPage("application/json", homelab.OpenAPI))
	api := r.Group("/api/v1")
	api.GET("/", h.newJSONHandler(func(*fasthttp.RequestCtx) (any, error) { return h.Info(), nil }))
	api.GET("/services", h.newJSONHandler(func(*fasthttp.RequestCtx) (any, error) { return map[string]any{"services": h.Services("")}, nil }))
	api.GET("/cluster/services", h.newJSONHandler(func(c *fasthttp.RequestCtx) (any, error) {
		return map[string]any{"services": h.Services(string(c.QueryArgs().Peek("name")))}, nil
	}))
	api.GET("/devices", h.newJSONHandler(func(*fasthttp.RequestCtx) (any, error) { return map[string]any{"devices": h.Devices()}, nil }))
	api.GET("/devices/{id}", h.newJSONHandler(func(c *fasthttp.RequestCtx) (any, error) { return h.Device(decodeID(c)) }))
	api.POST("/homeassistant/devices/{id}/command", h.newJSONHandler(h.runCommand))
}

// decodeID returns the id in the path without percent escapes, which the router does not decode. An invalid
// escape stays: no device has such an id.
func decodeID(c *fasthttp.RequestCtx) string {
	escaped := c.UserValue("id").(string)
	if id, err := url.PathUnescape(escaped); err == nil {
		return id
	}
	return escaped
}

// newPage returns a handler that sends a page of a content type.
func (h house) newPage(kind string, body func() []byte) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		h.receipts.Request()
		h.Served(fasthttp.StatusOK)
		writeBody(c, kind, body())
	}
}

// newJSONHandler returns a handler that sends the result of answer as JSON, or its error.
func (h house) newJSONHandler(answer func(c *fasthttp.RequestCtx) (any, error)) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		h.receipts.Request()
		v, err := answer(c)
		if err != nil {
			h.writeError(c, err)
			return
		}
		h.Served(fasthttp.StatusOK)
		sendJSON(c, fasthttp.StatusOK, v)
	}
}

// runCommand reads a command, runs it and returns the outcome.
func (h house) runCommand(c *fasthttp.RequestCtx) (any, error) {
	body := c.PostBody()
	h.receipts.Body(int64(len(body)))
	if err := h.Admit(string(c.Request.Header.ContentType()), string(c.Request.Header.Peek("Origin")), string(c.Host())); err != nil {
		return nil, err
	}
	var command homelab.Command
	if err := json.Unmarshal(body, &command); err != nil {
		return nil, homelab.Malformed(err)
	}
	return h.Command(decodeID(c), command)
}

func (h house) writeError(c *fasthttp.RequestCtx, err error) {
	r := h.RefusalOf(err)
	if r.Code == "read_only" {
		c.Response.Header.Set("Allow", fasthttp.MethodGet)
	}
	h.Served(r.Status)
	sendJSON(c, r.Status, r)
}

// writeUnread sends the error response for a request that could not be read. No middleware was called.
func (h house) writeUnread(c *fasthttp.RequestCtx, status int, err error) {
	if status == fasthttp.StatusRequestEntityTooLarge {
		err = homelab.TooLarge()
	} else {
		err = &homelab.Refusal{Status: status, Code: "malformed", Message: "the request cannot be read"}
	}
	h.setRequestID(func(c *fasthttp.RequestCtx) { h.writeError(c, err) })(c)
}
