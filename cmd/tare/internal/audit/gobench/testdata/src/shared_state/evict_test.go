package shared_state

import "testing"

func BenchmarkRecent(b *testing.B) {
	known, others := []string{"a", "b"}, []string{"x", "y", "z"}
	r := newRecent(2)
	for i, k := range known {
		r.Store(k, i)
	}
	sum := 0
	b.Run("store", func(b *testing.B) {
		i := 0
		for b.Loop() {
			r.Store(others[i%len(others)], i)
			i++
		}
	})
	b.Run("value", func(b *testing.B) {
		i := 0
		for b.Loop() {
			sum += r.Value(known[i%len(known)]) // want `r is used with keys of known, but another sub-benchmark puts those of others in their place`
			i++
		}
	})
}

func BenchmarkRecentSameKeys(b *testing.B) {
	known := []string{"a", "b"}
	r := newRecent(2)
	sum := 0
	b.Run("store", func(b *testing.B) {
		i := 0
		for b.Loop() {
			r.Store(known[i%len(known)], i)
			i++
		}
	})
	b.Run("value", func(b *testing.B) {
		i := 0
		for b.Loop() {
			sum += r.Value(known[i%len(known)])
			i++
		}
	})
}
