package response_body

import (
	"io"
	"testing"
)

var lastLabel string

func BenchmarkOpenGoods(b *testing.B) {
	packed := []byte("g\x01\x00\x00\xff\xff")
	b.SetBytes(1 << 10)
	for b.Loop() {
		label, goods := openGoods(packed) // want `nothing reads goods, which openGoods opens`
		if err := goods.Close(); err != nil {
			b.Fatal(err)
		}
		lastLabel = label
	}
}

func BenchmarkOpenCrate(b *testing.B) {
	packed := []byte("g\x01\x00\x00\xff\xff")
	b.SetBytes(1 << 10)
	for b.Loop() {
		c := openCrate(packed) // want `nothing reads or closes the Goods of c, which openCrate opens`
		lastLabel = c.Label
	}
}

func BenchmarkUnpack(b *testing.B) {
	packed := []byte("g\x01\x00\x00\xff\xff")
	b.SetBytes(1 << 10)
	for b.Loop() {
		c := openCrate(packed)
		if _, err := io.Copy(io.Discard, c.Goods); err != nil {
			b.Fatal(err)
		}
		lastLabel = c.Label
	}
}
