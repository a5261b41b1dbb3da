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

// logged writes a line for each request, where a log is asked for.
func logged(next fasthttp.RequestHandler, o server.Options) fasthttp.RequestHandler {
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

// newRouter is a router that redirects nobody.
func newRouter() *router.Router {
	r := router.New()
	r.HandleOPTIONS = false                                     // 405 where it would be 200
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false // 404 where it would be 301
	return r
}

type fast struct{ server *fasthttp.Server }

// unasked is how many bytes a body may have where none is asked for: the server
// makes room for all of them at once.
const unasked = 4 << 10

func serve(handler fasthttp.RequestHandler, o server.Options) server.Server {
	return bounded(&fasthttp.Server{Handler: handler, ReadTimeout: server.ReadTimeout, IdleTimeout: server.IdleTimeout, MaxRequestBodySize: unasked}, o)
}

// bounded lets heads of server.MaxHead bytes in where the server runs alone; it takes 4
// KiB by itself. The buffers are then those of requests that arrive, as those of all
// connections would be 128 MiB.
func bounded(s *fasthttp.Server, o server.Options) server.Server {
	if o.Ops != nil {
		s.ReadBufferSize, s.ReduceMemoryUsage = server.MaxHead+1<<10, true
	}
	return fast{s}
}

// serveBodies is serve for apps that take bodies of up to limit bytes. What
// cannot be read is refused before any handler is called: refuse is told with
// which status.
func serveBodies(handler fasthttp.RequestHandler, o server.Options, limit int64, refuse func(c *fasthttp.RequestCtx, status int, err error)) server.Server {
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
	return bounded(&fasthttp.Server{
		Handler: handler, ReadTimeout: server.ReadTimeout, IdleTimeout: server.IdleTimeout,
		MaxRequestBodySize:           int(limit),
		DisablePreParseMultipartForm: true, // a form is not looked into before its type is refused
		ErrorHandler:                 unread,
	}, o)
}

func (f fast) Serve(l net.Listener) error { return f.server.Serve(l) }

func (f fast) Shutdown(ctx context.Context) error { return f.server.ShutdownWithContext(ctx) }

// send answers with a body that is written already.
func send(c *fasthttp.RequestCtx, kind string, body []byte) {
	c.SetContentType(kind)
	c.SetBody(body)
}

// sendJSON answers with v as JSON.
func sendJSON(c *fasthttp.RequestCtx, status int, v any) {
	c.SetStatusCode(status)
	c.SetContentType("application/json")
	_ = json.NewEncoder(c).Encode(v) // into memory
}
