package main

import (
	"errors"
	"io"
	"net/http"

	"github.com/kataras/iris/v12"
	"github.com/kataras/iris/v12/middleware/recover"
	"github.com/kataras/iris/v12/middleware/requestid"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// house serves app homelab.
type house struct {
	*homelab.House
	receipts *server.Receipts
}

func serveHomelab(o server.Options, s *homelab.House) (server.Server, error) {
	h := house{s, o.Receipts}
	app := newApp()
	use := func(layer iris.Handler) { app.UseRouter(countCalls(o.Receipts, layer)) }
	use(requestid.New(h.requestID))
	addLog(app, o)
	use(recover.New())
	if h.CORS() {
		use(h.addCORS())
	}
	if h.Limited() {
		use(h.limitRate)
	}
	app.OnErrorCode(iris.StatusNotFound, func(c iris.Context) { h.writeError(c, homelab.NotFound()) })
	app.OnErrorCode(iris.StatusMethodNotAllowed, func(c iris.Context) { h.writeError(c, homelab.NotAllowed()) })
	app.OnErrorCode(iris.StatusInternalServerError, func(c iris.Context) { h.writeError(c, errPanic) })
	h.addRoutes(app)
	return newServer(app)
}

var errPanic = errors.New("a handler panicked; iris has logged where")

func (h house) addRoutes(app *iris.Application) {
	app.Get("/health", h.newPage("text/plain", func() []byte { return []byte("ok\n") }))
	app.Get("/metrics", h.newPage("text/plain; version=0.0.4", h.Metrics))
	app.Get("/openapi.json", h.newPage("application/json", homelab.OpenAPI))
	api := app.Party("/api/v1")
	api.Get("/{nothing:string max(0)}", h.newJSONHandler(func(iris.Context) (any, error) { return h.Info(), nil })) // iris drops a last slash
	api.Get("/services", h.newJSONHandler(func(iris.Context) (any, error) { return iris.Map{"services": h.Services("")}, nil }))
	api.Get("/cluster/services", h.newJSONHandler(func(c iris.Context) (any, error) { return iris.Map{"services": h.Services(c.URLParam("name"))}, nil }))
	api.Get("/devices", h.newJSONHandler(func(iris.Context) (any, error) { return iris.Map{"devices": h.Devices()}, nil }))
	api.Get("/devices/{id:string min(1)}", h.newJSONHandler(func(c iris.Context) (any, error) { return h.Device(c.Params().Get("id")) }))
	api.Post("/homeassistant/devices/{id:string min(1)}/command", h.newJSONHandler(h.runCommand))
}

func (h house) newPage(kind string, body func() []byte) iris.Handler {
	return func(c iris.Context) {
		h.receipts.Request()
		h.Served(iris.StatusOK)
		writeBody(c, kind, body())
	}
}

func (h house) newJSONHandler(answer func(c iris.Context) (any, error)) iris.Handler {
	return func(c iris.Context) {
		h.receipts.Request()
		v, err := answer(c)
		if err != nil {
			h.writeError(c, err)
			return
		}
		h.Served(iris.StatusOK)
		_ = c.JSON(v) // it answers errors itself
	}
}

func (h house) runCommand(c iris.Context) (any, error) {
	r := c.Request()
	if err := h.Admit(c.GetHeader("Content-Type"), c.GetHeader("Origin"), r.Host); err != nil {
		return nil, err
	}
	wire := &meter{Reader: http.MaxBytesReader(c.ResponseWriter(), r.Body, homelab.MaxCommand)}
	r.Body = io.NopCloser(wire)
	var command homelab.Command
	err := c.ReadJSON(&command)
	if err == nil { // its decoder stops behind the first value
		_, err = io.Copy(io.Discard, wire)
	}
	h.receipts.Body(wire.n)
	var limit *http.MaxBytesError
	switch {
	case errors.As(err, &limit):
		return nil, homelab.TooLarge()
	case err != nil:
		return nil, homelab.Malformed(err)
	}
	return h.Command(c.Params().Get("id"), command)
}

func (h house) writeError(c iris.Context, err error) {
	r := h.RefusalOf(err)
	if r.Code == "read_only" {
		c.Header("Allow", iris.MethodGet)
	}
	h.Served(r.Status)
	c.StatusCode(r.Status)
	_ = c.JSON(r) // it answers errors itself
}
