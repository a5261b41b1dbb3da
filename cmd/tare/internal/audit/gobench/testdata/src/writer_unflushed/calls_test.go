package writer_unflushed

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"
)

type rows struct{ w *csv.Writer }

func newRows(w io.Writer) *rows { return &rows{csv.NewWriter(w)} }

func (r *rows) add(cells ...string) { r.w.Write(cells) }

func (r *rows) Close() error {
	r.w.Flush()
	return r.w.Error()
}

func fill(w *bufio.Writer) {
	for i := range 10 {
		fmt.Fprintln(w, i)
	}
}

func fillAll(w *bufio.Writer) {
	fill(w)
	w.Flush()
}

func encode(dst io.Writer, v any) error {
	w := bufio.NewWriter(dst) // want `w is written to and never flushed or closed`
	return json.NewEncoder(w).Encode(v)
}

func addTo(r *rows) { r.add("a", "b") }

var pool = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func BenchmarkCalls(b *testing.B) {
	text := []byte("text")
	gz := gzip.NewWriter(io.Discard)
	for b.Loop() {
		if err := encode(io.Discard, text); err != nil {
			b.Fatal(err)
		}

		w := bufio.NewWriter(io.Discard) // want `w is written to and never flushed or closed`
		fill(w)

		r := newRows(io.Discard) // want `r is written to and never flushed or closed`
		r.add("a", "b")
		addTo(newRows(io.Discard)) // want `the writer that newRows.io.Discard. returns is written to by addTo`

		gz.Reset(io.Discard) // want `gz is reset and written to in each iteration`
		gz.Write(text)

		pooled := pool.Get().(*gzip.Writer) // want `pooled is written to and never flushed or closed`
		pooled.Reset(io.Discard)
		pooled.Write(text)
		pool.Put(pooled)

		enc := base64.NewEncoder(base64.StdEncoding, io.Discard) // want `enc is written to and never flushed or closed`
		enc.Write(text)
	}
}

func BenchmarkFlushed(b *testing.B) {
	gz := gzip.NewWriter(io.Discard)
	for b.Loop() {
		w := bufio.NewWriter(io.Discard)
		fillAll(w)
		r := newRows(io.Discard)
		addTo(r)
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		gz.Reset(io.Discard)
		gz.Write([]byte("text"))
		gz.Close()
	}
}

// The method Close is a value, which the loop calls.
func BenchmarkCloseValue(b *testing.B) {
	data := make([]byte, 4096)
	w := gzip.NewWriter(io.Discard)
	finish := w.Close
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		w.Reset(io.Discard)
		if _, err := w.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := finish(); err != nil {
			b.Fatal(err)
		}
	}
}
