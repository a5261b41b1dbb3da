// Command nethttp-goccy is net/http with goccy/go-json for JSON.
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
		ingestserving.App(nethttp.Ingest(map[ingest.Format]nethttp.Decoder{ingest.JSON: decode})),
		homelabserving.App(nethttp.Homelab(nethttp.JSON{Unmarshal: json.Unmarshal, Marshal: json.Marshal})),
	})
}

func decode(body []byte) (ingest.Batch, error) {
	var list []ingest.Record
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	return ingest.Records(list, json.Marshal), nil
}
