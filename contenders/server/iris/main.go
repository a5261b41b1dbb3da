// Command iris serves the apps tiny, ingest and homelab with the framework kataras/iris.
package main

import (
	"github.com/kataras/iris/v12"

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
	app := newApp()
	addLog(app, o)
	app.Get("/v1/id/{id:string min(1)}", func(c iris.Context) {
		o.Receipts.Request()                         // counts the request; tare compares the count with the requests that it sent
		_ = c.JSON(idResponse{c.Params().Get("id")}) // iris itself responds to an error
	})
	app.Get("/health", func(c iris.Context) {
		o.Receipts.Request()
		_, _ = c.WriteString("ok\n")
	})
	if err := app.Build(); err != nil {
		return nil, err
	}
	return server.HTTP(app), nil
}
