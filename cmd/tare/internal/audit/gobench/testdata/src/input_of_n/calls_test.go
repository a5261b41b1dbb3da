package input_of_n

import (
	"sort"
	"testing"
)

type stack struct{ items []int }

func (s *stack) Push(x int) { s.items = append(s.items, x) }

func (s *stack) Pop() int {
	x := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return x
}

func filled(n int) *stack {
	s := new(stack)
	for i := range n {
		s.Push(i)
	}
	return s
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = n - i
	}
	return out
}

func BenchmarkFilled(b *testing.B) {
	n := b.N
	s := filled(n)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		s.Pop() // want `s has b.N entries`
	}
}

func BenchmarkFilledBefore(b *testing.B) {
	s := new(stack)
	for i := range b.N {
		s.Push(i)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		s.Pop() // want `s has b.N entries`
	}
}

func BenchmarkMade(b *testing.B) {
	data := numbers(b.N)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		sort.Ints(data) // want `each iteration works on data, which has b.N elements` `input-sorted`
	}
}

func BenchmarkRange(b *testing.B) {
	data := make([]int, b.N)
	sum := 0
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for _, x := range data { // want `each iteration goes through data`
			sum += x
		}
	}
	b.Log(sum)
}

func BenchmarkPrefix(b *testing.B) {
	data := make([]int, b.N)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		sort.Ints(data[:i]) // want `has an input as large as the iteration's number`
	}
}

// An input of its own for each iteration, and a container of fixed size.
func BenchmarkOwn(b *testing.B) {
	data, s := numbers(b.N), filled(1000)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		s.Push(data[i] + s.Pop())
	}
}

func fill(s *stack, n int) {
	for i := range n {
		s.Push(i)
	}
}

func BenchmarkFilledByCall(b *testing.B) {
	s := new(stack)
	fill(s, b.N)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		s.Pop() // want `s has b.N entries`
	}
}

func BenchmarkFilledByCounter(b *testing.B) {
	for i := 0; i < b.N; i++ {
		fill(new(stack), i) // want `has an input as large as the iteration's number`
	}
}
