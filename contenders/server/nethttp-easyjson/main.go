// Command nethttp-easyjson is net/http with code that mailru/easyjson generated
// for the types of app ingest.
package main

import (
	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

func main() {
	server.Main(server.Apps{"ingest": func(o server.Options) (server.Server, error) {
		return nethttp.Ingest(o, map[ingest.Format]nethttp.Decoder{ingest.JSON: decode}), nil
	}})
}
