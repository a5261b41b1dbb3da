package bisect

import (
	"slices"
	"time"
)

// Commit is one commit of a history.
type Commit struct {
	ID      string    `json:"commit"`
	Parents []string  `json:"parents"`
	Author  string    `json:"author,omitempty"`
	Time    time.Time `json:"time"`
	Subject string    `json:"subject"`
}

// candidates returns the commits that may be the first bad one: ancestors of every bad one, itself
// included, and of no good one. They are in the history's order.
func (s *Search) candidates() []Commit {
	in := map[string]bool{}
	for _, c := range s.History {
		in[c.ID] = true
	}
	for _, t := range s.Tests {
		if t.Verdict != Good && t.Verdict != Bad {
			continue
		}
		before := s.ancestors(t.Commit)
		for id := range in {
			if before[id] == (t.Verdict == Good) {
				delete(in, id)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(s.History), func(c Commit) bool { return !in[c.ID] })
}

// ancestors returns the ancestors of a commit within the history, itself included.
func (s *Search) ancestors(id string) map[string]bool {
	out := map[string]bool{id: true}
	for _, c := range s.History { // children stand before their parents
		if out[c.ID] {
			for _, p := range c.Parents {
				out[p] = true
			}
		}
	}
	return out
}

// middleCommit returns the commit to compare next: of those that divide the candidates about evenly
// the one farthest from commits that were skipped; "" if all have a verdict.
func (s *Search) middleCommit() string {
	candidates := s.candidates()
	var passed []int
	score := make([]int, len(candidates))
	best := 0
	for i, c := range candidates {
		if v := s.verdictOf(c.ID); v != "" {
			if v != Bad {
				passed = append(passed, i)
			}
			continue
		}
		before, n := s.ancestors(c.ID), 0
		for _, other := range candidates {
			if before[other.ID] {
				n++
			}
		}
		score[i] = min(n, len(candidates)-n)
		best = max(best, score[i])
	}
	far := func(i int) int {
		d := len(candidates)
		for _, p := range passed {
			d = min(d, max(i-p, p-i))
		}
		return d
	}
	chosen := -1
	for i := range candidates {
		if score[i] == 0 || len(passed) == 0 && score[i] < best || 2*score[i] < best {
			continue
		}
		if chosen < 0 || far(i) > far(chosen) || far(i) == far(chosen) && score[i] > score[chosen] {
			chosen = i
		}
	}
	if chosen < 0 {
		return ""
	}
	return candidates[chosen].ID
}

// verdictOf returns the verdict on a commit; "" if it was not compared.
func (s *Search) verdictOf(id string) Verdict {
	for _, t := range s.Tests {
		if t.Commit == id {
			return t.Verdict
		}
	}
	return ""
}

// Found returns the commits of which one is the first bad one: a single one if all could be
// decided, more if some had to be passed over. The newest comes first. It returns none before the
// bad revision has shown the effect.
func (s *Search) Found() []Commit {
	if !s.Shown() {
		return nil
	}
	return s.candidates()
}
