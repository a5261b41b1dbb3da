package state_grows

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

type sorted struct{ keys []uint64 }

func (s *sorted) Put(key uint64) {
	i, found := slices.BinarySearch(s.keys, key)
	if !found {
		s.keys = slices.Insert(s.keys, i, key)
	}
}

func BenchmarkPut(b *testing.B) {
	keys := make([]uint64, b.N)
	for i := range keys {
		keys[i] = rand.Uint64()
	}
	var s sorted
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		s.Put(keys[i]) // want `s gets an entry before others, which are moved, in each iteration`
	}
}

func BenchmarkPutRandom(b *testing.B) {
	var s sorted
	for b.Loop() {
		s.Put(rand.Uint64()) // want `s gets an entry before others`
	}
}

// There are at most 1,000 keys.
func BenchmarkPutKnown(b *testing.B) {
	var s sorted
	for i := 0; i < b.N; i++ {
		s.Put(uint64(i % 1000))
	}
}

// Each iteration has an index of its own.
func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		var s sorted
		for i := range uint64(1000) {
			s.Put(i)
		}
	}
}

// queue keeps its jobs by their priority.
type queue struct{ jobs []int }

func (q *queue) add(job int) {
	at := len(q.jobs)
	for i, other := range q.jobs {
		if job < other {
			at = i
			break
		}
	}
	q.jobs = append(q.jobs, 0)
	copy(q.jobs[at+1:], q.jobs[at:])
	q.jobs[at] = job
}

func BenchmarkAdd(b *testing.B) {
	jobs := []int{3, 1, 2}
	var q queue
	for i := 0; i < b.N; i++ {
		q.add(jobs[i%len(jobs)]) // want `q gets an entry before others`
	}
}

func BenchmarkAddAll(b *testing.B) {
	jobs := []int{3, 1, 2}
	for i := 0; i < b.N; i++ {
		var q queue
		for _, job := range jobs {
			q.add(job)
		}
	}
}

// column keeps its layers by their depth.
type column struct{ depths []int }

func (c *column) insert(depth int) {
	i := sort.Search(len(c.depths), func(i int) bool { return c.depths[i] > depth })
	c.depths = slices.Insert(c.depths, i, depth)
}

func BenchmarkInsert(b *testing.B) {
	depths := []int{3, 1, 2}
	var c column
	for i := 0; i < b.N; i++ {
		c.insert(depths[i%len(depths)]) // want `c gets an entry before others`
	}
}
