package main

import (
	"context"
	"strings"

	"github.com/cloudwego/hertz/pkg/app"
	hertz "github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/json" // sonic, where that compiles
	"github.com/cloudwego/hertz/pkg/common/utils"
	"github.com/cloudwego/hertz/pkg/protocol/consts"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// house serves app homelab.
type house struct {
	*homelab.House
	receipts *server.Receipts
}

func serveHomelab(o server.Options, s *homelab.House) (server.Server, error) {
	return newEngine(o, func(e *hertz.Hertz) {
		h := house{s, o.Receipts}
		h.layers(e, o)
		e.NoRoute(func(_ context.Context, c *app.RequestContext) { h.refuse(c, homelab.NotFound()) })
		e.NoMethod(func(_ context.Context, c *app.RequestContext) {
			method := consts.MethodGet
			if strings.HasSuffix(string(c.Path()), "/command") {
				method = consts.MethodPost
			}
			c.Header("Allow", method) // hertz does not say it
			h.refuse(c, homelab.NotAllowed())
		})
		h.routes(e)
	}, bodies(homelab.MaxCommand)...), nil
}

func (h house) routes(e *hertz.Hertz) {
	e.GET("/health", h.data("text/plain", func() []byte { return []byte("ok\n") }))
	e.GET("/metrics", h.data("text/plain; version=0.0.4", h.Metrics))
	e.GET("/openapi.json", h.data(consts.MIMEApplicationJSON, homelab.OpenAPI))
	api := e.Group("/api/v1")
	api.GET("/", h.json(func(*app.RequestContext) (any, error) { return h.Info(), nil }))
	api.GET("/services", h.json(func(*app.RequestContext) (any, error) { return utils.H{"services": h.Services("")}, nil }))
	api.GET("/cluster/services", h.json(func(c *app.RequestContext) (any, error) { return utils.H{"services": h.Services(c.Query("name"))}, nil }))
	api.GET("/devices", h.json(func(*app.RequestContext) (any, error) { return utils.H{"devices": h.Devices()}, nil }))
	api.GET("/devices/:id", h.json(func(c *app.RequestContext) (any, error) { return h.Device(c.Param("id")) }))
	api.POST("/homeassistant/devices/:id/command", h.json(h.command))
}

func (h house) data(kind string, body func() []byte) app.HandlerFunc {
	return func(_ context.Context, c *app.RequestContext) {
		h.receipts.Request()
		h.Served(consts.StatusOK)
		c.Data(consts.StatusOK, kind, body())
	}
}

func (h house) json(answer func(c *app.RequestContext) (any, error)) app.HandlerFunc {
	return func(_ context.Context, c *app.RequestContext) {
		h.receipts.Request()
		v, err := answer(c)
		if err != nil {
			h.refuse(c, err)
			return
		}
		h.Served(consts.StatusOK)
		c.JSON(consts.StatusOK, v)
	}
}

func (h house) command(c *app.RequestContext) (any, error) {
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

func (h house) refuse(c *app.RequestContext, err error) {
	r := h.RefusalOf(err)
	if r.Code == "read_only" {
		c.Header("Allow", consts.MethodGet)
	}
	h.Served(r.Status)
	c.AbortWithStatusJSON(r.Status, r)
}
