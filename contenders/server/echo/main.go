// Command echo is labstack/echo.
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

// idResponse is the response of app tiny.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny returns the server of app tiny.
func serveTiny(o server.Options) (server.Server, error) {
	e := newEcho(o)
	e.GET("/v1/id/:id", func(c *echo.Context) error {
		o.Receipts.Request()
		id := c.Param("id")
		if strings.Contains(id, "/") { // the last parameter of echo matches the rest of the path
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
