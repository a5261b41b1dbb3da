package unlike_work

import (
	"strconv"
	"testing"
)

type bale struct{ buf []byte }

func newBale(all []int) *bale {
	n := 0
	for range all {
		n += 4
	}
	return &bale{make([]byte, 0, n)}
}

func (b *bale) put(x int) { b.buf = append(b.buf, byte(x)) }

func (b *bale) bytes() []byte { return b.buf }

func textOf(all []int) (out []byte) {
	for _, x := range all {
		out = strconv.AppendInt(out, int64(x), 10)
	}
	return out
}

func packAll(all []int) []byte {
	b := newBale(all)
	for _, x := range all {
		b.put(x)
	}
	return b.bytes()
}

var lastBale []byte

func BenchmarkBales(b *testing.B) {
	all := make([]int, 500)
	b.Run("text", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			lastBale = textOf(all)
		}
	})
	b.Run("packed", func(b *testing.B) {
		for i := 0; i < b.N; i++ { // want `makes room for its output and writes nothing into it`
			p := newBale(all)
			lastBale = p.bytes()
		}
	})
}

func BenchmarkBalesOfTable(b *testing.B) {
	all := make([]int, 500)
	for _, f := range []struct {
		name  string
		store func([]int) []byte
	}{
		{"text", textOf},
		{"packed", func(all []int) []byte { // want `makes room for its output and writes nothing into it`
			p := newBale(all)
			return p.bytes()
		}},
	} {
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				lastBale = f.store(all)
			}
		})
	}
}

func BenchmarkEqualBales(b *testing.B) {
	all := make([]int, 500)
	b.Run("text", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			lastBale = textOf(all)
		}
	})
	b.Run("packed", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			lastBale = packAll(all)
		}
	})
}
