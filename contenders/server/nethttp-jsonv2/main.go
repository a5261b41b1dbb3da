// Command nethttp-jsonv2 serves the apps ingest and homelab by net/http. It uses the second version of
// encoding/json, from its development repository, with default options.
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
		ingestserving.App(nethttp.Ingest(map[ingest.Format]nethttp.Decoder{ingest.JSON: decodeBatch})),
		homelabserving.App(nethttp.Homelab(nethttp.JSON{Unmarshal: unmarshalValue, Marshal: marshalValue})),
	})
}

func decodeBatch(s *ingest.Service, body []byte) (ingest.Batch, error) {
	b := s.Batch(marshalValue)
	return b, json.Unmarshal(body, b.Target())
}

// marshalValue is json.Marshal without options.
func marshalValue(v any) ([]byte, error) { return json.Marshal(v) }

// unmarshalValue is json.Unmarshal without options.
func unmarshalValue(data []byte, target any) error { return json.Unmarshal(data, target) }
