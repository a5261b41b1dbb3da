// Command iris is kataras/iris.
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

type writeAnswer struct {
	ID string `json:"id"`
}

func serveTiny(o server.Options) (server.Server, error) {
	app := newApp()
	addLog(app, o)
	app.Get("/v1/id/{id:string min(1)}", func(c iris.Context) {
		o.Receipts.Request()
		_ = c.JSON(writeAnswer{c.Params().Get("id")}) // it answers errors itself
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
