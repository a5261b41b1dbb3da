package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/middlewares/server/recovery"
	hertz "github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/protocol/consts"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// addLayers adds the middleware of app homelab. Only the recovery from panics is hertz's.
func (h homelabServer) addLayers(e *hertz.Hertz, o server.Options) {
	use := func(layer app.HandlerFunc) { e.Use(countCalls(o.Receipts, layer)) } // the lab compares the counts
	use(h.setRequestID)
	addLog(e, o)
	use(recovery.Recovery(recovery.WithRecoveryHandler(h.recoverPanic)))
	if h.app.CORS() {
		use(h.addCORS)
	}
	if h.app.Limited() {
		use(h.limitRate)
	}
}

func (h homelabServer) setRequestID(_ context.Context, c *app.RequestContext) {
	c.Header("X-Request-Id", h.app.RequestID(string(c.GetHeader("X-Request-Id"))))
}

// recoverPanic logs a panic and sends an error.
func (h homelabServer) recoverPanic(_ context.Context, c *app.RequestContext, cause any, stack []byte) {
	fmt.Fprintf(os.Stderr, "panic: %v\n%s", cause, stack)
	h.writeError(c, fmt.Errorf("panic: %v", cause))
}

// addCORS responds to preflights, OPTIONS of browsers.
func (h homelabServer) addCORS(_ context.Context, c *app.RequestContext) {
	c.Header("Vary", "Origin")
	origin := string(c.GetHeader("Origin"))
	allowed := h.app.Allow(origin)
	if allowed != "" {
		c.Header("Access-Control-Allow-Origin", allowed)
	}
	isPreflight := string(c.Method()) == consts.MethodOptions && origin != "" && len(c.GetHeader("Access-Control-Request-Method")) > 0
	if !isPreflight {
		return
	}
	if allowed != "" {
		c.Header("Access-Control-Allow-Methods", "GET, POST")
		c.Header("Access-Control-Allow-Headers", "Content-Type")
	}
	h.app.Served(consts.StatusNoContent)
	c.AbortWithStatus(consts.StatusNoContent)
}

// limitRate takes a token of the client's rate limit, and rejects the request if none is left.
func (h homelabServer) limitRate(_ context.Context, c *app.RequestContext) {
	client, _, _ := net.SplitHostPort(c.RemoteAddr().String()) // no header is trusted
	headers, ok := h.app.Take(client)
	for _, header := range headers {
		c.Header(header[0], header[1])
	}
	if !ok {
		h.writeError(c, homelab.TooMany())
	}
}
