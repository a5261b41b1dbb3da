// Command echo serves the apps tiny, ingest and homelab with the framework labstack/echo.
package main

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v5"

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
	e := newEcho(o)
	e.GET("/v1/id/:id", func(c *echo.Context) error {
		o.Receipts.Request() // counts the request; tare compares the count with the requests that it sent
		id := c.Param("id")
		if strings.Contains(id, "/") { // the last parameter matches the rest of the path
			return echo.ErrNotFound
		}
		id, err := server.Unescape(c.Request(), id)
		if err != nil {
			return echo.ErrBadRequest.Wrap(err)
		}
		return c.JSON(http.StatusOK, idResponse{id})
	})
	e.GET("/health", func(c *echo.Context) error {
		o.Receipts.Request()
		return c.String(http.StatusOK, "ok\n")
	})
	return server.HTTP(e), nil
}
