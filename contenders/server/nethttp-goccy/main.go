// Command nethttp-goccy is net/http with goccy/go-json for JSON.
package main

import (
	"github.com/goccy/go-json"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

func main() {
	server.Main(server.Apps{
		"ingest": func(o server.Options) (server.Server, error) {
			return nethttp.Ingest(o, map[ingest.Format]nethttp.Decoder{ingest.JSON: decode}), nil
		},
		"homelab": func(o server.Options) (server.Server, error) {
			return nethttp.Homelab(o, nethttp.JSON{Unmarshal: json.Unmarshal, Marshal: json.Marshal}), nil
		},
	})
}

func decode(body []byte) (ingest.Batch, error) {
	var list []ingest.Record
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	return ingest.Records(list, json.Marshal), nil
}
