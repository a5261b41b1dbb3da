// Command nethttp is the standard library: a ServeMux with patterns, and JSON
// by encoding/json.
package main

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

func main() {
	server.Main(server.Apps{"tiny": tiny, server.AppIngest: events, server.AppHomelab: home})
}

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

func events(o server.Options) (server.Server, error) {
	return nethttp.Ingest(o, map[ingest.Format]nethttp.Decoder{ingest.JSON: decode, ingest.Gob: nethttp.Gob}), nil
}

func decode(body []byte) (ingest.Batch, error) {
	var list []ingest.Record
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	return ingest.Records(list, json.Marshal), nil
}

func home(o server.Options) (server.Server, error) {
	return nethttp.Homelab(o, nethttp.JSON{Unmarshal: json.Unmarshal, Marshal: json.Marshal}), nil
}
