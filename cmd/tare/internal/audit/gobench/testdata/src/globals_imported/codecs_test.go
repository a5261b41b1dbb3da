package globals_imported_test

import (
	"testing"

	"globals_imported"
	_ "globals_imported/plain"
)

func TestReset(t *testing.T) {
	globals_imported.Reset() // want `removes what an init function registered, although BenchmarkLookup, which runs later, needs it`
	globals_imported.Register("stub", func(string) string { return "" })
	if globals_imported.Names() != 1 {
		t.Fatal("not one")
	}
}

var sink string

func BenchmarkLookup(b *testing.B) {
	f := globals_imported.Lookup("plain")
	for b.Loop() {
		sink = f("a")
	}
}
