// Command ingest-ablation serves app ingest with net/http and encoding/json, and stops after one of four
// steps. Each variant does one more step. So the difference between two is a step's cost.
//
// The last variant is the complete service. Compare it with nethttp, another program with the same service.
package main

import (
	"fmt"

	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
)

func main() {
	server.Main(server.Apps{ingestserving.App(serveIngest)}, levelNames()...)
}

// level is the last step of a variant.
type level int

// Each level includes the one before, but discard drops the bytes.
const (
	discard level = iota // receive the bytes, and drop them
	read                 // receive the bytes and count records
	parse                // decode the records
	encode               // check records, encode metadata, and pass them to the sink, which stores them
)

func levelNames() []string { return []string{"discard", "read", "parse", "encode"} }

func parseLevel(variant string) (level, error) {
	for l, name := range levelNames() {
		if name == variant {
			return level(l), nil
		}
	}
	return 0, fmt.Errorf("no level %q", variant)
}
