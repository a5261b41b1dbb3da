package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// workload adds everything measured on one workload. What told holds was
// explained under an earlier one and is not said again.
func (s *Section) workload(r *tare.Result, w tare.Workload, told map[string]bool) {
	v := look(r, w.ID, told)
	means := all([]string{asked(r, w), driven(r, w), answered(r, w.ID), v.failed()}, oneLine)
	s.only(forText, func() { s.say(Dim, means...) })
	s.only(forMarkdown, func() { s.say(Dim, strings.Join(means, " ")) })
	if v.empty() {
		s.say(Warned, nobodyMeasured)
		return
	}
	s.space()
	t := v.primary()
	s.show("", "", t)
	s.only(forMarkdown, func() { s.list("", noted(r, t)...) })
	s.space()
	s.say(Dim, v.unranked())
	more := func(key, about, means string, t Table) {
		s.space()
		s.say(Dim, means)
		s.show(key, about, t)
	}
	if t, means := v.latencies(); means != "" {
		more("latencies", "latencies", means, t)
	}
	if t, means := v.bothSides(); means != "" {
		more("sides", "both sides of a request", means, t)
	}
	if t, ok := v.others(); ok {
		more("others", "the other measures", othersMislead, t)
	}
}

// noted are the notes of a table's rows, an item for each row that has any.
func noted(r *tare.Result, t Table) []Item {
	var items []Item
	for _, row := range t.Rows {
		c, _ := r.Contender(row.Who)
		parts := []Field{{Text: c.Title()}}
		for i, note := range row.Notes {
			mark := Plain
			if note == identity(c) {
				mark = Code // an @ makes it an address elsewhere
			}
			separator := "; "
			if i == 0 {
				separator = ": "
			}
			parts = append(parts, Field{Text: separator}, Field{note, mark})
		}
		if len(parts) > 1 {
			items = append(items, Item{parts: parts})
		}
	}
	return items
}

const (
	nobodyMeasured = "No contender was measured on it."
	othersMislead  = "The other measures (the more of them one looks at, the likelier one of them misleads):"
)

// answered says who gave right answers before being timed.
func answered(r *tare.Result, workload string) string {
	right, cases, wrong := 0, 0, []string(nil)
	for _, c := range r.Conformance {
		if c.During || c.Probe || c.Workload != workload || c.Contender == tare.NullID {
			continue
		}
		cases = max(cases, c.Cases)
		if c.Wrong == 0 {
			right++
			continue
		}
		wrong = append(wrong, fmt.Sprintf("%s (%d of %d wrong)", title(r, c.Contender), c.Wrong, c.Cases))
	}
	switch {
	case right+len(wrong) == 0:
		return ""
	case len(wrong) == 0:
		return fmt.Sprintf("Before timing, all %d contenders that were asked gave right answers to %s.", right, plural(cases, "case"))
	}
	return fmt.Sprintf("Before timing, %d of the %d contenders that were asked gave right answers to %s; not %s.",
		right, right+len(wrong), plural(cases, "case"), strings.Join(wrong, ", "))
}

// view is one workload's part of a result, in the order of its table.
type view struct {
	r        *tare.Result
	workload string
	baseline string
	told     map[string]bool

	ranked, aside, apart, traps []tare.Contender
}

// groups are the contenders of a table in its order: those that are ranked, who
// stands aside of them, control and null, traps.
func (v *view) groups() [][]tare.Contender {
	return [][]tare.Contender{v.ranked, v.aside, v.apart, v.traps}
}

// look is the view of one workload. What told holds is not said again.
func look(r *tare.Result, workload string, told map[string]bool) *view {
	v := &view{r: r, workload: workload, baseline: r.Baseline(), told: told}
	v.order()
	return v
}

// empty reports whether there is nothing to show.
func (v *view) empty() bool { return len(slices.Concat(v.groups()...)) == 0 }

// order sorts the contenders that have anything to show here: the ranked by
// ratio and the void after them; those whose answers count by their status
// alone likewise; control and null; traps.
func (v *view) order() {
	for _, c := range v.r.Contenders {
		if !v.present(c.ID) {
			continue
		}
		switch c.Role {
		case tare.RoleControl, tare.RoleNull:
			v.apart = append(v.apart, c)
		case tare.RoleApart:
			v.aside = append(v.aside, c)
		case tare.RoleTrap:
			v.traps = append(v.traps, c)
		default:
			v.ranked = append(v.ranked, c)
		}
	}
	leading := v.leading()
	place := func(c tare.Contender) float64 {
		if c.ID == v.baseline {
			return 1
		}
		if x, ok := v.comparison(c.ID, leading); ok && len(v.voidsOf(c.ID, leading)) == 0 && x.Ratio > 0 {
			return x.Ratio
		}
		return 1e300
	}
	for _, group := range [][]tare.Contender{v.ranked, v.aside} {
		slices.SortStableFunc(group, func(a, b tare.Contender) int { return cmp.Compare(place(a), place(b)) })
	}
}

// present reports whether there is a figure of the contender here, or a
// reason why there is none.
func (v *view) present(id string) bool {
	for _, x := range v.r.Values {
		if x.Workload == v.workload && x.Contender == id {
			return true
		}
	}
	for _, f := range v.r.Findings {
		named := f.Contender == id && (f.Workload == "" || f.Workload == v.workload)
		if s, known := v.r.Plan.Slicing(v.workload); named && f.Severity == tare.Void && (f.Workload != "" || !known || slices.Contains(s.Contenders, id)) {
			return true
		}
	}
	c, _ := v.r.Contender(id)
	return c.Error != "" && !c.Absent()
}

// voids are the findings that void whatever the contender did here.
func (v *view) voids(id string) []tare.Finding { return v.r.Voids(id, v.workload) }

// voidsOf also are those that void one metric of it.
func (v *view) voidsOf(id, metric string) []tare.Finding {
	return v.r.VoidsMetric(id, v.workload, metric)
}

// primaryMetric is the metric that is ranked by; empty where a document names none.
func primaryMetric(r *tare.Result) string {
	if len(r.Metrics) == 0 {
		return ""
	}
	return r.Metrics[0]
}

// metrics are those of the study that say something about the workload.
func (v *view) metrics() []string {
	i := slices.IndexFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload })
	if i < 0 {
		return v.r.Metrics
	}
	return slices.DeleteFunc(slices.Clone(v.r.Metrics), func(name string) bool { return !v.r.Workloads[i].Measures(metricNamed(name)) })
}

// leading is the metric whose ratios stand first: the primary one, or where it
// says nothing about the workload the first that does.
func (v *view) leading() string {
	if all := v.metrics(); len(all) > 0 {
		return all[0]
	}
	return primaryMetric(v.r)
}

// ofRequests reports whether an operation here is one request.
func (v *view) ofRequests() bool {
	return slices.ContainsFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload && byRequest(v.r, w) })
}

// comparison returns the contender against the baseline.
func (v *view) comparison(id, metric string) (tare.Comparison, bool) {
	c, ok := tare.FindComparison(v.r.Comparisons, v.workload, id, metric)
	return c, ok && c.Against == v.baseline
}

func (v *view) value(id, metric string) (tare.Value, bool) {
	return v.r.Value(v.workload, id, metric)
}

// usual is the level at which most of the ranked are compared with the baseline
// by metric, the higher of two that are as frequent; where there are none, the
// control's; zero where there is no comparison. Levels differ where the error
// is shared out among several comparisons and some of them were settled before
// others.
func (v *view) usual(metric string) float64 {
	level := 0.0
	for _, group := range v.groups()[:3] {
		count := map[float64]int{}
		for _, c := range group {
			x, ok := v.comparison(c.ID, metric)
			if !ok || c.ID == v.baseline || x.Level == 0 {
				continue
			}
			count[x.Level]++
			if n := count[x.Level]; n > count[level] || n == count[level] && x.Level > level {
				level = x.Level
			}
		}
		if level > 0 {
			break
		}
	}
	return level
}

// title is how the contender is printed: its id, with a dagger for a trap.
func title(r *tare.Result, id string) string {
	if c, ok := r.Contender(id); ok {
		return c.Title()
	}
	return id
}
