// Command nethttp-plain is plain Go as it was published: one handler for every
// path below /v1/id/, whatever the method, which answers with the last segment.
package main

import (
	"encoding/json"
	"io"
	"net/http"
	"path"

	"github.com/tarebench/tare/contender/server"
)

func main() { server.Main(server.Apps{server.Plain("tiny", tiny)}) }

type answer struct {
	ID string `json:"id"`
}

func tiny(o server.Options) (server.Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/id/", func(w http.ResponseWriter, r *http.Request) {
		o.Receipts.Request()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer{path.Base(r.URL.Path)}) // the client has gone
	})
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		o.Receipts.Request()
		_, _ = io.WriteString(w, "ok\n")
	})
	return server.HTTP(server.AccessLog(mux, o)), nil
}
