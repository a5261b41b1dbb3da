// Command iris is kataras/iris.
package main

import (
	"github.com/kataras/iris/v12"
	"github.com/kataras/iris/v12/middleware/accesslog"

	"github.com/tarebench/tare/contender/server"
)

func main() { server.Main(server.Apps{"tiny": tiny}) }

type answer struct {
	ID string `json:"id"`
}

func tiny(o server.Options) (server.Server, error) {
	app := iris.New()
	app.Configure(iris.WithoutBanner, iris.WithFireMethodNotAllowed, iris.WithoutPathCorrection) // 405, and 404 where it would be 301
	if o.Log != nil {
		lines := accesslog.New(o.Log)
		lines.RequestBody, lines.BytesReceivedBody = false, false // a line per request, not its body
		app.UseRouter(func(c iris.Context) {
			o.Receipts.Layer()
			lines.Handler(c)
		})
	}
	app.Get("/v1/id/{id:string min(1)}", func(c iris.Context) {
		o.Receipts.Request()
		_ = c.JSON(answer{c.Params().Get("id")}) // it answers errors itself
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
