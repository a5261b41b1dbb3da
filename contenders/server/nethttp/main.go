// Command nethttp is the standard library: a ServeMux with patterns.
package main

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/tarebench/tare/contender/server"
)

func main() { server.Main(server.Apps{"tiny": tiny}) }

type answer struct {
	ID string `json:"id"`
}

func tiny(o server.Options) (server.Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/id/{id}", func(w http.ResponseWriter, r *http.Request) {
		o.Receipts.Request()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer{r.PathValue("id")}) // the client has gone
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		o.Receipts.Request()
		_, _ = io.WriteString(w, "ok\n")
	})
	return server.HTTP(server.AccessLog(mux, o)), nil
}
