package shared_random

import (
	"math/rand"
	"sync"
	"testing"
)

type stream struct {
	sync.Mutex
	z *rand.Zipf
}

func newStream() *stream {
	return &stream{z: rand.NewZipf(rand.New(rand.NewSource(1)), 1.1, 1, 99)}
}

func (s *stream) next() uint64 {
	s.Lock()
	n := s.z.Uint64()
	s.Unlock()
	return n
}

type table struct {
	mu sync.RWMutex
	m  map[int]int
}

func (t *table) get(key int) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.m[key]
}

func BenchmarkLocked(b *testing.B) {
	next := newStream().next
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			next() // want `all goroutines wait for the lock around s.z` `random-timed`
		}
	})
	t := &table{}
	var mu sync.Mutex
	rng := rand.New(rand.NewSource(1))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			mu.Lock()
			key := rng.Intn(100) // want `all goroutines wait for the lock around rng`
			mu.Unlock()
			t.get(key)
		}
	})
	pick := func() int {
		mu.Lock()
		defer mu.Unlock()
		return int(rng.Int31n(9))
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			t.get(pick()) // want `all goroutines wait for the lock around rng`
		}
	})
	// The lock is for the table, too.
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			mu.Lock()
			t.m[rng.Intn(100)] = t.get(1)
			mu.Unlock()
		}
	})
	// Each goroutine has its own.
	b.RunParallel(func(pb *testing.PB) {
		own := newStream()
		for pb.Next() {
			t.get(int(own.next()))
		}
	})
}
