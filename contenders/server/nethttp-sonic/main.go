// Command nethttp-sonic is net/http with bytedance/sonic for JSON, in its
// default configuration.
package main

import (
	"github.com/bytedance/sonic"

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
			return nethttp.Homelab(o, nethttp.JSON{Unmarshal: sonic.Unmarshal, Marshal: sonic.Marshal}), nil
		},
	})
}

func decode(body []byte) (ingest.Batch, error) {
	var list []ingest.Record
	if err := sonic.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	return ingest.Records(list, sonic.Marshal), nil
}
