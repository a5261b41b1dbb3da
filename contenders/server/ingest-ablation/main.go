// Command ingest-ablation is app ingest on net/http and encoding/json, cut
// short at one of four levels, each of which does one thing more than the one
// before: what that costs is the difference. The last level is the whole
// service, written out once more, so that it can be compared with contender
// nethttp, which is the same service in another build.
package main

import (
	"fmt"

	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
)

func main() {
	server.Main(server.Apps{ingestserving.App(serveIngest)}, levelNames()...)
}

// level is the last step that is done with a batch.
type level int

const (
	discard level = iota // its bytes come in and are thrown away
	read                 // they are kept in a buffer
	parse                // and decoded into records
	encode               // which are checked, their metadata encoded and handed to the sink
)

// levelNames returns the variants, by level.
func levelNames() []string { return []string{"discard", "read", "parse", "encode"} }

func parseLevel(variant string) (level, error) {
	for l, name := range levelNames() {
		if name == variant {
			return level(l), nil
		}
	}
	return 0, fmt.Errorf("no level %q", variant)
}
