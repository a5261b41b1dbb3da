// Command nethttp-plain is net/http as in a published benchmark: one handler for
// all paths below /v1/id/ and all methods, which returns the last segment.
package main

import (
	"encoding/json"
	"io"
	"net/http"
	"path"

	"github.com/tarebench/tare/contender/server"
)

func main() { server.Main(server.Apps{server.Plain("tiny", serveTiny)}) }

// idResponse is the response of app tiny.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny returns the server of app tiny.
func serveTiny(o server.Options) (server.Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/id/", func(w http.ResponseWriter, r *http.Request) {
		o.Receipts.Request()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(idResponse{path.Base(r.URL.Path)}) // fails only if the client has disconnected
	})
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		o.Receipts.Request()
		_, _ = io.WriteString(w, "ok\n")
	})
	return server.HTTP(server.AccessLog(mux, o)), nil
}
