package main

import (
	"bufio"
	"bytes"
	"fmt"

	"github.com/valyala/fasthttp"

	"github.com/tarebench/tare/contender/router"
)

// prepareRequest parses a request once, so that the measured function Serve only calls handler. Like
// fasthttp's server between two requests, Serve removes the user values and resets the response. Handlers
// do not change the request itself.
func prepareRequest(handler fasthttp.RequestHandler, raw []byte) (router.Prepared, error) {
	ctx := new(fasthttp.RequestCtx)
	ctx.Init2(nil, nil, false)
	if err := ctx.Request.Read(bufio.NewReader(bytes.NewReader(raw))); err != nil {
		return router.Prepared{}, fmt.Errorf("read the request: %w", err)
	}
	return router.Prepared{
		Serve: func() (int, []byte) {
			ctx.ResetUserValues()
			ctx.Response.Reset()
			handler(ctx)
			return ctx.Response.StatusCode(), ctx.Response.Body()
		},
		Header: func(name string) string { return string(ctx.Response.Header.Peek(name)) },
	}, nil
}
