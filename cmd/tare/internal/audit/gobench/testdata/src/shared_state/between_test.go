package shared_state

import (
	"fmt"
	"testing"
)

// roll has entries in the order in which they were added.
type roll struct{ names []string }

func (r *roll) Enter(names ...string) {
	for _, name := range names {
		r.names = append(r.names, name)
	}
}

func (r *roll) Count(name string) int {
	n := 0
	for _, x := range r.names {
		if x == name {
			n++
		}
	}
	return n
}

func namesOf(n int) []string { return make([]string, n) }

func BenchmarkCountOfAll(b *testing.B) {
	r := &roll{}
	for _, size := range []int{10_000, 100} {
		r.Enter(namesOf(size)...) // want `r gets entries for each case, and the sub-benchmark of the next case begins with them`
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				r.Count("")
			}
		})
	}
}

// Each case has a roll of its own, or only what it lacks is added.
func BenchmarkCountOfOwn(b *testing.B) {
	for _, size := range []int{100, 10_000} {
		own := &roll{}
		own.Enter(namesOf(size)...)
		b.Run(fmt.Sprint("own", size), func(b *testing.B) {
			for b.Loop() {
				own.Count("")
			}
		})
	}
	filled, grown := &roll{}, &roll{}
	for _, size := range []int{100, 10_000} {
		for len(filled.names) < size {
			filled.Enter("")
		}
		grown.Enter(namesOf(size - len(grown.names))...)
		b.Run(fmt.Sprint("filled", size), func(b *testing.B) {
			for b.Loop() {
				filled.Count("")
				grown.Count("")
			}
		})
	}
	renewed := &roll{}
	for _, size := range []int{100, 10_000} {
		renewed.names = nil
		renewed.Enter(namesOf(size)...)
		b.Run(fmt.Sprint("renewed", size), func(b *testing.B) {
			for b.Loop() {
				renewed.Count("")
			}
		})
	}
}
