package main

import (
	"context"
	"strings"

	"github.com/cloudwego/hertz/pkg/app"
	hertz "github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/json" // sonic where supported, else encoding/json
	"github.com/cloudwego/hertz/pkg/common/utils"
	"github.com/cloudwego/hertz/pkg/protocol/consts"

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
	return newEngine(o, func(e *hertz.Hertz) {
		h := homelabServer{s, o.Receipts}
		h.addLayers(e, o)
		e.NoRoute(func(_ context.Context, c *app.RequestContext) { h.writeError(c, homelab.NotFound()) })
		e.NoMethod(func(_ context.Context, c *app.RequestContext) {
			method := consts.MethodGet
			if strings.HasSuffix(string(c.Path()), "/command") {
				method = consts.MethodPost
			}
			c.Header("Allow", method) // hertz does not set it
			h.writeError(c, homelab.NotAllowed())
		})
		h.addRoutes(e)
	}, bodyOptions(homelab.MaxCommand)...), nil
}

func (h homelabServer) addRoutes(e *hertz.Hertz) {
	e.GET("/health", h.newPage("text/plain", func() []byte { return []byte("ok\n") }))
	e.GET("/metrics", h.newPage("text/plain; version=0.0.4", h.app.Metrics))
	e.GET("/openapi.json", h.newPage(consts.MIMEApplicationJSON, homelab.OpenAPI))
	api := e.Group("/api/v1")
	api.GET("/", h.newJSONHandler(func(*app.RequestContext) (any, error) { return h.app.Info(), nil }))
	api.GET("/services", h.newJSONHandler(func(*app.RequestContext) (any, error) { return utils.H{"services": h.app.Services("")}, nil }))
	api.GET("/cluster/services", h.newJSONHandler(func(c *app.RequestContext) (any, error) {
		return utils.H{"services": h.app.Services(c.Query("name"))}, nil
	}))
	api.GET("/devices", h.newJSONHandler(func(*app.RequestContext) (any, error) { return utils.H{"devices": h.app.Devices()}, nil }))
	api.GET("/devices/:id", h.newJSONHandler(func(c *app.RequestContext) (any, error) { return h.app.Device(c.Param("id")) }))
	api.POST("/homeassistant/devices/:id/command", h.newJSONHandler(h.runCommand))
}

// newPage returns a handler that sends a page of a content type. In all handlers, Request counts the request,
// which tare compares with those it sent. Served counts the response in the app's metrics.
func (h homelabServer) newPage(kind string, body func() []byte) app.HandlerFunc {
	return func(_ context.Context, c *app.RequestContext) {
		h.receipts.Request()
		h.app.Served(consts.StatusOK)
		c.Data(consts.StatusOK, kind, body())
	}
}

// newJSONHandler returns a handler that sends the result of answer as JSON, or its error.
func (h homelabServer) newJSONHandler(answer func(c *app.RequestContext) (any, error)) app.HandlerFunc {
	return func(_ context.Context, c *app.RequestContext) {
		h.receipts.Request()
		v, err := answer(c)
		if err != nil {
			h.writeError(c, err)
			return
		}
		h.app.Served(consts.StatusOK)
		c.JSON(consts.StatusOK, v)
	}
}

// runCommand reads a command to a device, runs it and returns the outcome. Admit checks content type and origin.
func (h homelabServer) runCommand(c *app.RequestContext) (any, error) {
	body := c.Request.Body()
	h.receipts.Body(int64(len(body)))
	if err := h.app.Admit(string(c.ContentType()), string(c.GetHeader("Origin")), string(c.Host())); err != nil {
		return nil, err
	}
	if len(body) > homelab.MaxCommand {
		return nil, homelab.TooLarge()
	}
	var command homelab.Command
	if err := json.Unmarshal(body, &command); err != nil {
		return nil, homelab.Malformed(err)
	}
	return h.app.Command(c.Param("id"), command)
}

func (h homelabServer) writeError(c *app.RequestContext, err error) {
	r := h.app.RefusalOf(err)
	if r.Code == "read_only" {
		c.Header("Allow", consts.MethodGet)
	}
	h.app.Served(r.Status)
	c.AbortWithStatusJSON(r.Status, r)
}
