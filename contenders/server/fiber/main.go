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

// idResponse is the body of app tiny's response: {"id":"7"} for the path /v1/id/7.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny returns the server of app tiny, which sends the id in the path back as JSON.
func serveTiny(o server.Options) (server.Server, error) {
	app := newApp(o)
	app.Get("/v1/id/:id", func(c fiber.Ctx) error {
		o.Receipts.Request()                        // counts the request, so that the lab can check that all were served
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
