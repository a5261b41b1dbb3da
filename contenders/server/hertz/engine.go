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

// engine runs a hertz server. Serve creates it, because that needs the listener.
type engine struct {
	settings []config.Option
	setUp    func(h *hertz.Hertz) // adds middleware and routes
	created  chan *hertz.Hertz    // receives the created server
	open     sync.Map             // keys are open connections of netpoll, hertz's network library
}

// newEngine returns an engine with the options of all apps, and with those in options.
func newEngine(o server.Options, setUp func(h *hertz.Hertz), options ...config.Option) *engine {
	hlog.SetOutput(io.Discard) // log messages of hertz itself
	// netpoll does not support TLS. A standalone service, which has o.Ops, must limit connections, which
	// netpoll does not allow. In these cases use the transport of net.
	usesNetpoll := o.Ops == nil && o.TLS == nil
	e := &engine{setUp: setUp, created: make(chan *hertz.Hertz, 1)}
	e.settings = []config.Option{
		hertz.WithReadTimeout(server.ReadTimeout),
		hertz.WithIdleTimeout(server.IdleTimeout),
		hertz.WithMaxHeaderBytes(server.MaxHead),
		hertz.WithExitWaitTime(4 * time.Second), // time of Shutdown if a client stays
		hertz.WithOnAccept(e.storeConn),
		hertz.WithHandleMethodNotAllowed(true), // status 405 instead of 404
		hertz.WithRedirectTrailingSlash(false), // status 404 instead of 301
	}
	if !usesNetpoll {
		e.settings = append(e.settings, hertz.WithTransport(standard.NewTransporter))
	}
	e.settings = append(e.settings, options...)
	return e
}

// extraBody is the number of bytes by which a body may exceed its limit and is still read; see bodyOptions.
const extraBody = 64 << 10

// bodyOptions returns the options of apps with bodies of up to limit bytes. hertz rejects longer ones before a
// handler, in plain text. So its limit is higher by extraBody, and the handler rejects slightly longer bodies as
// the app does.
func bodyOptions(limit int64) []config.Option {
	return []config.Option{
		hertz.WithMaxRequestBodySize(int(limit) + extraBody),
		hertz.WithReadTimeout(server.ReadTimeout * 7 / 10), // limits each read of a body, and a chunk twice
		hertz.WithDisablePreParseMultipartForm(true),       // the content type is checked first
	}
}

// addLog adds the access log of the options, a line for each request.
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

// countCalls returns a middleware that calls layer and counts the calls.
func countCalls(r *server.Receipts, layer app.HandlerFunc) app.HandlerFunc {
	return func(ctx context.Context, c *app.RequestContext) {
		r.Layer()
		layer(ctx, c)
	}
}

// Serve creates the server and serves.
func (e *engine) Serve(l net.Listener) error {
	h := hertz.New(append(e.settings, hertz.WithListener(l))...)
	e.setUp(h)
	e.created <- h
	return h.Run()
}

// Shutdown stops the server, then closes netpoll's open connections. Encrypted ones end with their next
// response.
func (e *engine) Shutdown(ctx context.Context) error {
	select {
	case h := <-e.created:
		err := h.Shutdown(ctx)
		for c := range e.open.Range {
			_ = c.(netpoll.Connection).Close()
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// storeConn stores an open connection, because hertz has no list.
func (e *engine) storeConn(c net.Conn) context.Context {
	if wrapped, ok := c.(*polled.Conn); ok {
		if conn, ok := wrapped.Conn.(netpoll.Connection); ok {
			e.open.Store(conn, nil)
			_ = conn.AddCloseCallback(func(netpoll.Connection) error { // it never fails
				e.open.Delete(conn)
				return nil
			})
		}
	}
	return context.Background()
}
