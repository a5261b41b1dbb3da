// Command fiber is gofiber/fiber.
package main

import (
	"net/url"

	"github.com/gofiber/fiber/v3"

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
	app := newApp(o)
	app.Get("/v1/id/:id", func(c fiber.Ctx) error {
		o.Receipts.Request()
		id, err := url.PathUnescape(c.Params("id")) // UnescapePath would make blanks of plus signs
		if err != nil {
			return fiber.ErrBadRequest
		}
		return c.JSON(writeAnswer{id})
	})
	app.Get("/health", func(c fiber.Ctx) error {
		o.Receipts.Request()
		return c.SendString("ok\n")
	})
	return quiet{app}, nil
}
