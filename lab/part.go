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

// This file selects the part of a study that a run measures. For example, the quick budget measures
// only what a claim, a criterion or an expectation needs.

// Reasons why a part of a study is not measured.
const (
	whyNotQuick    = "left out at this budget (no claim and no criterion needs it)"
	whyNotSelected = "left out (not among those that were asked for)"
	whyNoTime      = "not measured at this budget (--budget full measures it)"
	whyNoSegment   = "not measured at this budget (each contender takes %v a round, alone; needs --budget full)"
	whyNoWorkload  = "left out (it is asked none of the workloads that are measured)"
)

// selector reports whether the contender or workload with id is measured. If not, why is the reason.
type selector func(id string) (ok bool, why string)

func selectAll(string) (ok bool, why string) { return true, "" }

// Part returns the measured part of a study, and the omitted contenders and workloads with the reasons.
// At the quick budget, only what a claim, criterion or expectation needs is measured. Names in only
// override this at any budget. The baseline is always measured. Part returns an error if no workload
// remains.
func Part(s tare.Study, isQuick bool, only Only) (tare.Study, []tare.NotWeighed, error) {
	selectContender, selectWorkload := selectAll, selectAll
	if isQuick && len(s.Claims)+len(s.Criteria) > 0 {
		selectContender, selectWorkload = selectForQuick(s)
	}
	if isQuick {
		selectWorkload = omitSegments(s, selectQuickWorkloads(s, selectWorkload))
	}
	if len(only.Contenders) > 0 {
		isNamed, err := matchAny(only.Contenders)
		if err != nil {
			return s, nil, err
		}
		selectContender = func(id string) (bool, string) { return id == s.Baseline || isNamed(id), whyNotSelected }
	}
	if len(only.Workloads) > 0 {
		isNamed, err := matchAny(only.Workloads)
		if err != nil {
			return s, nil, err
		}
		selectWorkload = func(id string) (bool, string) { return isNamed(id), whyNotSelected }
		if len(only.Contenders) == 0 {
			selectContender = addListed(s, selectWorkload, selectContender)
		}
	}
	var omittedContenders, omittedWorkloads []tare.NotWeighed
	measured := s
	measured.Contenders, measured.Workloads = nil, nil
	for _, w := range s.Workloads {
		if ok, why := selectWorkload(w.ID); ok {
			measured.Workloads = append(measured.Workloads, w)
		} else {
			omittedWorkloads = append(omittedWorkloads, tare.LeftWorkload(w.ID, why))
		}
	}
	for _, e := range s.Contenders {
		ok, why := selectContender(e.ID)
		asksEntry := func(w tare.Workload) bool { return w.Asks(e.ID) }
		hasNoWork := len(measured.Workloads) > 0 && !slices.ContainsFunc(measured.Workloads, asksEntry)
		if ok && e.ID != s.Baseline && hasNoWork {
			ok, why = false, whyNoWorkload
		}
		if ok {
			measured.Contenders = append(measured.Contenders, e)
		} else {
			omittedContenders = append(omittedContenders, tare.LeftContender(e.ID, why))
		}
	}
	if len(measured.Workloads) == 0 && len(only.Workloads) == 0 {
		return s, nil, errors.New("all its workloads are continuous segments, which the quick budget has no time for; --budget full has")
	}
	if len(measured.Workloads) == 0 {
		return s, nil, fmt.Errorf("none of its workloads matches %s", strings.Join(only.Workloads, ", "))
	}
	return measured, append(omittedContenders, omittedWorkloads...), nil
}

// addListed returns selectContender, extended by the contenders that a selected workload lists.
func addListed(s tare.Study, selectWorkload, selectContender selector) selector {
	return func(id string) (bool, string) {
		for _, w := range s.Workloads {
			if isMeasured, _ := selectWorkload(w.ID); isMeasured && slices.Contains(w.Contenders, id) {
				return true, ""
			}
		}
		return selectContender(id)
	}
}

// selectForQuick selects the contenders and workloads that a question of the study needs, and
// contenders with an expectation.
func selectForQuick(s tare.Study) (selectContender, selectWorkload selector) {
	ids, works := questionsOfQuick(s)
	isAboutAll := len(ids) == 0 // no question names a contender, so all are in question
	ids[s.Baseline] = true
	for _, e := range s.Contenders {
		ids[e.ID] = ids[e.ID] || isAboutAll || !e.Expect.IsZero() || e.Given != ""
	}
	if len(works) == 0 { // no question names a workload: all claims are about contenders as such
		for _, w := range s.Workloads {
			works[w.ID] = true
		}
	}
	chooseFrom := func(m map[string]bool) selector {
		return func(id string) (bool, string) { return m[id], whyNotQuick }
	}
	return chooseFrom(ids), chooseFrom(works)
}

// questionsOfQuick returns the ids of the contenders and workloads in questions (claims,
// decompositions and criteria) of the quick budget.
func questionsOfQuick(s tare.Study) (ids, works map[string]bool) {
	ids, works = map[string]bool{}, map[string]bool{}
	isIgnored := func(workload string) bool {
		return workload != "" && len(s.Budget.QuickWorkloads) > 0 && !slices.Contains(s.Budget.QuickWorkloads, workload)
	}
	for _, c := range s.Claims {
		areAllIgnored := len(c.Workloads) > 0 && !slices.ContainsFunc(c.Workloads, func(w string) bool { return !isIgnored(w) })
		if c.Kind == tare.ClaimReported || isIgnored(c.Workload) || areAllIgnored {
			continue
		}
		ids[c.Contender] = true
		if c.Of.Contender != "" {
			ids[c.Of.Contender] = true
		}
		if c.Workload != "" { // a statement has no workload
			works[c.Workload] = true
		}
		for _, w := range c.Workloads {
			works[w] = true
		}
	}
	for _, d := range s.Decompose {
		if isIgnored(d.Workload) {
			continue
		}
		ids[d.From], works[d.Workload] = true, true
		for _, step := range d.Steps {
			ids[step.To] = true
		}
	}
	for _, c := range s.Criteria {
		if isIgnored(c.Workload) {
			continue
		}
		if c.Contender != "" {
			ids[c.Contender] = true
		}
		for _, w := range s.Workloads {
			works[w.ID] = works[w.ID] || c.Workload == "" || c.Workload == w.ID
		}
		if c.Of != "" {
			works[c.Of] = true
		}
	}
	return ids, works
}

// selectQuickWorkloads selects the workloads that choose selects and the study lists for the quick
// budget. Without such a list it returns choose.
func selectQuickWorkloads(s tare.Study, choose selector) selector {
	if len(s.Budget.QuickWorkloads) == 0 {
		return choose
	}
	return func(id string) (bool, string) {
		if !slices.Contains(s.Budget.QuickWorkloads, id) {
			return false, whyNoTime
		}
		return choose(id)
	}
}

// omitSegments selects what choose selects, except loads of fixed duration on one contender at a
// time. These stay only if the study lists them for the quick budget.
func omitSegments(s tare.Study, choose selector) selector {
	segment := map[string]time.Duration{} // by workload id
	for _, w := range s.Workloads {
		if w.Traffic != nil {
			segment[w.ID] = w.Traffic.Segment
		}
	}
	return func(id string) (bool, string) {
		if d := segment[id]; d > 0 && !slices.Contains(s.Budget.QuickWorkloads, id) {
			return false, fmt.Sprintf(whyNoSegment, d)
		}
		return choose(id)
	}
}

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
// slashes. The names of workloads contain slashes.
func Match(pattern, name string) (bool, error) {
	flat := strings.NewReplacer("/", "\x00") // NUL is no separator for path.Match
	return path.Match(flat.Replace(pattern), flat.Replace(name))
}
