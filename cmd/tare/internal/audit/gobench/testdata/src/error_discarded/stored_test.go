package error_discarded

import "testing"

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
