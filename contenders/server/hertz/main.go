// Command hertz serves the apps tiny, ingest and homelab with the framework cloudwego/hertz.
package main

import (
	"context"

	"github.com/cloudwego/hertz/pkg/app"
	hertz "github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/protocol/consts"

	homelabserving "github.com/tarebench/tare/apps/homelab/serving"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
)

func main() {
	server.Main(server.Apps{server.Plain("tiny", serveTiny), ingestserving.App(serveIngest), homelabserving.App(serveHomelab)})
}

// idResponse is {"id":"7"} for the path /v1/id/7.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny serves app tiny, which returns the id in the path as JSON.
func serveTiny(o server.Options) (server.Server, error) {
	return newEngine(o, func(h *hertz.Hertz) {
		addLog(h, o)
		h.NoMethod(func(_ context.Context, c *app.RequestContext) { c.Header("Allow", consts.MethodGet) }) // hertz does not set it
		h.GET("/v1/id/:id", func(_ context.Context, c *app.RequestContext) {
			o.Receipts.Request() // counts the request; tare compares the count with the requests that it sent
			c.JSON(consts.StatusOK, idResponse{c.Param("id")})
			c.Response.AppendBodyString("\n") // the app requires a line end
		})
		h.GET("/health", func(_ context.Context, c *app.RequestContext) {
			o.Receipts.Request()
			c.String(consts.StatusOK, "ok\n")
		})
	}), nil
}
