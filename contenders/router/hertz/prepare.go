package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/test/mock"
	"github.com/cloudwego/hertz/pkg/protocol/consts"
	"github.com/cloudwego/hertz/pkg/protocol/http1/req"

	"github.com/tarebench/tare/contender/router"
)

// prepareRequest parses a request once, so that the measured function Serve only calls the router. Like
// hertz's server between two requests, Serve resets the context, but not the request. A redirect changes
// the target in the request; Serve then restores it.
func prepareRequest(h *server.Hertz, raw []byte) (router.Prepared, error) {
	c := h.NewContext()
	if err := req.Read(&c.Request, mock.NewZeroCopyReader(string(raw))); err != nil {
		return router.Prepared{}, fmt.Errorf("read the request: %w", err)
	}
	ctx := context.Background()
	uri := string(c.Request.Header.RequestURI())
	return router.Prepared{
		Serve: func() (int, []byte) {
			c.Params, c.Errors, c.Keys = c.Params[:0], c.Errors[:0], nil
			c.SetHandlers(nil)
			c.SetIndex(-1)
			c.SetFullPath("")
			c.Response.Reset()
			h.ServeHTTP(ctx, c)
			status := c.Response.StatusCode()
			if status >= consts.StatusMultipleChoices { // perhaps a redirect
				c.Request.SetRequestURI(uri)
			}
			return status, c.Response.Body()
		},
		Header: c.Response.Header.Get,
	}, nil
}

// startServer starts the server. stop shuts the server down and waits for its end.
func startServer(h *server.Hertz) (stop func()) {
	done := make(chan error, 1)
	go func() { done <- h.Run() }()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = h.Shutdown(ctx)
		<-done
	}
}
