package shared_random

import (
	"math/rand"
	"testing"
)

func benchmarkDraws(b *testing.B, makeDraw func() func() uint32) {
	b.RunParallel(func(pb *testing.PB) {
		draw := makeDraw()
		for pb.Next() {
			draw() // want `random-timed`
		}
	})
}

func BenchmarkOwnSource(b *testing.B) {
	benchmarkDraws(b, func() func() uint32 {
		r := rand.New(rand.NewSource(7))
		return func() uint32 { return r.Uint32() }
	})
}
