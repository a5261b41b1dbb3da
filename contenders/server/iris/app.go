package main

import (
	"io"

	"github.com/kataras/iris/v12"
	"github.com/kataras/iris/v12/middleware/accesslog"

	"github.com/tarebench/tare/contender/server"
)

// newApp returns an application that sends 405 for wrong methods, and 404 instead of 301.
func newApp() *iris.Application {
	app := iris.New()
	app.Configure(iris.WithoutBanner, iris.WithFireMethodNotAllowed, iris.WithoutPathCorrection)
	return app
}

func addLog(app *iris.Application, o server.Options) {
	if o.Log == nil {
		return
	}
	out := o.Log
	if o.Ops != nil { // iris does not escape line ends in paths and queries
		out = server.OneLine(out)
	}
	log := accesslog.New(out)
	log.RequestBody, log.BytesReceivedBody = false, false // do not log bodies
	app.UseRouter(countCalls(o.Receipts, log.Handler))
}

// countCalls returns a middleware that calls layer and counts the calls.
func countCalls(r *server.Receipts, layer iris.Handler) iris.Handler {
	return func(c iris.Context) {
		r.Layer()
		layer(c)
	}
}

// newServer returns a server of app.
func newServer(app *iris.Application) (server.Server, error) {
	if err := app.Build(); err != nil {
		return nil, err
	}
	return server.HTTPBodies(app), nil
}

func writeBody(c iris.Context, kind string, body []byte) {
	c.ContentType(kind)
	_, _ = c.Write(body) // fails only if the client has disconnected
}

// meter counts the bytes of a body as sent.
type meter struct {
	io.Reader
	n int64 // number of bytes
}

// Read implements [io.Reader].
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.n += int64(n)
	return n, err
}
