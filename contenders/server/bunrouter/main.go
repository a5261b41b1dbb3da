// Command bunrouter serves app tiny with the router uptrace/bunrouter.
package main

import (
	"io"
	"net/http"

	"github.com/uptrace/bunrouter"

	"github.com/tarebench/tare/contender/server"
)

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
		o.Receipts.Request() // compared with the requests sent
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
