package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"github.com/tarebench/tare/contender/server"
)

// logged writes a line for each request, where a log is asked for, that is not
// answered before.
func logged(next fasthttp.RequestHandler, o server.Options) fasthttp.RequestHandler {
	if o.Log == nil {
		return before(next, o)
	}
	line := server.Lines(o.Log)
	return before(func(c *fasthttp.RequestCtx) {
		o.Receipts.Layer()
		start := time.Now()
		next(c)
		line(string(c.Method()), string(c.Path()), c.Response.StatusCode(), time.Since(start))
	}, o)
}

// before has a request answered before next is asked, alone.
func before(next fasthttp.RequestHandler, o server.Options) fasthttp.RequestHandler {
	if !o.Ops.Claim() {
		return next
	}
	return func(c *fasthttp.RequestCtx) {
		h := &c.Request.Header
		page, ok := o.Ops.Answer(server.Question{Method: string(c.Method()), Path: string(c.Path()), Authorization: string(h.Peek("Authorization")), Accept: string(h.Peek("Accept"))})
		if !ok {
			next(c)
			return
		}
		c.SetStatusCode(page.Status)
		if page.Header[0] != "" {
			c.Response.Header.Set(page.Header[0], page.Header[1])
		}
		send(c, page.ContentType, page.Body)
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

func serve(handler fasthttp.RequestHandler) server.Server {
	return fast{&fasthttp.Server{Handler: handler, ReadTimeout: server.ReadTimeout, IdleTimeout: server.IdleTimeout, MaxRequestBodySize: unasked}}
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
	alone := o.Ops.Claim()
	if alone {
		handler = whole(handler, limit, unread)
	}
	return fast{&fasthttp.Server{
		Handler: handler, ReadTimeout: server.ReadTimeout, IdleTimeout: server.IdleTimeout,
		MaxRequestBodySize:           int(limit),
		StreamRequestBody:            alone,
		DisablePreParseMultipartForm: true, // a form is not looked into before its type is refused
		ErrorHandler:                 unread,
	}}
}

// whole reads bodies as they come, alone: the server would make room for all
// that a request says its body will have.
func whole(next fasthttp.RequestHandler, limit int64, unread func(c *fasthttp.RequestCtx, err error)) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		if stream := c.RequestBodyStream(); stream != nil {
			_ = c.Conn().SetReadDeadline(time.Now().Add(server.ReadTimeout)) // or reading fails
			body, err := io.ReadAll(io.LimitReader(stream, limit+1))
			if err == nil && int64(len(body)) > limit {
				err = fasthttp.ErrBodyTooLarge
			}
			if err != nil {
				c.SetConnectionClose() // the rest of it is not looked at
				unread(c, err)
				return
			}
			c.Request.SetBodyRaw(body)
		}
		next(c)
	}
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
