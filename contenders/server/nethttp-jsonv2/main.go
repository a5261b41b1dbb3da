// Command nethttp-jsonv2 is net/http with the second version of encoding/json,
// from the repository where it is developed, with the options it has by default.
package main

import (
	"github.com/go-json-experiment/json"

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
			return nethttp.Homelab(o, nethttp.JSON{Unmarshal: unmarshal, Marshal: marshal}), nil
		},
	})
}

func decode(body []byte) (ingest.Batch, error) {
	var list []ingest.Record
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	return ingest.Records(list, marshal), nil
}

func marshal(v any) ([]byte, error) { return json.Marshal(v) }

func unmarshal(data []byte, into any) error { return json.Unmarshal(data, into) }
