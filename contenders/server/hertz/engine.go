package main

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/cloudwego/hertz/pkg/app"
	hertz "github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/config"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	"github.com/cloudwego/hertz/pkg/network/standard"

	"github.com/tarebench/tare/contender/server"
)

// engine is a hertz server, which wants its listener when it is made.
type engine struct {
	settings []config.Option
	setUp    func(h *hertz.Hertz)
	serves   chan *hertz.Hertz // takes the server when it has been made
}

func newEngine(o server.Options, routes func(h *hertz.Hertz)) *engine {
	hlog.SetOutput(io.Discard) // what it says about itself
	e := &engine{serves: make(chan *hertz.Hertz, 1), settings: []config.Option{
		hertz.WithReadTimeout(server.ReadTimeout), hertz.WithIdleTimeout(server.IdleTimeout),
		hertz.WithHandleMethodNotAllowed(true), // 405 where it would be 404
		hertz.WithRedirectTrailingSlash(false), // 404 where it would be 301
	}}
	if o.TLS != nil { // which netpoll has not
		e.settings = append(e.settings, hertz.WithTransport(standard.NewTransporter))
	}
	e.setUp = func(h *hertz.Hertz) {
		if o.Log != nil {
			h.Use(logged(o))
		}
		routes(h)
	}
	return e
}

// logged writes a line for each request.
func logged(o server.Options) app.HandlerFunc {
	line := server.Lines(o.Log)
	return func(ctx context.Context, c *app.RequestContext) {
		o.Receipts.Layer()
		start := time.Now()
		c.Next(ctx)
		line(string(c.Method()), string(c.Path()), c.Response.StatusCode(), time.Since(start))
	}
}

// Serve makes the server and serves.
func (e *engine) Serve(l net.Listener) error {
	h := hertz.New(append(e.settings, hertz.WithListener(l))...)
	e.setUp(h)
	e.serves <- h
	return h.Run()
}

// Shutdown waits for connections as long as ctx lasts. Those that a client
// keeps open then end with their next answer.
func (e *engine) Shutdown(ctx context.Context) error {
	select {
	case h := <-e.serves:
		return h.Shutdown(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}
