package shared_random

import (
	"math/rand"
	"sync"
	"testing"
)

type world struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (w *world) pick() int { return w.rng.Intn(9) } // want `w is a random source that all goroutines share`

func (w *world) lockedPick() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.Intn(9)
}

var zipf = rand.NewZipf(rand.New(rand.NewSource(1)), 1.1, 1, 99)

func draw(pb *testing.PB) {
	for pb.Next() {
		zipf.Uint64() // want `zipf is a random source that all goroutines share`
	}
}

func roll(r *rand.Rand) int { return r.Intn(6) }

func BenchmarkCalls(b *testing.B) {
	w := &world{rng: rand.New(rand.NewSource(1))}
	b.RunParallel(draw)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			w.pick() // want `random-timed: the call of w.pick`
		}
	})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			w.lockedPick() // want `all goroutines wait for the lock around w.rng`
		}
	})
	next := w.rng.Int63
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			next() // want `w is a random source that all goroutines share`
		}
	})
	b.RunParallel(func(pb *testing.PB) {
		own := rand.New(rand.NewSource(1))
		for pb.Next() {
			roll(own)
		}
	})
}
