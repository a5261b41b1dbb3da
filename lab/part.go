package lab

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
)

// Why a part of a study is not measured.
const (
	notQuick  = "left out at this budget (no claim and no criterion needs it)"
	notChosen = "left out (not among those that were asked for)"
	noTime    = "not measured at this budget (--budget full measures it)"
	noSegment = "not measured at this budget (each contender takes %v a round, alone; needs --budget full)"
	notAsked  = "left out (it is asked none of the workloads that are measured)"
)

// Part returns the part of a study that is measured, and the omitted rest: at quick, the part that
// carries a claim, a criterion or an expectation; with a selection, the selected part. The baseline
// is always included. A selection by name is measured at any budget.
func Part(s tare.Study, isQuick bool, only Only) (tare.Study, []tare.NotWeighed, error) {
	contenders, workloads := chooseAll, chooseAll
	if isQuick && len(s.Claims)+len(s.Criteria) > 0 {
		contenders, workloads = chooseForQuick(s)
	}
	if isQuick {
		workloads = omitSegments(s, chooseBrief(s, workloads))
	}
	if len(only.Contenders) > 0 {
		named, err := matchAny(only.Contenders)
		if err != nil {
			return s, nil, err
		}
		contenders = func(id string) (bool, string) { return id == s.Baseline || named(id), notChosen }
	}
	if len(only.Workloads) > 0 {
		named, err := matchAny(only.Workloads)
		if err != nil {
			return s, nil, err
		}
		workloads = func(id string) (bool, string) { return named(id), notChosen }
		if len(only.Contenders) == 0 {
			contenders = chooseListed(s, workloads, contenders)
		}
	}
	var left, idle []tare.NotWeighed
	p := s
	p.Contenders, p.Workloads = nil, nil
	for _, w := range s.Workloads {
		in, why := workloads(w.ID)
		if in {
			p.Workloads = append(p.Workloads, w)
		} else {
			idle = append(idle, tare.LeftWorkload(w.ID, why))
		}
	}
	for _, e := range s.Contenders {
		in, why := contenders(e.ID)
		if in && e.ID != s.Baseline && len(p.Workloads) > 0 && !slices.ContainsFunc(p.Workloads, func(w tare.Workload) bool { return w.Asks(e.ID) }) {
			in, why = false, notAsked
		}
		if in {
			p.Contenders = append(p.Contenders, e)
		} else {
			left = append(left, tare.LeftContender(e.ID, why))
		}
	}
	left = append(left, idle...)
	if len(p.Workloads) == 0 && len(only.Workloads) == 0 {
		return s, nil, errors.New("all its workloads are continuous segments, which the quick budget has no time for; --budget full has")
	}
	if len(p.Workloads) == 0 {
		return s, nil, fmt.Errorf("none of its workloads matches %s", strings.Join(only.Workloads, ", "))
	}
	return p, left, nil
}

// chooser reports whether an id is measured, and if not why.
type chooser func(id string) (in bool, why string)

func chooseAll(string) (bool, string) { return true, "" }

// chooseListed selects those that in selects, and the contenders that a measured workload lists: a
// user who selects the workload selects them.
func chooseListed(s tare.Study, works, in chooser) chooser {
	return func(id string) (bool, string) {
		for _, w := range s.Workloads {
			if measured, _ := works(w.ID); measured && slices.Contains(w.Contenders, id) {
				return true, ""
			}
		}
		return in(id)
	}
}

// chooseForQuick selects what quick measures. If the study names the workloads of quick, its
// questions on others add no contender.
func chooseForQuick(s tare.Study) (contenders, workloads chooser) {
	who, what := map[string]bool{}, map[string]bool{}
	elsewhere := func(workload string) bool {
		return workload != "" && len(s.Budget.QuickWorkloads) > 0 && !slices.Contains(s.Budget.QuickWorkloads, workload)
	}
	for _, c := range s.Claims {
		if c.Kind == tare.ClaimReported || elsewhere(c.Workload) || len(c.Workloads) > 0 && !slices.ContainsFunc(c.Workloads, func(w string) bool { return !elsewhere(w) }) {
			continue
		}
		who[c.Contender] = true
		if c.Of.Contender != "" {
			who[c.Of.Contender] = true
		}
		if c.Workload != "" { // a statement is answered next to them
			what[c.Workload] = true
		}
		for _, w := range c.Workloads {
			what[w] = true
		}
	}
	for _, d := range s.Decompose {
		if elsewhere(d.Workload) {
			continue
		}
		who[d.From], what[d.Workload] = true, true
		for _, step := range d.Steps {
			who[step.To] = true
		}
	}
	for _, c := range s.Criteria {
		if elsewhere(c.Workload) {
			continue
		}
		if c.Contender != "" {
			who[c.Contender] = true
		}
		for _, w := range s.Workloads {
			what[w.ID] = what[w.ID] || c.Workload == "" || c.Workload == w.ID
		}
		if c.Of != "" {
			what[c.Of] = true
		}
	}
	nobody := len(who) == 0 // is named: every criterion is about all
	who[s.Baseline] = true
	for _, e := range s.Contenders {
		who[e.ID] = who[e.ID] || nobody || !e.Expect.IsZero() || e.Given != ""
	}
	if len(what) == 0 { // statements only
		for _, w := range s.Workloads {
			what[w.ID] = true
		}
	}
	in := func(m map[string]bool) chooser {
		return func(id string) (bool, string) { return m[id], notQuick }
	}
	return in(who), in(what)
}

// chooseBrief omits what the study has no time for at quick.
func chooseBrief(s tare.Study, in chooser) chooser {
	if len(s.Budget.QuickWorkloads) == 0 {
		return in
	}
	return func(id string) (bool, string) {
		if !slices.Contains(s.Budget.QuickWorkloads, id) {
			return false, noTime
		}
		return in(id)
	}
}

// omitSegments removes continuous segments from those that in selects, unless the study names them
// as quick.
func omitSegments(s tare.Study, in chooser) chooser {
	segment := map[string]time.Duration{}
	for _, w := range s.Workloads {
		if w.Traffic != nil {
			segment[w.ID] = w.Traffic.Segment
		}
	}
	return func(id string) (bool, string) {
		if d := segment[id]; d > 0 && !slices.Contains(s.Budget.QuickWorkloads, id) {
			return false, fmt.Sprintf(noSegment, d)
		}
		return in(id)
	}
}

// matchAny returns a predicate for names that match one of patterns.
func matchAny(patterns []string) (func(name string) bool, error) {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("%q is not a pattern: %w", p, err)
		}
	}
	return func(name string) bool {
		for _, p := range patterns {
			if ok, err := Match(p, name); ok && err == nil {
				return true
			}
		}
		return false
	}, nil
}

// Match reports whether name matches pattern as in [path.Match], except that a star also matches
// slashes: names of workloads have them.
func Match(pattern, name string) (bool, error) {
	flat := strings.NewReplacer("/", "\x00")
	return path.Match(flat.Replace(pattern), flat.Replace(name))
}
