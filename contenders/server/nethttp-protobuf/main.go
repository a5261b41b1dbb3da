// Command nethttp-protobuf serves app ingest by net/http. It decodes bodies with google.golang.org/protobuf,
// or encoding/json for JSON. Metadata is JSON, unless the service keeps the format of the body.
package main

import (
	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

func main() {
	server.Main(server.Apps{ingestserving.App(nethttp.Ingest(map[ingest.Format]nethttp.Decoder{
		ingest.JSON:     decodeJSON,
		ingest.Protobuf: decodeProtobuf,
	}))})
}
