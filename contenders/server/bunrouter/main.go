// Command bunrouter serves app tiny with the router uptrace/bunrouter. App tiny is a small HTTP API, for
// comparisons of servers: GET /v1/id/7 returns {"id":"7"}.
package main

import (
	"io"
	"net/http"

	"github.com/uptrace/bunrouter"

	"github.com/tarebench/tare/contender/server"
)

// main serves app tiny as tare or the command line requests. Plain makes an app that has no settings.
func main() { server.Main(server.Apps{server.Plain("tiny", serveTiny)}) }

// idResponse is {"id":"7"} for the path /v1/id/7.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny serves app tiny, which returns the id in the path as JSON.
func serveTiny(o server.Options) (server.Server, error) {
	r := bunrouter.New(bunrouter.WithMethodNotAllowedHandler(func(w http.ResponseWriter, _ bunrouter.Request) error {
		w.Header().Set("Allow", http.MethodGet) // bunrouter does not set it
		w.WriteHeader(http.StatusMethodNotAllowed)
		return nil
	}))
	r.GET("/v1/id/:id", func(w http.ResponseWriter, q bunrouter.Request) error {
		o.Receipts.Request() // counts the request; tare compares the count with the requests that it sent
		id, err := server.Unescape(q.Request, q.Param("id"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return nil
		}
		return bunrouter.JSON(w, idResponse{id})
	})
	r.GET("/health", func(w http.ResponseWriter, _ bunrouter.Request) error {
		o.Receipts.Request()
		_, err := io.WriteString(w, "ok\n")
		return err
	})
	return server.HTTP(server.AccessLog(r, o)), nil
}
