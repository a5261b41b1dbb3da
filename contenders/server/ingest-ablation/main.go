// Command ingest-ablation serves app ingest with net/http and encoding/json, and
// stops after one of four steps. Each variant does one step more than the variant
// before, so that the difference between two variants is the cost of a step. The
// last variant is the complete service, implemented again. It can be compared
// with contender nethttp, which is the same service in another program.
package main

import (
	"fmt"

	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
)

func main() {
	server.Main(server.Apps{ingestserving.App(serveIngest)}, levelNames()...)
}

// level is the last step that a variant does with a batch.
type level int

// Levels. Each includes the work of the level before, except that discard drops the bytes.
const (
	discard level = iota // receive the bytes, and drop them
	read                 // receive the bytes into a buffer, and count the records
	parse                // decode the records
	encode               // check the records, encode their metadata, and pass them to the sink, which stores them
)

// levelNames returns the names of the variants, in the order of levels.
func levelNames() []string { return []string{"discard", "read", "parse", "encode"} }

// parseLevel returns the level of a variant.
func parseLevel(variant string) (level, error) {
	for l, name := range levelNames() {
		if name == variant {
			return level(l), nil
		}
	}
	return 0, fmt.Errorf("no level %q", variant)
}
