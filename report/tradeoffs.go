package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// Trade-offs are metrics by which a contender is better than the baseline, next to metrics by which it is worse.

func (s *Section) addTradeOffs(r *tare.Result) {
	t, means := newTradeOffTable(r)
	s.addText(Dim, means)
	s.addTable("trade-offs", "", t)
}

// newTradeOffTable returns a row per contender and workload with a comparison. means is the text above the table,
// or why there are no rows.
func newTradeOffTable(r *tare.Result) (t Table, means string) {
	base := r.Baseline()
	t = Table{Columns: []Column{
		{Name: "contender"}, {Name: "workload"}, {Name: "less than " + base}, {Name: "more than " + base}, {Name: "no difference shown"},
	}}
	for _, w := range r.Workloads {
		v := newView(r, w.ID)
		if len(v.voidsFor(base)) > 0 {
			continue
		}
		for _, c := range v.ranked {
			if c.ID == base || len(v.voidsFor(c.ID)) > 0 {
				continue
			}
			less, more, same := v.splitBySide(c.ID)
			if less+more+same == "" {
				continue
			}
			t.Rows = append(t.Rows, Row{Who: c.ID, Cells: []Field{{Text: c.ID}, {Text: w.ID}, {Text: orDefault(less, noValue)}, {Text: orDefault(more, noValue)}, {Text: orDefault(same, noValue)}}})
		}
	}
	if len(t.Rows) == 0 {
		return t, "None can be told: no contender was compared with the baseline with an interval."
	}
	return t, "Ratios to " + base + " with their intervals. A difference is named only where the interval excludes 1 and the control shows less; the more measures one looks at, the likelier one of them misleads."
}

// addBehaviour adds the semantic differences (outputs unlike the reference's) in sentences.
func (s *Section) addBehaviour(r *tare.Result) {
	var lines []string
	tested := slices.DeleteFunc(listBehaviours(r), func(c behaviour) bool {
		return c.contender.Role == tare.RoleTrap || len(voidsOfAll(r, c.contender.ID)) > 0
	})
	for _, c := range tested {
		if len(c.Differences) == 0 {
			continue
		}
		line := c.summarize(r) + "."
		for _, class := range listClasses(c.Differences) {
			line += " " + beginSentence(class) + describeConsequences(ofClass(c.Differences, class), maxInCell) + "."
		}
		lines = append(lines, line)
	}
	s.addText(Plain, describeAlike(tested))
	s.addList("", unlabelledItems(Plain, lines...)...)
}

func beginSentence(class tare.DifferenceClass) string {
	switch class {
	case tare.DiffersInValue:
		return "It changes values: it "
	case tare.DiffersInAcceptance:
		return "It accepts or refuses otherwise: it "
	case tare.DiffersInForm:
		return "It spells the same value differently: it "
	}
	return "It also "
}

// splitBySide returns a contender's ratios in three lists: significantly below 1, above 1, and neither.
func (v *view) splitBySide(id string) (less, more, same string) {
	add := func(list *string, text string) { *list = strings.TrimPrefix(*list+"; "+text, "; ") }
	for _, metric := range v.r.Metrics {
		x, ok := v.findComparison(id, metric)
		text := metric + " " + formatRatio(x)
		switch {
		case len(v.voidsMetric(id, metric))+len(v.voidsMetric(v.baseline, metric)) > 0: // the ratio does not count
		case !ok:
			v.addZero(id, metric, func(text string) { add(&less, text) }, func(text string) { add(&more, text) })
		case !(x.Low > 0) || !(x.High > 0): // no interval yet
		case !v.isDifferent(x):
			add(&same, text)
		case x.Ratio < 1:
			add(&less, text)
		default:
			add(&more, text)
		}
	}
	return less, more, same
}

// addZero compares a contender with the baseline if one value is always 0, which gives no ratio. It calls less or
// more with a text such as "allocs 0 against 2 allocs/op".
func (v *view) addZero(id, metric string, less, more func(string)) {
	value, hasValue := v.findValue(id, metric)
	base, hasBase := v.findValue(v.baseline, metric)
	if !hasValue || !hasBase || min(value.Rounds, base.Rounds) < minRounds {
		return
	}
	s := newScale(value.Unit, []float64{value.Value, base.Value})
	if v.hasRequests() {
		s.unit = requestUnit(s.unit)
	}
	text := fmt.Sprintf("%s %s against %s %s", metric, s.formatValue(value.Value), s.formatValue(base.Value), s.unit)
	switch {
	case value.High == 0 && base.Low > 0:
		less(text)
	case base.High == 0 && value.Low > 0:
		more(text)
	}
}

// minRounds is the least number of rounds for an interval.
const minRounds = 6

// isDifferent reports whether x is significant and exceeds the noise floor, the difference between two
// measurements of the baseline.
func (v *view) isDifferent(x tare.Comparison) bool {
	control, _ := v.findComparison(tare.ControlID, x.Metric)
	return x.Differs(control.NoiseFloor()) == tare.Significant
}
