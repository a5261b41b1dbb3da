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

// addLog writes a line for each request if the options have a log.
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
	r.HandleOPTIONS = false                                     // 405 where it would be 200
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false // 404 where it would be 301
	return r
}

type fast struct{ server *fasthttp.Server }

// defaultBody limits the bytes of a body of apps without bodies: the server allocates all of them at once.
const defaultBody = 4 << 10

func newServer(handler fasthttp.RequestHandler, o server.Options) server.Server {
	return newFast(&fasthttp.Server{Handler: handler, ReadTimeout: server.ReadTimeout, IdleTimeout: server.IdleTimeout, MaxRequestBodySize: defaultBody}, o)
}

// newFast accepts heads of server.MaxHead bytes without a lab; fasthttp's default is 4 KiB. The buffers are
// then those of requests that arrive, as those of all connections would be 128 MiB.
func newFast(s *fasthttp.Server, o server.Options) server.Server {
	if o.Ops != nil {
		s.ReadBufferSize, s.ReduceMemoryUsage = server.MaxHead+1<<10, true
	}
	return fast{s}
}

// newBodyServer is newServer for apps with bodies of up to limit bytes. Requests that cannot be read are
// rejected before any handler is called: refuse gets the status.
func newBodyServer(handler fasthttp.RequestHandler, o server.Options, limit int64, refuse func(c *fasthttp.RequestCtx, status int, err error)) server.Server {
	unread := func(c *fasthttp.RequestCtx, err error) {
		var slow interface{ Timeout() bool }
		var small *fasthttp.ErrSmallBuffer
		status := fasthttp.StatusBadRequest
		switch {
		case errors.Is(err, fasthttp.ErrBodyTooLarge):
			status = fasthttp.StatusRequestEntityTooLarge
		case errors.As(err, &slow) && slow.Timeout():
			status = fasthttp.StatusRequestTimeout
		case errors.As(err, &small):
			status = fasthttp.StatusRequestHeaderFieldsTooLarge
		}
		refuse(c, status, err)
	}
	return newFast(&fasthttp.Server{
		Handler: handler, ReadTimeout: server.ReadTimeout, IdleTimeout: server.IdleTimeout,
		MaxRequestBodySize:           int(limit),
		DisablePreParseMultipartForm: true, // a form is not looked into before its type is refused
		ErrorHandler:                 unread,
	}, o)
}

func (f fast) Serve(l net.Listener) error { return f.server.Serve(l) }

func (f fast) Shutdown(ctx context.Context) error { return f.server.ShutdownWithContext(ctx) }

// writeBody answers with an encoded body.
func writeBody(c *fasthttp.RequestCtx, kind string, body []byte) {
	c.SetContentType(kind)
	c.SetBody(body)
}

// sendJSON answers with v as JSON.
func sendJSON(c *fasthttp.RequestCtx, status int, v any) {
	c.SetStatusCode(status)
	c.SetContentType("application/json")
	_ = json.NewEncoder(c).Encode(v) // into memory
}
