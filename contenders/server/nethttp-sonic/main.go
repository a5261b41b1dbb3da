// Command nethttp-sonic serves the apps ingest and homelab by net/http, with bytedance/sonic in its default
// configuration.
package main

import (
	"github.com/bytedance/sonic"

	homelabserving "github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

func main() {
	server.Main(server.Apps{
		ingestserving.App(nethttp.Ingest(map[ingest.Format]nethttp.Decoder{ingest.JSON: decodeBatch})),
		homelabserving.App(nethttp.Homelab(nethttp.JSON{Unmarshal: sonic.Unmarshal, Marshal: sonic.Marshal})),
	})
}

func decodeBatch(s *ingest.Service, body []byte) (ingest.Batch, error) {
	b := s.Batch(sonic.Marshal)
	return b, sonic.Unmarshal(body, b.Target())
}
