// Command nethttp-protobuf serves app ingest by net/http with google.golang.org/protobuf
// for bodies of protocol buffers, and with encoding/json for bodies of JSON and for the
// metadata of both, unless the service encodes metadata in the format of the body.
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
