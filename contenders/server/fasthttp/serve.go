package main

import (
	"context"
	"net"
	"time"

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

type fast struct{ server *fasthttp.Server }

// serve is a server with the access log that is asked for.
func serve(handler fasthttp.RequestHandler, o server.Options) server.Server {
	return fast{&fasthttp.Server{Handler: logged(handler, o), ReadTimeout: server.ReadTimeout, IdleTimeout: server.IdleTimeout}}
}

func (f fast) Serve(l net.Listener) error { return f.server.Serve(l) }

func (f fast) Shutdown(ctx context.Context) error { return f.server.ShutdownWithContext(ctx) }
