package writer_unflushed

import (
	"compress/gzip"
	"io"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	data := make([]byte, 4096)
	for b.Loop() {
		w := gzip.NewWriter(io.Discard)
		if _, err := w.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
