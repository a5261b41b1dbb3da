// Command fasthttp is valyala/fasthttp with its usual router, fasthttp/router, which
// does not unescape parameters.
package main

import (
	"context"
	"net"
	"net/url"

	fasthttprouter "github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"github.com/tarebench/tare/contender/router"
)

func main() { router.MainNativeParts(buildRouter) }

// buildRouter returns a router with the layers (the middleware) and the routes of spec. It does not serve
// requests of net/http.
func buildRouter(_ context.Context, spec router.Spec) (router.Native, error) {
	r := fasthttprouter.New()
	for _, route := range spec.Routes {
		r.Handle(route.Method, route.BracePathEnding("{"+route.Rest+":*}"), func(ctx *fasthttp.RequestCtx) {
			route.Reply(ctx, func(name string) string { return decodeParam(ctx, name) })
		})
	}
	handler := r.Handler
	for i := len(spec.Layers) - 1; i >= 0; i-- {
		handler = newMiddleware(spec.Layers[i], handler)
	}
	return router.Native{
		Prepare: func(raw []byte) (router.Prepared, error) { return prepareRequest(handler, raw) },
		Listen: func(l net.Listener) (stop func(), err error) {
			server, done := &fasthttp.Server{Handler: handler}, make(chan error, 1)
			go func() { done <- server.Serve(l) }()
			return func() { _ = server.Shutdown(); <-done }, nil
		},
	}, nil
}

// newMiddleware returns a handler that applies a layer to next. Fasthttp has no other form of middleware.
func newMiddleware(layer router.Layer, next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		layer.Around(router.Exchange{
			Method: string(ctx.Method()), Path: string(ctx.Path()),
			Get:    func(name string) string { return string(ctx.Request.Header.Peek(name)) },
			Set:    ctx.Response.Header.Set,
			Next:   func() { next(ctx) },
			Status: ctx.Response.StatusCode,
			Stop:   func(status int) { ctx.Response.Reset(); ctx.SetStatusCode(status) },
		})
	}
}

// decodeParam returns an unescaped parameter. Invalid escapes stay unchanged.
func decodeParam(ctx *fasthttp.RequestCtx, name string) string {
	escaped, _ := ctx.UserValue(name).(string)
	if value, err := url.PathUnescape(escaped); err == nil {
		return value
	}
	return escaped
}
