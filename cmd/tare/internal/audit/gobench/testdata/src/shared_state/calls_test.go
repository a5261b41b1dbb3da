package shared_state

import (
	"container/list"
	"testing"
)

type journal struct{ lines []string }

func (j *journal) Write(line string) { j.lines = append(j.lines, line) }

func (j *journal) Count() int { return len(j.lines) }

func (j *journal) Reset() { j.lines = nil }

type bench struct{ log *journal }

func (s bench) write(b *testing.B) {
	for b.Loop() {
		s.log.Write("line")
	}
}

func (s bench) count(b *testing.B) {
	for b.Loop() {
		s.log.Count() // want `s.log is used in this line, but another sub-benchmark adds an entry in each iteration`
	}
}

func BenchmarkMethods(b *testing.B) {
	s := bench{&journal{lines: make([]string, 10)}}
	b.Run("write", s.write)
	b.Run("count", s.count)
}

func BenchmarkClosures(b *testing.B) {
	var entries list.List
	entries.PushBack(0)
	add := func() { entries.PushBack(1) }
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			add()
		}
	})
	b.Run("walk", func(b *testing.B) {
		for b.Loop() {
			for e := entries.Front(); e != nil; e = e.Next() { // want `entries is used in this line`
			}
		}
	})
}

func BenchmarkCarried(b *testing.B) {
	j := new(journal)
	for _, line := range []string{"a", "bb"} {
		b.Run(line, func(b *testing.B) {
			for b.Loop() {
				j.Write(line) // want `j gets an entry in each iteration, and the sub-benchmark of the next case begins with them`
			}
		})
	}
}

// Each case and each sub-benchmark has a journal of its own, or begins with an empty one.
func BenchmarkOwn(b *testing.B) {
	for _, line := range []string{"a", "bb"} {
		j := new(journal)
		b.Run(line, func(b *testing.B) {
			for b.Loop() {
				j.Write(line)
			}
		})
	}
	j := new(journal)
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			j.Write("c")
		}
	})
	j.Reset()
	b.Run("count", func(b *testing.B) {
		for b.Loop() {
			j.Count()
		}
	})
}

func BenchmarkSlice(b *testing.B) {
	var items []int
	b.Run("push", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			items = append(items, i)
		}
	})
	b.Run("walk", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			for _, x := range items { // want `items is used in this line`
				if x < 0 {
					b.Fatal(x)
				}
			}
		}
	})
}
