package main

import (
	"io"

	"github.com/kataras/iris/v12"
	"github.com/kataras/iris/v12/middleware/accesslog"

	"github.com/tarebench/tare/contender/server"
)

func newApp() *iris.Application {
	app := iris.New()
	app.Configure(iris.WithoutBanner, iris.WithFireMethodNotAllowed, iris.WithoutPathCorrection) // 405, and 404 where it would be 301
	return app
}

// addLog adds the access log of the options.
func addLog(app *iris.Application, o server.Options) {
	if o.Log == nil {
		return
	}
	to := o.Log
	if o.Ops != nil { // it writes paths and queries unescaped, as lines of their own if they have line ends
		to = server.OneLine(to)
	}
	lines := accesslog.New(to)
	lines.RequestBody, lines.BytesReceivedBody = false, false // a line per request, not its body
	app.UseRouter(countCalls(o.Receipts, lines.Handler))
}

// countCalls returns layer with a count of its calls.
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

// writeBody answers with an encoded body.
func writeBody(c iris.Context, kind string, body []byte) {
	c.ContentType(kind)
	_, _ = c.Write(body) // nobody is left to tell
}

// meter counts the bytes of a body as they were sent.
type meter struct {
	io.Reader
	n int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.n += int64(n)
	return n, err
}
