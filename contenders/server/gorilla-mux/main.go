// Command gorilla-mux is gorilla/mux.
package main

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/tarebench/tare/contender/server"
)

func main() { server.Main(server.Apps{server.Plain("tiny", serveTiny)}) }

// idResponse is the response of app tiny.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny returns the server of app tiny.
func serveTiny(o server.Options) (server.Server, error) {
	r := mux.NewRouter()
	r.MethodNotAllowedHandler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", http.MethodGet) // gorilla/mux does not set it
		w.WriteHeader(http.StatusMethodNotAllowed)
	})
	r.HandleFunc("/v1/id/{id}", func(w http.ResponseWriter, r *http.Request) {
		o.Receipts.Request()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(idResponse{mux.Vars(r)["id"]}) // fails only if the client has disconnected
	}).Methods(http.MethodGet)
	r.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		o.Receipts.Request()
		_, _ = io.WriteString(w, "ok\n")
	}).Methods(http.MethodGet)
	return server.HTTP(server.AccessLog(r, o)), nil
}
