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

// held holds texts, and drops them by swapping the last one into their place.
type held struct{ byLen map[int][]string }

func (h *held) assert(text string) (same int) {
	for _, other := range h.byLen[len(text)] {
		if other == text {
			same++
		}
	}
	h.byLen[len(text)] = append(h.byLen[len(text)], text)
	return same
}

func (h *held) retract(text string) bool {
	list := h.byLen[len(text)]
	for i, other := range list {
		if other == text {
			list[i] = list[len(list)-1]
			h.byLen[len(text)] = list[:len(list)-1]
			return true
		}
	}
	return false
}

func BenchmarkAssert(b *testing.B) {
	texts := []string{"a", "b", "c"}
	h := &held{byLen: map[int][]string{}}
	for i := range b.N {
		h.assert(texts[i%3]) // want `h gets an entry and is looked through`
	}
	steady := &held{byLen: map[int][]string{}}
	for i := range b.N {
		steady.assert(texts[i%3])
		if !steady.retract(texts[i%3]) {
			b.Fatal("not held")
		}
	}
}
