package main

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"github.com/cloudwego/hertz/pkg/app"
	hertz "github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/config"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	polled "github.com/cloudwego/hertz/pkg/network/netpoll"
	"github.com/cloudwego/hertz/pkg/network/standard"
	"github.com/cloudwego/netpoll"

	"github.com/tarebench/tare/contender/server"
)

// engine is a hertz server, which wants its listener when it is made.
type engine struct {
	settings []config.Option
	setUp    func(h *hertz.Hertz)
	serves   chan *hertz.Hertz // takes the server when it has been made
	open     sync.Map          // connections of netpoll
}

func newEngine(o server.Options, setUp func(h *hertz.Hertz), more ...config.Option) *engine {
	hlog.SetOutput(io.Discard) // what it says about itself
	// netpoll has no TLS, and connections of its own, which alone cannot be bounded.
	plain := o.Ops == nil && o.TLS == nil
	e := &engine{setUp: setUp, serves: make(chan *hertz.Hertz, 1)}
	e.settings = []config.Option{
		hertz.WithReadTimeout(server.ReadTimeout), hertz.WithIdleTimeout(server.IdleTimeout),
		hertz.WithMaxHeaderBytes(server.MaxHead),
		hertz.WithExitWaitTime(4 * time.Second), // all of which passes while a client keeps a connection open
		hertz.WithOnAccept(e.storeConn),
		hertz.WithHandleMethodNotAllowed(true), // 405 where it would be 404
		hertz.WithRedirectTrailingSlash(false), // 404 where it would be 301
	}
	if !plain {
		e.settings = append(e.settings, hertz.WithTransport(standard.NewTransporter))
	}
	e.settings = append(e.settings, more...)
	return e
}

// beyond is how many bytes more than its limit a body may have and still be read.
const beyond = 64 << 10

// bodyOptions returns the options of apps with bodies of up to limit bytes, which hertz reads before it calls
// a handler. It rejects a longer body itself, in plain text, without a hook: so that a slightly longer body
// gets the app's own error, that much more of it is read.
func bodyOptions(limit int64) []config.Option {
	return []config.Option{
		hertz.WithMaxRequestBodySize(int(limit) + beyond),
		hertz.WithReadTimeout(server.ReadTimeout * 7 / 10), // for each part of a body anew, and twice where a chunk is awaited
		hertz.WithDisablePreParseMultipartForm(true),       // a form is not looked into before its type is refused
	}
}

// addLog adds the access log of the options: a line for each request.
func addLog(h *hertz.Hertz, o server.Options) {
	if o.Log == nil {
		return
	}
	line := server.Lines(o.Log)
	h.Use(countCalls(o.Receipts, func(ctx context.Context, c *app.RequestContext) {
		start := time.Now()
		c.Next(ctx)
		line(string(c.Method()), string(c.Path()), c.Response.StatusCode(), time.Since(start))
	}))
}

// countCalls returns layer with a count of its calls.
func countCalls(r *server.Receipts, layer app.HandlerFunc) app.HandlerFunc {
	return func(ctx context.Context, c *app.RequestContext) {
		r.Layer()
		layer(ctx, c)
	}
}

// Serve makes the server and serves.
func (e *engine) Serve(l net.Listener) error {
	h := hertz.New(append(e.settings, hertz.WithListener(l))...)
	e.setUp(h)
	e.serves <- h
	return h.Run()
}

// Shutdown waits for connections as long as ctx lasts, and closes those of
// netpoll that a client keeps open. Encrypted ones end with their next answer.
func (e *engine) Shutdown(ctx context.Context) error {
	select {
	case h := <-e.serves:
		err := h.Shutdown(ctx)
		for c := range e.open.Range {
			_ = c.(netpoll.Connection).Close()
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// storeConn stores a connection until it is closed, which hertz does not.
func (e *engine) storeConn(c net.Conn) context.Context {
	if own, ok := c.(*polled.Conn); ok {
		if c, ok := own.Conn.(netpoll.Connection); ok {
			e.open.Store(c, nil)
			_ = c.AddCloseCallback(func(netpoll.Connection) error { e.open.Delete(c); return nil }) // it never fails
		}
	}
	return context.Background()
}
