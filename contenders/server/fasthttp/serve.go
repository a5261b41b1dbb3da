package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"github.com/tarebench/tare/contender/server"
)

// addLog returns a handler that calls next and then writes a line about the request to the log of
// the options. It returns next if the options have no log.
func addLog(next fasthttp.RequestHandler, o server.Options) fasthttp.RequestHandler {
	if o.Log == nil {
		return next
	}
	line := server.Lines(o.Log)
	return func(c *fasthttp.RequestCtx) {
		o.Receipts.Layer()
		start := time.Now()
		next(c)
		line(string(c.Method()), string(c.Path()), c.Response.StatusCode(), time.Since(start))
	}
}

// newRouter returns a router without redirects.
func newRouter() *router.Router {
	r := router.New()
	r.HandleOPTIONS = false                                     // status 405 instead of 200
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false // status 404 instead of 301
	return r
}

// fastServer is a server of fasthttp.
type fastServer struct{ server *fasthttp.Server }

// defaultBody limits the bytes of a body if requests have none: the server allocates as many at once.
const defaultBody = 4 << 10

// newServer returns a server for an app whose requests have no bodies.
func newServer(handler fasthttp.RequestHandler, o server.Options) server.Server {
	return setBuffers(&fasthttp.Server{
		Handler:            handler,
		ReadTimeout:        server.ReadTimeout,
		IdleTimeout:        server.IdleTimeout,
		MaxRequestBodySize: defaultBody,
	}, o)
}

// setBuffers sets the sizes of buffers of s, and returns s as a [server.Server]. In a standalone
// service, which has o.Ops and is not measured, s accepts request heads of server.MaxHead bytes;
// fasthttp's default is 4 KiB. It then allocates a buffer only while a request arrives, because
// buffers for all connections would take 128 MiB.
func setBuffers(s *fasthttp.Server, o server.Options) server.Server {
	if o.Ops != nil {
		s.ReadBufferSize, s.ReduceMemoryUsage = server.MaxHead+1<<10, true // with a margin of 1 KiB
	}
	return fastServer{s}
}

// newBodyServer returns a server for an app with bodies of up to limit bytes. If the server cannot
// read a request, it calls writeUnread instead of handler, with the status of the error response.
func newBodyServer(handler fasthttp.RequestHandler, o server.Options, limit int64, writeUnread func(c *fasthttp.RequestCtx, status int, err error)) server.Server {
	handleError := func(c *fasthttp.RequestCtx, err error) {
		var timeout interface{ Timeout() bool }
		var headTooLong *fasthttp.ErrSmallBuffer
		status := fasthttp.StatusBadRequest
		switch {
		case errors.Is(err, fasthttp.ErrBodyTooLarge):
			status = fasthttp.StatusRequestEntityTooLarge
		case errors.As(err, &timeout) && timeout.Timeout():
			status = fasthttp.StatusRequestTimeout
		case errors.As(err, &headTooLong):
			status = fasthttp.StatusRequestHeaderFieldsTooLarge
		}
		writeUnread(c, status, err)
	}
	return setBuffers(&fasthttp.Server{
		Handler:                      handler,
		ReadTimeout:                  server.ReadTimeout,
		IdleTimeout:                  server.IdleTimeout,
		MaxRequestBodySize:           int(limit),
		DisablePreParseMultipartForm: true, // do not parse a form before its content type is rejected
		ErrorHandler:                 handleError,
	}, o)
}

// Serve implements [server.Server].
func (f fastServer) Serve(l net.Listener) error { return f.server.Serve(l) }

// Shutdown implements [server.Server].
func (f fastServer) Shutdown(ctx context.Context) error { return f.server.ShutdownWithContext(ctx) }

// writeBody sends a body of a content type.
func writeBody(c *fasthttp.RequestCtx, kind string, body []byte) {
	c.SetContentType(kind)
	c.SetBody(body)
}

// sendJSON sends v as JSON.
func sendJSON(c *fasthttp.RequestCtx, status int, v any) {
	c.SetStatusCode(status)
	c.SetContentType("application/json")
	_ = json.NewEncoder(c).Encode(v) // writing to memory cannot fail
}
