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

// idResponse is the response of app tiny.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny returns the server of app tiny.
func serveTiny(o server.Options) (server.Server, error) {
	app := newApp(o)
	app.Get("/v1/id/:id", func(c fiber.Ctx) error {
		o.Receipts.Request()
		id, err := url.PathUnescape(c.Params("id")) // fiber's UnescapePath would replace plus signs by blanks
		if err != nil {
			return fiber.ErrBadRequest
		}
		return c.JSON(idResponse{id})
	})
	app.Get("/health", func(c fiber.Ctx) error {
		o.Receipts.Request()
		return c.SendString("ok\n")
	})
	return quietApp{app}, nil
}
