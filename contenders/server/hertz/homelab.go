package main

import (
	"context"
	"strings"

	"github.com/cloudwego/hertz/pkg/app"
	hertz "github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/json" // sonic on the platforms that it supports, else encoding/json
	"github.com/cloudwego/hertz/pkg/common/utils"
	"github.com/cloudwego/hertz/pkg/protocol/consts"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// house serves app homelab, the API of a house with devices.
type house struct {
	*homelab.House                  // the logic of the app
	receipts       *server.Receipts // counts for the lab: requests, bytes of bodies, calls of middleware
}

// serveHomelab returns the server of app homelab.
func serveHomelab(o server.Options, s *homelab.House) (server.Server, error) {
	return newEngine(o, func(e *hertz.Hertz) {
		h := house{s, o.Receipts}
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

// addRoutes adds the paths of the app.
func (h house) addRoutes(e *hertz.Hertz) {
	e.GET("/health", h.newPage("text/plain", func() []byte { return []byte("ok\n") }))
	e.GET("/metrics", h.newPage("text/plain; version=0.0.4", h.Metrics))
	e.GET("/openapi.json", h.newPage(consts.MIMEApplicationJSON, homelab.OpenAPI))
	api := e.Group("/api/v1")
	api.GET("/", h.newJSONHandler(func(*app.RequestContext) (any, error) { return h.Info(), nil }))
	api.GET("/services", h.newJSONHandler(func(*app.RequestContext) (any, error) { return utils.H{"services": h.Services("")}, nil }))
	api.GET("/cluster/services", h.newJSONHandler(func(c *app.RequestContext) (any, error) { return utils.H{"services": h.Services(c.Query("name"))}, nil }))
	api.GET("/devices", h.newJSONHandler(func(*app.RequestContext) (any, error) { return utils.H{"devices": h.Devices()}, nil }))
	api.GET("/devices/:id", h.newJSONHandler(func(c *app.RequestContext) (any, error) { return h.Device(c.Param("id")) }))
	api.POST("/homeassistant/devices/:id/command", h.newJSONHandler(h.runCommand))
}

// newPage returns a handler that sends a page of a content type.
func (h house) newPage(kind string, body func() []byte) app.HandlerFunc {
	return func(_ context.Context, c *app.RequestContext) {
		h.receipts.Request()
		h.Served(consts.StatusOK)
		c.Data(consts.StatusOK, kind, body())
	}
}

// newJSONHandler returns a handler that sends the value of a function as JSON, or its error.
func (h house) newJSONHandler(answer func(c *app.RequestContext) (any, error)) app.HandlerFunc {
	return func(_ context.Context, c *app.RequestContext) {
		h.receipts.Request()
		v, err := answer(c)
		if err != nil {
			h.writeError(c, err)
			return
		}
		h.Served(consts.StatusOK)
		c.JSON(consts.StatusOK, v)
	}
}

// runCommand reads a command and runs it. It returns the outcome.
func (h house) runCommand(c *app.RequestContext) (any, error) {
	body := c.Request.Body()
	h.receipts.Body(int64(len(body)))
	if err := h.Admit(string(c.ContentType()), string(c.GetHeader("Origin")), string(c.Host())); err != nil {
		return nil, err
	}
	if len(body) > homelab.MaxCommand {
		return nil, homelab.TooLarge()
	}
	var command homelab.Command
	if err := json.Unmarshal(body, &command); err != nil {
		return nil, homelab.Malformed(err)
	}
	return h.Command(c.Param("id"), command)
}

// writeError sends the error response for err.
func (h house) writeError(c *app.RequestContext, err error) {
	r := h.RefusalOf(err)
	if r.Code == "read_only" {
		c.Header("Allow", consts.MethodGet)
	}
	h.Served(r.Status)
	c.AbortWithStatusJSON(r.Status, r)
}
