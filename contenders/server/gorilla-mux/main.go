// Command gorilla-mux serves app tiny, a small HTTP API, with the router gorilla/mux. tare compares it with
// other servers.
package main

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/tarebench/tare/contender/server"
)

func main() { server.Main(server.Apps{server.Plain("tiny", serveTiny)}) }

// idResponse is {"id":"7"} for the path /v1/id/7.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny serves app tiny, which returns the id in the path as JSON.
func serveTiny(o server.Options) (server.Server, error) {
	r := mux.NewRouter()
	r.MethodNotAllowedHandler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", http.MethodGet) // gorilla/mux does not set it
		w.WriteHeader(http.StatusMethodNotAllowed)
	})
	r.HandleFunc("/v1/id/{id}", func(w http.ResponseWriter, r *http.Request) {
		o.Receipts.Request() // counts the request; tare compares the count with the requests that it sent
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(idResponse{mux.Vars(r)["id"]}) // fails only if the client has disconnected
	}).Methods(http.MethodGet)
	r.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		o.Receipts.Request()
		_, _ = io.WriteString(w, "ok\n")
	}).Methods(http.MethodGet)
	return server.HTTP(server.AccessLog(r, o)), nil
}
