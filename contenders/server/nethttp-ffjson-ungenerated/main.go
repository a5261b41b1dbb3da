// Command nethttp-ffjson-ungenerated is net/http with pquerna/ffjson for JSON, but without
// generated code, as in a published comparison. ffjson then passes every value to
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

// decodeBatch decodes a body.
func decodeBatch(s *ingest.Service, body []byte) (ingest.Batch, error) {
	b := s.Batch(ffjson.Marshal)
	return b, ffjson.Unmarshal(body, b.Target())
}
