// Command nethttp-protobuf is net/http with google.golang.org/protobuf for bodies of
// that type, and encoding/json for others and for the metadata of all.
package main

import (
	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

func main() {
	server.Main(server.Apps{"ingest": func(o server.Options) (server.Server, error) {
		return nethttp.Ingest(o, map[ingest.Format]nethttp.Decoder{ingest.JSON: decodeJSON, ingest.Protobuf: decodeProtobuf}), nil
	}})
}
