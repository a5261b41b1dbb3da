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

func each(rows []int, put func(...int) error) error {
	for _, r := range rows {
		if err := put(r); err != nil {
			return err
		}
	}
	return nil
}

// The loop writes by a method that it passes on, by one in a variable, or in a closure.
func BenchmarkSinkByValue(b *testing.B) {
	s, rows := newSink(io.Discard), []int{1, 2, 3}
	put := s.write
	emit := func() error { return s.write(rows...) }
	for b.Loop() {
		s.restart(io.Discard) // want `s is reset and written to in each iteration, and never flushed or closed in it`
		if err := each(rows, s.write); err != nil {
			b.Fatal(err)
		}
	}
	t := newSink(io.Discard)
	put = t.write
	for b.Loop() {
		t.restart(io.Discard) // want `t is reset and written to`
		if err := put(1); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		s.restart(io.Discard) // want `s is reset and written to`
		if err := emit(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSinkDoneByValue(b *testing.B) {
	s, rows := newSink(io.Discard), []int{1, 2, 3}
	emit := func() error {
		if err := each(rows, s.write); err != nil {
			return err
		}
		return s.done()
	}
	for b.Loop() {
		s.restart(io.Discard)
		if err := emit(); err != nil {
			b.Fatal(err)
		}
	}
	t := newSink(io.Discard)
	finish := t.done
	for b.Loop() {
		t.restart(io.Discard)
		if err := each(rows, t.write); err != nil {
			b.Fatal(err)
		}
		if err := finish(); err != nil {
			b.Fatal(err)
		}
	}
}
