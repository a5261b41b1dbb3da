package bisect

import (
	"cmp"
	"slices"
	"time"
)

// This file finds the commits that can still be the first bad one, and the next one to compare. For
// example, if the commit in the middle is good, the newer half remains.

// Commit is one commit of a history.
type Commit struct {
	ID      string    `json:"commit"`
	Parents []string  `json:"parents"`
	Author  string    `json:"author,omitempty"`
	Time    time.Time `json:"time"`
	Subject string    `json:"subject"`
}

// candidates returns the commits that may be the first bad one, in the history's order. Each is a
// bad commit or an ancestor of all bad ones, and not an ancestor of a good one.
func (s *Search) candidates() []Commit {
	remaining := map[string]bool{}
	for _, c := range s.History {
		remaining[c.ID] = true
	}
	for _, t := range s.Tests {
		if t.Verdict != Good && t.Verdict != Bad {
			continue
		}
		// The ancestors of a good commit are good. Commits that are no ancestors of a bad one did
		// not cause its effect.
		isAncestor := s.ancestors(t.Commit)
		for id := range remaining {
			if isAncestor[id] == (t.Verdict == Good) {
				delete(remaining, id)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(s.History), func(c Commit) bool { return !remaining[c.ID] })
}

// ancestors returns a commit and its ancestors within the history.
func (s *Search) ancestors(id string) map[string]bool {
	out := map[string]bool{id: true}
	for _, c := range s.History { // the history has children before their parents
		if out[c.ID] {
			for _, p := range c.Parents {
				out[p] = true
			}
		}
	}
	return out
}

// middleCommit returns the commit to compare next, or "" if all candidates have a verdict. It
// divides the candidates most evenly. If some are undecided, their neighbours may be, too, so it is
// a commit far from them.
func (s *Search) middleCommit() string {
	candidates := s.candidates()
	var undecided []int       // candidates with a verdict that did not decide
	evenness := map[int]int{} // size of the smaller part
	best := 0
	for i, c := range candidates {
		switch s.verdictOf(c.ID) {
		case "":
			older := s.countAncestors(c.ID, candidates)
			evenness[i] = min(older, len(candidates)-older)
			best = max(best, evenness[i])
		case Open, Skipped:
			undecided = append(undecided, i)
		}
	}
	distance := func(i int) int { // distance to the nearest undecided candidate
		d := len(candidates)
		for _, p := range undecided {
			d = min(d, max(i-p, p-i))
		}
		return d
	}
	minEvenness := max(1, best)
	if len(undecided) > 0 {
		minEvenness = max(1, (best+1)/2)
	}
	chosen := -1
	for i := range candidates {
		if evenness[i] < minEvenness {
			continue
		}
		if chosen < 0 || cmp.Or(cmp.Compare(distance(i), distance(chosen)), cmp.Compare(evenness[i], evenness[chosen])) > 0 {
			chosen = i
		}
	}
	if chosen < 0 {
		return ""
	}
	return candidates[chosen].ID
}

func (s *Search) countAncestors(id string, commits []Commit) (n int) {
	isAncestor := s.ancestors(id)
	for _, c := range commits {
		if isAncestor[c.ID] {
			n++
		}
	}
	return n
}

// verdictOf returns the verdict on a commit, or "" if it was not compared.
func (s *Search) verdictOf(id string) Verdict {
	for _, t := range s.Tests {
		if t.Commit == id {
			return t.Verdict
		}
	}
	return ""
}

// Suspects returns the commits of which one is the first bad one, the newest first. It is nil if
// the bad revision has not shown the effect.
func (s *Search) Suspects() []Commit {
	if !s.BadShows() {
		return nil
	}
	return s.candidates()
}
