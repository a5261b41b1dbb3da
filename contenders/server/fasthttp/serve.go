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

// addLog returns a handler that writes a line for each request to the log of the options, or next if they have
// none.
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

// defaultBody limits the bytes of a body for apps without bodies: the server allocates all of them at once.
const defaultBody = 4 << 10

// newServer returns a server for an app without bodies.
func newServer(handler fasthttp.RequestHandler, o server.Options) server.Server {
	return newFast(&fasthttp.Server{
		Handler:            handler,
		ReadTimeout:        server.ReadTimeout,
		IdleTimeout:        server.IdleTimeout,
		MaxRequestBodySize: defaultBody,
	}, o)
}

// newFast returns s with its buffers configured. Without a lab it accepts heads of server.MaxHead bytes;
// fasthttp's default is 4 KiB. It then allocates a buffer only while a request arrives, because buffers for all
// connections would take 128 MiB.
func newFast(s *fasthttp.Server, o server.Options) server.Server {
	if o.Ops != nil {
		s.ReadBufferSize, s.ReduceMemoryUsage = server.MaxHead+1<<10, true
	}
	return fastServer{s}
}

// newBodyServer returns a server for an app with bodies of up to limit bytes. It calls refuse instead of handler
// for a request that it cannot read, with the status of the error response.
func newBodyServer(handler fasthttp.RequestHandler, o server.Options, limit int64, refuse func(c *fasthttp.RequestCtx, status int, err error)) server.Server {
	unread := func(c *fasthttp.RequestCtx, err error) {
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
		refuse(c, status, err)
	}
	return newFast(&fasthttp.Server{
		Handler:                      handler,
		ReadTimeout:                  server.ReadTimeout,
		IdleTimeout:                  server.IdleTimeout,
		MaxRequestBodySize:           int(limit),
		DisablePreParseMultipartForm: true, // do not parse a form before its content type is rejected
		ErrorHandler:                 unread,
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
