package state

import (
	"flag"
	"os"
	"testing"
)

var rows int
var sink int

// Under go test -run=^$ -bench=. there is a hundred times as much to do.
func TestMain(m *testing.M) {
	flag.Parse()
	rows = 100
	if flag.Lookup("test.run").Value.String() == "^$" {
		rows = 10_000
	}
	os.Exit(m.Run())
}

func BenchmarkRows(b *testing.B) {
	for i := 0; i < b.N; i++ {
		for j := range rows {
			sink += j
		}
	}
}
