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

// homelabServer serves app homelab, the API of a house with devices. It translates between HTTP and app, which
// decides what to answer.
type homelabServer struct {
	app      *homelab.House   // the logic of the app
	receipts *server.Receipts // counts requests, bytes and calls of middleware; tare compares them with what it sent
}

func serveHomelab(o server.Options, s *homelab.House) (server.Server, error) {
	h := homelabServer{s, o.Receipts}
	app := newApp()
	use := func(layer iris.Handler) { app.UseRouter(countCalls(o.Receipts, layer)) }
	use(requestid.New(h.setRequestID))
	addLog(app, o)
	use(recover.New())
	if h.app.CORS() {
		use(h.newCORS())
	}
	if h.app.Limited() {
		use(h.limitRate)
	}
	app.OnErrorCode(iris.StatusNotFound, func(c iris.Context) { h.writeError(c, homelab.NotFound()) })
	app.OnErrorCode(iris.StatusMethodNotAllowed, func(c iris.Context) { h.writeError(c, homelab.NotAllowed()) })
	app.OnErrorCode(iris.StatusInternalServerError, func(c iris.Context) { h.writeError(c, errPanic) })
	h.addRoutes(app)
	return newServer(app)
}

// errPanic is for a panic, which iris reports only as a status.
var errPanic = errors.New("a handler panicked; iris has logged where")

func (h homelabServer) addRoutes(app *iris.Application) {
	app.Get("/health", h.newPage("text/plain", func() []byte { return []byte("ok\n") }))
	app.Get("/metrics", h.newPage("text/plain; version=0.0.4", h.app.Metrics))
	app.Get("/openapi.json", h.newPage("application/json", homelab.OpenAPI))
	api := app.Party("/api/v1")
	api.Get("/{nothing:string max(0)}", h.newJSONHandler(func(iris.Context) (any, error) { return h.app.Info(), nil })) // iris removes a last slash, so use an empty parameter
	api.Get("/services", h.newJSONHandler(func(iris.Context) (any, error) { return iris.Map{"services": h.app.Services("")}, nil }))
	api.Get("/cluster/services", h.newJSONHandler(func(c iris.Context) (any, error) {
		return iris.Map{"services": h.app.Services(c.URLParam("name"))}, nil
	}))
	api.Get("/devices", h.newJSONHandler(func(iris.Context) (any, error) { return iris.Map{"devices": h.app.Devices()}, nil }))
	api.Get("/devices/{id:string min(1)}", h.newJSONHandler(func(c iris.Context) (any, error) { return h.app.Device(c.Params().Get("id")) }))
	api.Post("/homeassistant/devices/{id:string min(1)}/command", h.newJSONHandler(h.runCommand))
}

// newPage returns a handler that sends a page of a content type. In all handlers, Request counts the request,
// which tare compares with those it sent. Served counts the response in the app's metrics.
func (h homelabServer) newPage(kind string, body func() []byte) iris.Handler {
	return func(c iris.Context) {
		h.receipts.Request()
		h.app.Served(iris.StatusOK)
		writeBody(c, kind, body())
	}
}

// newJSONHandler returns a handler that sends the result of answer as JSON, or its error.
func (h homelabServer) newJSONHandler(answer func(c iris.Context) (any, error)) iris.Handler {
	return func(c iris.Context) {
		h.receipts.Request()
		v, err := answer(c)
		if err != nil {
			h.writeError(c, err)
			return
		}
		h.app.Served(iris.StatusOK)
		_ = c.JSON(v) // iris itself responds to an error
	}
}

// runCommand reads a command to a device, runs it and returns the outcome. Admit checks content type and origin.
func (h homelabServer) runCommand(c iris.Context) (any, error) {
	r := c.Request()
	if err := h.app.Admit(c.GetHeader("Content-Type"), c.GetHeader("Origin"), r.Host); err != nil {
		return nil, err
	}
	sent := &meter{Reader: http.MaxBytesReader(c.ResponseWriter(), r.Body, homelab.MaxCommand)}
	r.Body = io.NopCloser(sent)
	var command homelab.Command
	err := c.ReadJSON(&command)
	if err == nil { // iris's decoder stops after the first value
		_, err = io.Copy(io.Discard, sent)
	}
	h.receipts.Body(sent.n)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, homelab.TooLarge()
	case err != nil:
		return nil, homelab.Malformed(err)
	}
	return h.app.Command(c.Params().Get("id"), command)
}

func (h homelabServer) writeError(c iris.Context, err error) {
	r := h.app.RefusalOf(err)
	if r.Code == "read_only" {
		c.Header("Allow", iris.MethodGet)
	}
	h.app.Served(r.Status)
	c.StatusCode(r.Status)
	_ = c.JSON(r) // iris itself responds to an error
}
