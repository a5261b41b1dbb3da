// Command nethttp-jsonv2 is net/http with the second version of encoding/json,
// from the repository where it is developed, with the options it has by default.
package main

import (
	"github.com/go-json-experiment/json"

	homelabserving "github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

func main() {
	server.Main(server.Apps{
		ingestserving.App(nethttp.Ingest(map[ingest.Format]nethttp.Decoder{ingest.JSON: decode})),
		homelabserving.App(nethttp.Homelab(nethttp.JSON{Unmarshal: unmarshal, Marshal: marshal})),
	})
}

func decode(s *ingest.Service, body []byte) (ingest.Batch, error) {
	b := s.Batch(marshal)
	return b, json.Unmarshal(body, b.Target())
}

func marshal(v any) ([]byte, error) { return json.Marshal(v) }

func unmarshal(data []byte, into any) error { return json.Unmarshal(data, into) }
