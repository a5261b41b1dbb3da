package tare

import (
	"fmt"
	"slices"
)

// Having is the study as it is where only some modules were given: without the
// entries that take one (see [Entry]) which has does not report, and without a
// workload that is asked of nobody else.
func (s Study) Having(has func(module string) bool) Study {
	out := map[string]bool{}
	var entries []Entry
	for _, e := range s.Contenders {
		if e.Given != "" && !has(e.Given) {
			out[e.ID] = true
			continue
		}
		entries = append(entries, e)
	}
	if len(out) == 0 {
		return s
	}
	var works []Workload
	for _, w := range s.Workloads {
		if len(w.Contenders) > 0 {
			w.Contenders = slices.DeleteFunc(slices.Clone(w.Contenders), func(id string) bool { return out[id] })
			if len(w.Contenders) == 0 {
				continue
			}
		}
		works = append(works, w)
	}
	s.Contenders, s.Workloads = entries, works
	return s
}

// asksGiven reports a question about a contender that may not be in the study.
func (s *Study) asksGiven() error {
	given := map[string]bool{}
	for _, e := range s.Contenders {
		given[e.ID] = e.Given != ""
	}
	about := func(at string, ids ...string) error {
		for _, id := range ids {
			if given[id] {
				return fieldError(at, fmt.Sprintf("a question about %s, which is only weighed where its module is given", id), "ask it of another contender")
			}
		}
		return nil
	}
	if err := about("baseline", s.Baseline); err != nil {
		return err
	}
	for i, c := range s.Criteria {
		if err := about(fmt.Sprintf("criteria[%d]", i), c.Contender); err != nil {
			return err
		}
	}
	for i, c := range s.Claims {
		if err := about(fmt.Sprintf("claims[%d]", i), c.Contender); err != nil {
			return err
		}
	}
	for i, b := range s.BreakEven {
		if err := about(fmt.Sprintf("break_even[%d]", i), b.Contender); err != nil {
			return err
		}
	}
	for i, d := range s.Decompose {
		ids := []string{d.From}
		for _, step := range d.Steps {
			ids = append(ids, step.To)
		}
		if err := about(fmt.Sprintf("decompose[%d]", i), ids...); err != nil {
			return err
		}
	}
	return nil
}
