// Command nethttp-goccy serves the apps ingest and homelab by net/http, with goccy/go-json
// for JSON.
package main

import (
	"github.com/goccy/go-json"

	homelabserving "github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

func main() {
	server.Main(server.Apps{
		ingestserving.App(nethttp.Ingest(map[ingest.Format]nethttp.Decoder{ingest.JSON: decodeBatch})),
		homelabserving.App(nethttp.Homelab(nethttp.JSON{Unmarshal: json.Unmarshal, Marshal: json.Marshal})),
	})
}

func decodeBatch(s *ingest.Service, body []byte) (ingest.Batch, error) {
	b := s.Batch(json.Marshal)
	return b, json.Unmarshal(body, b.Target())
}
