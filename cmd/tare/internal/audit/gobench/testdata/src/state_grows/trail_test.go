package state_grows

import "testing"

// trail is a walk over a field.
type trail struct{ steps []int }

// step returns how often the walker has been at a place.
func (t *trail) step(at int) (times int) {
	t.steps = append(t.steps, at)
	for _, s := range t.steps {
		if s == at {
			times++
		}
	}
	return times
}

// last only looks at the end of the walk.
func (t *trail) last() int { return t.steps[len(t.steps)-1] }

var lastTimes int

func BenchmarkStep(b *testing.B) {
	t := &trail{}
	for i := 0; i < b.N; i++ {
		lastTimes = t.step(i % 8) // want `t gets an entry and is looked through in each iteration`
	}
}

func BenchmarkLast(b *testing.B) {
	t := &trail{steps: []int{1, 2}}
	for i := 0; i < b.N; i++ {
		lastTimes = t.last()
	}
}
