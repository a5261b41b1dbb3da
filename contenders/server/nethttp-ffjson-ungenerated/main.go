// Command nethttp-ffjson-ungenerated reproduces a published mistake: such a program is called a trap. It
// serves app ingest by net/http with pquerna/ffjson, but without generated code. ffjson then calls
// encoding/json, which was measured instead.
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

func decodeBatch(s *ingest.Service, body []byte) (ingest.Batch, error) {
	b := s.Batch(ffjson.Marshal)
	return b, ffjson.Unmarshal(body, b.Target())
}
