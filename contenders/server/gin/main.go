// Command gin is gin in release mode: new has no middleware but the access log
// that is asked for, default is gin.Default(), whose log goes to standard output
// whatever is asked for, and default-discard is the same to nowhere. Gin's own
// build tags jsoniter, sonic and go_json choose another JSON library for it; our
// tag configfastest writes answers by jsoniter.ConfigFastest and Context.Data.
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

type writeAnswer struct {
	ID string `json:"id"`
}

func serveTiny(o server.Options) (server.Server, error) {
	r, err := newEngine(o)
	if err != nil {
		return nil, err
	}
	r.GET("/v1/id/:id", func(c *gin.Context) {
		o.Receipts.Request()
		c.PureJSON(http.StatusOK, writeAnswer{c.Param("id")}) // with a line end, as the app wants it
	})
	r.GET("/health", func(c *gin.Context) {
		o.Receipts.Request()
		c.String(http.StatusOK, "ok\n")
	})
	return server.HTTP(r), nil
}
