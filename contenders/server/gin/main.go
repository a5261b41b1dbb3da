// Command gin is gin in release mode. Variant new has no middleware except the access log of the options.
// Variant default is gin.Default(), which logs to standard output. Variant default-discard logs to nowhere.
//
// The build tags jsoniter, sonic and go_json select another JSON library. Tag configfastest encodes app
// homelab with jsoniter.ConfigFastest.
package main

import (
	"net/http"

	"github.com/gin-gonic/gin"

	homelabserving "github.com/tarebench/tare/apps/homelab/serving"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
)

func main() {
	server.Main(server.Apps{server.Plain("tiny", serveTiny), ingestserving.App(serveIngest), homelabserving.App(serveHomelab)}, listVariants()...)
}

// idResponse is {"id":"7"} for the path /v1/id/7.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny serves app tiny, which returns the id in the path as JSON.
func serveTiny(o server.Options) (server.Server, error) {
	r, err := newEngine(o)
	if err != nil {
		return nil, err
	}
	r.GET("/v1/id/:id", func(c *gin.Context) {
		o.Receipts.Request()                                 // counts the request; tare compares the count with the requests that it sent
		c.PureJSON(http.StatusOK, idResponse{c.Param("id")}) // adds the line end that the app requires
	})
	r.GET("/health", func(c *gin.Context) {
		o.Receipts.Request()
		c.String(http.StatusOK, "ok\n")
	})
	return server.HTTP(r), nil
}
