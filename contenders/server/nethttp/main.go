// Command nethttp serves the apps tiny, ingest and homelab with the standard library: a ServeMux and
// encoding/json.
package main

import (
	"encoding/json"
	"io"
	"net/http"

	homelabserving "github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

func main() {
	server.Main(server.Apps{
		server.Plain("tiny", serveTiny),
		ingestserving.App(nethttp.Ingest(map[ingest.Format]nethttp.Decoder{
			ingest.JSON: decodeBatch,
			ingest.Gob:  nethttp.Gob,
		})),
		homelabserving.App(nethttp.Homelab(nethttp.JSON{Unmarshal: json.Unmarshal, Marshal: json.Marshal})),
	})
}

// idResponse is {"id":"7"} for the path /v1/id/7.
type idResponse struct {
	ID string `json:"id"`
}

// serveTiny serves app tiny, which returns the id in the path as JSON.
func serveTiny(o server.Options) (server.Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/id/{id}", func(w http.ResponseWriter, r *http.Request) {
		o.Receipts.Request() // counts the request; tare compares the count with the requests that it sent
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(idResponse{r.PathValue("id")}) // fails only if the client has disconnected
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		o.Receipts.Request()
		_, _ = io.WriteString(w, "ok\n")
	})
	return server.HTTP(server.AccessLog(mux, o)), nil
}

func decodeBatch(s *ingest.Service, body []byte) (ingest.Batch, error) {
	b := s.Batch(json.Marshal)
	return b, json.Unmarshal(body, b.Target())
}
