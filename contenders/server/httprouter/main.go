// Command httprouter serves app tiny with the router julienschmidt/httprouter.
package main

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/tarebench/tare/contender/server"
)

func main() { server.Main(server.Apps{server.Plain("tiny", serveTiny)}) }

// idResponse is {"id":"7"} for the path /v1/id/7.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny serves app tiny, which returns the id in the path as JSON.
func serveTiny(o server.Options) (server.Server, error) {
	r := httprouter.New()
	r.HandleOPTIONS = false                                     // status 405 instead of 200
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false // status 404 instead of 301
	r.GET("/v1/id/:id", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		o.Receipts.Request() // counts the request; tare compares the count with the requests that it sent
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(idResponse{p.ByName("id")}) // fails only if the client has disconnected
	})
	r.GET("/health", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		o.Receipts.Request()
		_, _ = io.WriteString(w, "ok\n")
	})
	return server.HTTP(server.AccessLog(r, o)), nil
}
