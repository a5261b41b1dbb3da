package state_grows

import "testing"

// clerk posts entries.
type clerk struct {
	book ledger
	day  int
}

func (c *clerk) settle() (int, error) {
	c.day++
	if err := c.book.post(entry{c.day, c.day % 8, 250}); err != nil {
		return 0, err
	}
	return c.book.balance(c.day % 8), nil
}

func BenchmarkSettle(b *testing.B) {
	c := &clerk{}
	for b.Loop() {
		if _, err := c.settle(); err != nil { // want `c.book gets an entry in each iteration, by post, and balance goes through all of them`
			b.Fatal(err)
		}
	}
}

func BenchmarkSettleDirectly(b *testing.B) {
	var l ledger
	for i := 0; i < b.N; i++ {
		if err := l.post(entry{i, i % 8, 250}); err != nil {
			b.Fatal(err)
		}
		lastTimes = l.balance(3) // want `l gets an entry in each iteration, by post, and balance goes through all of them`
	}
}

// The book has the same length in each iteration.
func BenchmarkSettleRollBack(b *testing.B) {
	c := &clerk{}
	for b.Loop() {
		if _, err := c.settle(); err != nil {
			b.Fatal(err)
		}
		c.book.rollBack(0)
	}
}

// Only a part of the entries is read.
func BenchmarkFirst(b *testing.B) {
	var l ledger
	for i := 0; i < b.N; i++ {
		if err := l.post(entry{i, i % 8, 250}); err != nil {
			b.Fatal(err)
		}
		lastTimes = l.first(3)
	}
}

// The book is new in each iteration.
func BenchmarkDay(b *testing.B) {
	for b.Loop() {
		var l ledger
		for i := range 100 {
			if err := l.post(entry{i, i % 8, 250}); err != nil {
				b.Fatal(err)
			}
		}
		lastTimes = l.balance(3)
	}
}

func each(b *testing.B, do func(int)) {
	froms := make([]int, 1<<20)
	for i := range froms {
		froms[i] = i * 7919 % (1 << 20)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		do(froms[i&(1<<20-1)]) // want `s gets an entry before others, which are moved,`
	}
}

func BenchmarkSpansAdd(b *testing.B) {
	s := new(spans)
	each(b, s.add)
}

func BenchmarkSpansHas(b *testing.B) {
	s := new(spans)
	for i := range 1000 {
		s.add(i)
	}
	found := 0
	each(b, func(from int) {
		if s.has(from) {
			found++
		}
	})
	if found < 0 {
		b.Fatal(found)
	}
}
