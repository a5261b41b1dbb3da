package writer_unflushed

import (
	"io"
	"testing"
)

func BenchmarkSink(b *testing.B) {
	s := newSink(io.Discard)
	for b.Loop() {
		s.restart(io.Discard) // want `s is reset and written to in each iteration, and never flushed or closed in it`
		if err := s.write(1, 2, 3); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSinkDone(b *testing.B) {
	s := newSink(io.Discard)
	for b.Loop() {
		s.restart(io.Discard)
		if err := s.write(1, 2, 3); err != nil {
			b.Fatal(err)
		}
		if err := s.done(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSinkBegin(b *testing.B) {
	s := newSink(io.Discard)
	for b.Loop() {
		if err := s.begin(io.Discard); err != nil {
			b.Fatal(err)
		}
		if err := s.write(1, 2, 3); err != nil {
			b.Fatal(err)
		}
	}
}
