package shared_state

import "testing"

// planner remembers the ways that it has found.
type planner struct{ known map[int]int }

func (p *planner) way(to, step int) int {
	if n, ok := p.known[to]; ok {
		return n
	}
	n := 0
	for i := 0; i < to; i += step {
		n++
	}
	p.known[to] = n
	return n
}

var waySink int

func BenchmarkWays(b *testing.B) {
	p := &planner{known: map[int]int{}}
	for _, tt := range []struct {
		name string
		step int
	}{{"short", 1}, {"long", 5}} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				for to := range 100 {
					waySink = p.way(to, tt.step) // want `p remembers what it was asked for`
				}
			}
		})
	}
}

func BenchmarkWaysOfOwnPlanner(b *testing.B) {
	for _, tt := range []struct {
		name string
		step int
	}{{"short", 1}, {"long", 5}} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				p := &planner{known: map[int]int{}}
				for to := range 100 {
					waySink = p.way(to, tt.step)
				}
			}
		})
	}
}
