package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// addWorkload adds everything measured on one workload. shown has the explanations of earlier workloads, and gets
// those of this one.
func (s *Section) addWorkload(r *tare.Result, w tare.Workload, shown map[string]bool) {
	v := newView(r, w.ID)
	v.shown = shown
	means := mapTexts([]string{describeWorkload(r, w), describeDriver(r, w), describeConformance(r, w.ID), v.describeNoFailures()}, oneLine)
	s.addOnly(forText, func() { s.addText(Dim, means...) })
	s.addOnly(forMarkdown, func() { s.addText(Dim, strings.Join(means, " ")) })
	if v.isEmpty() {
		s.addText(Warned, nobodyMeasured)
		return
	}
	s.addSpace()
	t := v.newPrimaryTable()
	s.addTable("", "", t)
	s.addOnly(forMarkdown, func() { s.addList("", listTableNotes(r, t)...) })
	s.addSpace()
	s.addText(Dim, v.whyUnranked())
	addExplained := func(key, about, means string, t Table) {
		s.addSpace()
		s.addText(Dim, means)
		s.addTable(key, about, t)
	}
	if t, means := v.newLatencyTable(); means != "" {
		addExplained("latencies", "latencies", means, t)
	}
	if t, means := v.newSidesTable(); means != "" {
		addExplained("sides", "both sides of a request", means, t)
	}
	if t, ok := v.newOthersTable(); ok {
		addExplained("others", "the other measures", othersMislead, t)
	}
}

func listTableNotes(r *tare.Result, t Table) []Item {
	var items []Item
	for _, row := range t.Rows {
		c, _ := r.Contender(row.Who)
		parts := []Field{{Text: c.Title()}}
		for i, note := range row.Notes {
			mark := Plain
			if note == describeIdentity(c) {
				mark = Code // name@version would otherwise become an e-mail address
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

// describeConformance returns how many contenders gave correct responses before timing. Probes, which are requests
// that must be rejected, do not count.
func describeConformance(r *tare.Result, workload string) string {
	right, cases := 0, 0      // contenders without a wrong response; most cases of a contender
	var wrong, apart []string // contenders with one, and those of which only the status was checked
	for _, c := range r.Conformance {
		isBeforeTiming := !c.During && !c.Probe
		if !isBeforeTiming || c.Workload != workload || c.Contender == tare.NullID {
			continue
		}
		cases = max(cases, c.Cases)
		contender, _ := r.Contender(c.Contender)
		switch {
		case c.Wrong > 0:
			wrong = append(wrong, fmt.Sprintf("%s (%d of %d wrong)", contender.Title(), c.Wrong, c.Cases))
		case contender.Role == tare.RoleApart:
			apart = append(apart, contender.Title())
		default:
			right++
		}
	}
	text := ""
	switch {
	case right+len(wrong)+len(apart) == 0:
		return ""
	case len(wrong)+len(apart) == 0:
		text = fmt.Sprintf("Before timing, all %d contenders that were asked gave right answers to %s", right, countNoun(cases, "case"))
	default:
		text = fmt.Sprintf("Before timing, %d of the %d contenders that were asked gave right answers to %s", right, right+len(wrong)+len(apart), countNoun(cases, "case"))
	}
	if len(wrong) > 0 {
		text += "; not " + strings.Join(wrong, ", ")
	}
	if len(apart) > 0 {
		text += "; only the status was checked of " + strings.Join(apart, ", ")
	}
	return text + "."
}

// view is the part of a result about one workload, with sorted contenders.
type view struct {
	r        *tare.Result
	workload string          // id
	baseline string          // id of the baseline
	shown    map[string]bool // explanations that are not printed again

	ranked     []tare.Contender // by ratio to the baseline, void ones last
	statusOnly []tare.Contender // in the same order
	controls   []tare.Contender // the repeated baseline, and the contender that does nothing
	traps      []tare.Contender
}

func (v *view) listGroups() [][]tare.Contender {
	return [][]tare.Contender{v.ranked, v.statusOnly, v.controls, v.traps}
}

// newView returns the view of one workload. To print several workloads, set shown.
func newView(r *tare.Result, workload string) *view {
	v := &view{r: r, workload: workload, baseline: r.Baseline(), shown: map[string]bool{}}
	v.sortContenders()
	return v
}

func (v *view) isEmpty() bool { return len(slices.Concat(v.listGroups()...)) == 0 }

// sortContenders fills the groups of v, by ratio to the baseline. Contenders without a valid ratio come last.
func (v *view) sortContenders() {
	for _, c := range v.r.Contenders {
		if !v.hasData(c.ID) {
			continue
		}
		switch c.Role {
		case tare.RoleControl, tare.RoleNull:
			v.controls = append(v.controls, c)
		case tare.RoleApart:
			v.statusOnly = append(v.statusOnly, c)
		case tare.RoleTrap:
			v.traps = append(v.traps, c)
		default:
			v.ranked = append(v.ranked, c)
		}
	}
	leading := v.leadingMetric()
	ratioOf := func(c tare.Contender) float64 {
		if c.ID == v.baseline {
			return 1
		}
		if x, ok := v.findComparison(c.ID, leading); ok && len(v.voidsMetric(c.ID, leading)) == 0 && x.Ratio > 0 {
			return x.Ratio
		}
		return math.Inf(1)
	}
	for _, group := range [][]tare.Contender{v.ranked, v.statusOnly} {
		slices.SortStableFunc(group, func(a, b tare.Contender) int { return cmp.Compare(ratioOf(a), ratioOf(b)) })
	}
}

// hasData reports whether the contender has a value on the workload, or a reason why not. A finding about all
// workloads counts only if the contender may support this one.
func (v *view) hasData(id string) bool {
	for _, x := range v.r.Values {
		if x.Workload == v.workload && x.Contender == id {
			return true
		}
	}
	for _, f := range v.r.Findings {
		if f.Severity != tare.Void || f.Contender != id {
			continue
		}
		slicing, isPlanned := v.r.Plan.Slicing(v.workload)
		canSupport := !isPlanned || slices.Contains(slicing.Contenders, id)
		isAboutAll := f.Workload == ""
		if f.Workload == v.workload || isAboutAll && canSupport {
			return true
		}
	}
	c, _ := v.r.Contender(id)
	return c.Error != "" && !c.Absent() // absent contenders are in another section
}

// voidsFor returns the findings that void all of a contender on the workload.
func (v *view) voidsFor(id string) []tare.Finding { return v.r.Voids(id, v.workload) }

// voidsMetric returns the findings that void metric, alone or with everything else.
func (v *view) voidsMetric(id, metric string) []tare.Finding {
	return v.r.VoidsMetric(id, v.workload, metric)
}

// primaryMetric returns the metric of the ranks, or "".
func primaryMetric(r *tare.Result) string {
	if len(r.Metrics) == 0 {
		return ""
	}
	return r.Metrics[0]
}

func (v *view) listMetrics() []string {
	i := slices.IndexFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload })
	if i < 0 {
		return v.r.Metrics
	}
	return slices.DeleteFunc(slices.Clone(v.r.Metrics), func(name string) bool { return !v.r.Workloads[i].Measures(findMetric(name)) })
}

// leadingMetric returns the metric whose ratios come first: the first that applies to the workload.
func (v *view) leadingMetric() string {
	if all := v.listMetrics(); len(all) > 0 {
		return all[0]
	}
	return primaryMetric(v.r)
}

func (v *view) hasRequests() bool {
	return slices.ContainsFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload && isPerRequest(v.r, w) })
}

func (v *view) findComparison(id, metric string) (tare.Comparison, bool) {
	c, ok := tare.FindComparison(v.r.Comparisons, v.workload, id, metric)
	return c, ok && c.Against == v.baseline
}

func (v *view) findValue(id, metric string) (tare.Value, bool) {
	return v.r.Value(v.workload, id, metric)
}

// usualLevel returns the most frequent confidence level of comparisons by metric. Ranked contenders count first,
// then others. Levels differ if comparisons were decided at different times.
func (v *view) usualLevel(metric string) float64 {
	level := 0.0 // most frequent so far
	for _, group := range [][]tare.Contender{v.ranked, v.statusOnly, v.controls} {
		count := map[float64]int{}
		for _, c := range group {
			x, ok := v.findComparison(c.ID, metric)
			if !ok || c.ID == v.baseline || x.Level == 0 {
				continue
			}
			count[x.Level]++
			isMoreFrequent := count[x.Level] > count[level]
			isHigherTie := count[x.Level] == count[level] && x.Level > level
			if isMoreFrequent || isHigherTie {
				level = x.Level
			}
		}
		if level > 0 {
			break
		}
	}
	return level
}

// contenderTitle returns the printed name of a contender. A trap has a dagger.
func contenderTitle(r *tare.Result, id string) string {
	if c, ok := r.Contender(id); ok {
		return c.Title()
	}
	return id
}
