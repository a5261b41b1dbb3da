package input_consumed

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func fill(w io.Writer, n int) {
	for range n {
		io.WriteString(w, "line\n")
	}
}

// The loop goes on after the last record.
func BenchmarkRecords(b *testing.B) {
	var file bytes.Buffer
	fill(&file, 2000)
	r := newRecords(&file)
	for b.Loop() {
		rec, err := r.Next() // want `r.Next reads r, which is made before the loop and never renewed: at the end of its records`
		if err == io.EOF {
			continue
		}
		if err != nil {
			b.Fatal(err)
		}
		total += rec.size
	}
	s := newRecords(strings.NewReader("a\nb\n"))
	for b.Loop() {
		rec, _ := s.Next() // want `s.Next reads s, which is made before the loop and never renewed`
		total += rec.size
	}
	t := newRecords(strings.NewReader("a\nb\n"))
	for b.Loop() {
		if _, err := t.Next(); errors.Is(err, io.EOF) { // want `t.Next reads t, which is made before the loop`
			continue
		}
		total++
	}
	w := newWalker([]int{1, 2, 3})
	for b.Loop() {
		if !w.Next() { // want `w.Next reads w, which is made before the loop`
			continue
		}
		total += w.Value()
	}
}

func readAll(r *records) (n int, err error) {
	for {
		_, err := r.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n++
	}
}

// An inner loop reads all records.
func BenchmarkAllRecords(b *testing.B) {
	r := newRecords(strings.NewReader("a\nb\n"))
	for b.Loop() {
		if _, err := readAll(r); err != nil { // want `r.Next reads r, which is made before the loop and never renewed: only the first iteration finds records`
			b.Fatal(err)
		}
	}
	w := newWalker([]int{1, 2, 3})
	for b.Loop() {
		for w.Next() { // want `w.Next reads w, which is made before the loop and never renewed: only the first iteration`
			total += w.Value()
		}
	}
}

// Readers that are renewed, begin again, end the benchmark, or have a record for each iteration.
func BenchmarkRecordsRenewed(b *testing.B) {
	text := strings.NewReader("a\nb\n")
	r := newRecords(text)
	for b.Loop() {
		text.Reset("a\nb\n")
		r.Reset(text)
		if _, err := readAll(r); err != nil {
			b.Fatal(err)
		}
	}
	seeker := strings.NewReader("a\nb\n")
	s := newRecords(seeker)
	for b.Loop() {
		if _, err := s.Next(); err == io.EOF {
			seeker.Seek(0, io.SeekStart)
			continue
		}
	}
	again := newRing([]int{1, 2, 3})
	for b.Loop() {
		for again.Next() {
			total++
		}
	}
	u := newRecords(strings.NewReader("a\nb\n"))
	for b.Loop() {
		if _, err := u.Next(); err == io.EOF {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		w := newWalker([]int{1, 2, 3})
		for w.Next() {
			total += w.Value()
		}
	}
	reader, writer := io.Pipe()
	go fill(writer, 1000)
	p := newRecords(reader)
	for b.Loop() {
		if _, err := p.Next(); err == io.EOF {
			continue
		}
	}
}

func BenchmarkRecordsOfN(b *testing.B) {
	var file bytes.Buffer
	fill(&file, b.N)
	r := newRecords(&file)
	for i := 0; i < b.N; i++ {
		if _, err := r.Next(); err == io.EOF {
			continue
		}
	}
}
