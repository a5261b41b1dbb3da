// Command fiber serves the apps tiny, ingest and homelab with the framework gofiber/fiber.
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

// idResponse is {"id":"7"} for the path /v1/id/7.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny serves app tiny, which returns the id in the path as JSON.
func serveTiny(o server.Options) (server.Server, error) {
	app := newApp(o)
	app.Get("/v1/id/:id", func(c fiber.Ctx) error {
		o.Receipts.Request()                        // counts the request; tare compares the count with the requests that it sent
		id, err := url.PathUnescape(c.Params("id")) // UnescapePath would replace plus signs
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
