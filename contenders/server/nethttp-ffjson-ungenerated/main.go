// Command nethttp-ffjson-ungenerated is a trap, a contender that reproduces a published
// mistake. It serves app ingest by net/http with pquerna/ffjson for JSON, but without
// generated code, as a published comparison did. ffjson then passes every value to
// encoding/json, so that encoding/json is measured.
package main

import (
	"github.com/pquerna/ffjson/ffjson"

	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

func main() {
	server.Main(server.Apps{ingestserving.App(nethttp.Ingest(map[ingest.Format]nethttp.Decoder{ingest.JSON: decodeBatch}))})
}

// decodeBatch decodes the body of a request of app ingest.
func decodeBatch(s *ingest.Service, body []byte) (ingest.Batch, error) {
	b := s.Batch(ffjson.Marshal)
	return b, ffjson.Unmarshal(body, b.Target())
}
