// Command fasthttp serves the apps tiny, ingest and homelab with valyala/fasthttp and fasthttp/router.
package main

import (
	"encoding/json"
	"net/url"

	"github.com/valyala/fasthttp"

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
	r := newRouter()
	r.GET("/v1/id/{id}", func(c *fasthttp.RequestCtx) {
		o.Receipts.Request() // counts the request; tare compares the count with the requests that it sent
		id, err := url.PathUnescape(c.UserValue("id").(string))
		if err != nil {
			c.Error(err.Error(), fasthttp.StatusBadRequest)
			return
		}
		c.SetContentType("application/json")
		_ = json.NewEncoder(c).Encode(idResponse{id}) // writing to memory cannot fail
	})
	r.GET("/health", func(c *fasthttp.RequestCtx) {
		o.Receipts.Request()
		_, _ = c.WriteString("ok\n")
	})
	return newServer(addLog(r.Handler, o), o), nil
}
