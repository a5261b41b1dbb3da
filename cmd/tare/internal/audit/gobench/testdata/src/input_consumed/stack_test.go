package input_consumed

import "testing"

var total int

func BenchmarkPop(b *testing.B) {
	s := newStack(1000)
	for i := 0; i < b.N; i++ {
		x, _ := s.Pop() // want `s.Pop takes an entry from s`
		total += x
	}
}

func BenchmarkPopStatement(b *testing.B) {
	s := newStack(1000)
	for b.Loop() {
		s.Pop() // want `s.Pop takes an entry from s`
	}
}

func BenchmarkPopAll(b *testing.B) {
	s := newStack(b.N)
	for i := 0; i < b.N; i++ {
		x, _ := s.Pop() // want `s has b.N entries`
		total += x
	}
}

func BenchmarkPopFilled(b *testing.B) {
	s := newStack(0)
	for i := 0; i < b.N; i++ {
		s.Push(i)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		x, _ := s.Pop() // want `s has b.N entries`
		total += x
	}
}

func BenchmarkPushPop(b *testing.B) {
	s := newStack(10)
	for i := 0; i < b.N; i++ {
		x, _ := s.Pop()
		s.Push(x)
	}
}

var lastItem, hasItem = 0, false

func BenchmarkPopToSinks(b *testing.B) {
	s := newStack(1000)
	for b.Loop() {
		lastItem, hasItem = s.Pop() // want `s.Pop takes an entry from s`
	}
}

var isLeft bool

func BenchmarkPopWhileLeft(b *testing.B) {
	s := newStack(1000)
	for b.Loop() {
		if _, isLeft = s.Pop(); !isLeft {
			b.Fatal("empty")
		}
	}
}

func BenchmarkPopGuarded(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run("", func(b *testing.B) {
			s := newStack(n)
			for i := 0; i < b.N; i++ {
				if x, ok := s.Pop(); ok { // want `s.Pop takes an entry from s`
					total = x
				}
			}
		})
	}
}

// A test of the result in the loop shows an empty stack.
func BenchmarkPopChecked(b *testing.B) {
	s := newStack(1000)
	for i := 0; i < b.N; i++ {
		if x, ok := s.Pop(); ok {
			total = x
		} else {
			s = newStack(1000)
		}
	}
}
