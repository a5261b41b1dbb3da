package writer_unflushed

import (
	"bytes"
	"testing"
)

func BenchmarkPack(b *testing.B) {
	var out bytes.Buffer
	p, err := newPacker(&out, 6)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		out.Reset()
		p.Reset(&out) // want `p is reset and written to in each iteration`
		if _, err := p.Write([]byte("some text")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPackClosed(b *testing.B) {
	var out bytes.Buffer
	p, err := newPacker(&out, 6)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		out.Reset()
		p.Reset(&out)
		if _, err := p.Write([]byte("some text")); err != nil {
			b.Fatal(err)
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
