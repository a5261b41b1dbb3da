// Command hertz is cloudwego/hertz, over a socket with its standard transport. With the other one, netpoll,
// a thread waits in the kernel. On a shared processor that costs several times as much as the request.
package main

import (
	"context"
	"net"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/config"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	"github.com/cloudwego/hertz/pkg/network/standard"

	"github.com/tarebench/tare/contender/router"
)

func main() {
	hlog.SetLevel(hlog.LevelFatal)
	router.MainNative(buildRouter)
}

// buildRouter returns a router with the layers (the middleware) and the routes of spec. It does not serve
// requests of net/http.
func buildRouter(_ context.Context, spec router.Spec) (router.Native, error) {
	inProcess := newEngine(spec) // without a listener
	return router.Native{
		Prepare: func(raw []byte) (router.Prepared, error) { return prepareRequest(inProcess, raw) },
		Listen: func(l net.Listener) (stop func(), err error) {
			return startServer(newEngine(spec, server.WithListener(l), server.WithTransport(standard.NewTransporter))), nil
		},
	}, nil
}

func newEngine(spec router.Spec, options ...config.Option) *server.Hertz {
	h := server.New(append(options, server.WithDisablePrintRoute(true))...)
	for _, layer := range spec.Layers {
		h.Use(newMiddleware(layer))
	}
	for _, route := range spec.Routes {
		h.Handle(route.Method, route.ColonPath(), func(_ context.Context, c *app.RequestContext) { route.Reply(c, c.Param) })
	}
	return h
}

func newMiddleware(layer router.Layer) app.HandlerFunc {
	return func(ctx context.Context, c *app.RequestContext) {
		layer.Around(router.Exchange{
			Method: string(c.Method()), Path: string(c.Path()),
			Get:    func(name string) string { return string(c.GetHeader(name)) },
			Set:    c.Header,
			Next:   func() { c.Next(ctx) },
			Status: c.Response.StatusCode, Stop: c.AbortWithStatus,
		})
	}
}
