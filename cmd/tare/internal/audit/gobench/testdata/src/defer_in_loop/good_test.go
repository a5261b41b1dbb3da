package defer_in_loop

import (
	"os"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	for b.Loop() {
		f, err := os.Open(os.DevNull)
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}
