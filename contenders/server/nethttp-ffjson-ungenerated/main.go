// Command nethttp-ffjson-ungenerated is net/http with pquerna/ffjson for JSON, on types for
// which no code was generated, as a published comparison did: ffjson then hands
// every value to encoding/json, and what is measured is encoding/json.
package main

import (
	"github.com/pquerna/ffjson/ffjson"

	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

func main() {
	server.Main(server.Apps{ingestserving.App(nethttp.Ingest(map[ingest.Format]nethttp.Decoder{ingest.JSON: decode}))})
}

func decode(s *ingest.Service, body []byte) (ingest.Batch, error) {
	b := s.Batch(ffjson.Marshal)
	return b, ffjson.Unmarshal(body, b.Target())
}
