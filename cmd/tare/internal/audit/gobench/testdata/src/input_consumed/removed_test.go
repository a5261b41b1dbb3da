package input_consumed

import (
	"strconv"
	"sync"
	"testing"
)

type bench struct {
	x    *index[string]
	keys []string
	at   int
}

func newBench(n int) *bench {
	s := &bench{x: newIndex[string](), keys: makeKeys(n)}
	for _, k := range s.keys {
		s.x.Add(k)
	}
	return s
}

func makeKeys(n int) []string {
	var keys []string
	for i := range n {
		keys = append(keys, strconv.Itoa(i))
	}
	return keys
}

func (s *bench) next() string {
	s.at++
	return s.keys[s.at%len(s.keys)]
}

func (s *bench) removeNext() {
	s.x.Forget(s.next())
}

func BenchmarkRemoveByHelper(b *testing.B) {
	s := newBench(1000)
	b.ResetTimer()
	for range b.N {
		s.removeNext() // want `s.x.Forget removes an entry of s.x`
	}
}

func BenchmarkRemoveByTable(b *testing.B) {
	for _, op := range []struct {
		name string
		do   func(*index[string], string) bool
	}{
		{"remove", (*index[string]).Remove},
	} {
		b.Run(op.name, func(b *testing.B) {
			s := newBench(1000)
			for i := range b.N {
				_ = op.do(s.x, s.keys[i%1000]) // want `op.do removes an entry of s.x`
			}
		})
	}
}

func BenchmarkRemoveByMethodValue(b *testing.B) {
	x := newIndex[int]()
	for i := range 4096 {
		x.Add(i)
	}
	remove := x.Remove
	for i := 0; b.Loop(); i++ {
		remove(i & 4095) // want `remove removes an entry of x`
	}
}

func BenchmarkSyncMapDelete(b *testing.B) {
	var m sync.Map
	for i := range 1000 {
		m.Store(i, i)
	}
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			m.Delete(i % 1000) // want `m.Delete removes an entry of m`
		}
	})
}

func BenchmarkRemoveAndAdd(b *testing.B) {
	s := newBench(1000)
	putBack := func(key string) { s.x.Add(key) }
	for b.Loop() {
		key := s.next()
		s.x.Remove(key)
		putBack(key)
	}
}

func BenchmarkRemoveChecked(b *testing.B) {
	s := newBench(1000)
	for range b.N {
		if !s.x.Remove(s.next()) {
			b.Fatal("missing")
		}
	}
}

func BenchmarkRemoveEnough(b *testing.B) {
	x := newIndex[string]()
	keys := makeKeys(b.N)
	for _, k := range keys {
		x.Add(k)
	}
	b.ResetTimer()
	for _, k := range keys[:b.N] {
		x.Remove(k)
	}
}

func BenchmarkRemoveEnoughByHelper(b *testing.B) {
	s := newBench(b.N)
	b.ResetTimer()
	for range b.N {
		s.x.Forget(s.next())
	}
}

func BenchmarkRemoveMissing(b *testing.B) {
	s := newBench(1000)
	for range b.N {
		s.x.Remove("none")
	}
}

func BenchmarkUnset(b *testing.B) {
	s := newBench(1000)
	for range b.N {
		s.x.Unset(s.next())
	}
}
