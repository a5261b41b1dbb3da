package error_discarded

import (
	"fmt"
	"testing"
)

func TestStored(t *testing.T) {
	if err := newOnce[string]().add("a"); err != nil {
		t.Fatal(err)
	}
	s := &ids{taken: map[int]struct{}{}}
	if err := s.take(1); err != nil {
		t.Fatal(err)
	}
	if err := s.check(1); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkTakeKinds(b *testing.B) {
	for _, id := range []int{1, 1 << 20} {
		b.Run("", func(b *testing.B) {
			s := &ids{taken: map[int]struct{}{}}
			take := s.take
			for b.Loop() {
				_ = take(id) // want `although each call of take stores the same key in s.taken, which decides whether it fails`
			}
		})
	}
}

func BenchmarkOnce(b *testing.B) {
	o := newOnce[string]()
	key := "order"
	for i := 0; i < b.N; i++ {
		o.add(key) // want `although each call of add stores the same key in o.seen, which decides whether it fails`
	}
}

// Other keys, released keys and methods that store nothing do not fail.
func BenchmarkTakeAll(b *testing.B) {
	s := &ids{taken: map[int]struct{}{}}
	for i := 0; i < b.N; i++ {
		s.take(i)
	}
	r := &ids{taken: map[int]struct{}{}}
	for i := 0; i < b.N; i++ {
		r.take(1)
		r.release(1)
	}
	for i := 0; i < b.N; i++ {
		s.check(1)
	}
}

func postEach(g *ledger, entries []entry) error {
	for i, e := range entries {
		if err := g.post(e); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return nil
}

func TestLedger(t *testing.T) {
	g := &ledger{seen: map[int]bool{}}
	if postEach(g, []entry{{1, 2}}) != nil || g.postAll([]entry{{2, 2}}) != nil || g.rename("a", 1) != nil {
		t.Fatal("failed")
	}
}

// The entries are the same in each iteration, or from some iteration on.
func BenchmarkLedger(b *testing.B) {
	entries := []entry{{1, 2}, {2, 3}}
	for _, c := range []struct{ post func(*ledger, []entry) error }{{postEach}, {(*ledger).postAll}} {
		b.Run("", func(b *testing.B) {
			g := &ledger{seen: map[int]bool{}}
			for b.Loop() {
				_ = c.post(g, entries) // want `the error of c.post is discarded in the loop, although each call of post stores the same key in g.seen`
			}
		})
	}
	g := &ledger{seen: map[int]bool{}}
	for i := 0; i < b.N; i++ {
		g.post(entries[i%len(entries)]) // want `although each call of post stores the same key in g.seen`
	}
	for i := 0; i < b.N; i++ {
		g.postAll(entries) // want `although each call of postAll stores the same key in g.seen`
	}
}

func BenchmarkLedgerCleared(b *testing.B) {
	entries := []entry{{1, 2}, {2, 3}}
	g := &ledger{seen: map[int]bool{}}
	for i := 0; i < b.N; i++ {
		g.clear()
		_ = postEach(g, entries)
	}
	h := &ledger{seen: map[int]bool{}, names: map[string]int{"a": 1}}
	for i := 0; i < b.N; i++ {
		h.rename("a", i)
		h.post(entry{i, 1})
	}
}

func BenchmarkPostDuplicate(b *testing.B) {
	g := &ledger{seen: map[int]bool{}}
	e := entry{1, 2}
	for b.Loop() {
		g.post(e)
	}
}
