package defer_in_loop

import (
	"os"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	for b.Loop() {
		f, err := os.Open(os.DevNull)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close() // want `f.Close is deferred in each iteration`
	}
}
