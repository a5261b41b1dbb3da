package writer_unflushed

import (
	"bufio"
	"compress/gzip"
	"io"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	data := make([]byte, 4096)
	for b.Loop() {
		w := gzip.NewWriter(io.Discard) // want `w is written to and never flushed`
		if _, err := w.Write(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOuter(b *testing.B) {
	w := bufio.NewWriter(io.Discard)
	for b.Loop() {
		w.WriteString("text") // want `w is never flushed or closed`
	}
}
