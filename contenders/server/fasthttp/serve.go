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

// addLog returns a handler that calls next and then logs a line about the request. It returns next if the options
// have no log.
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

// defaultBody limits the body of a request, in bytes, in apps without bodies. The server allocates as many at once.
const defaultBody = 4 << 10

// newServer returns a server for an app without bodies.
func newServer(handler fasthttp.RequestHandler, o server.Options) server.Server {
	return setBuffers(&fasthttp.Server{
		Handler:            handler,
		ReadTimeout:        server.ReadTimeout,
		IdleTimeout:        server.IdleTimeout,
		MaxRequestBodySize: defaultBody,
	}, o)
}

// setBuffers sets the buffers of s. A standalone service, which has o.Ops, accepts heads of server.MaxHead
// bytes; the default is 4 KiB. Buffers for all connections would take 128 MiB, so it allocates one when a
// request arrives.
func setBuffers(s *fasthttp.Server, o server.Options) server.Server {
	if o.Ops != nil {
		s.ReadBufferSize, s.ReduceMemoryUsage = server.MaxHead+1<<10, true // the margin is 1 KiB
	}
	return fastServer{s}
}

// newBodyServer returns a server for an app with bodies of up to limit bytes. For a request that cannot be read
// it calls writeUnread instead of handler, with the status of the error response.
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
