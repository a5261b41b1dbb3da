package restored_test

import (
	"testing"

	_ "globals_imported/plain"
	"globals_imported/restored"
)

func TestReset(t *testing.T) {
	f := restored.Lookup("plain")
	t.Cleanup(func() { restored.Register("plain", f) })
	restored.Reset()
}

var sink string

func BenchmarkLookup(b *testing.B) {
	f := restored.Lookup("plain")
	for b.Loop() {
		sink = f("a")
	}
}
