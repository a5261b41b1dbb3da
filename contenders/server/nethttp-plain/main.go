// Command nethttp-plain reproduces a published mistake: such a program is called a trap. It serves app tiny by
// net/http. One handler for all methods, and all paths below /v1/id/, returns the last segment.
package main

import (
	"encoding/json"
	"io"
	"net/http"
	"path"

	"github.com/tarebench/tare/contender/server"
)

func main() { server.Main(server.Apps{server.Plain("tiny", serveTiny)}) }

// idResponse is {"id":"7"} for the path /v1/id/7.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny serves app tiny, which returns the id in the path as JSON.
func serveTiny(o server.Options) (server.Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/id/", func(w http.ResponseWriter, r *http.Request) {
		o.Receipts.Request() // counts the request; tare compares the count with the requests that it sent
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(idResponse{path.Base(r.URL.Path)}) // fails only if the client has disconnected
	})
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		o.Receipts.Request()
		_, _ = io.WriteString(w, "ok\n")
	})
	return server.HTTP(server.AccessLog(mux, o)), nil
}
