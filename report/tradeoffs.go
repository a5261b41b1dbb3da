package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

func (s *Section) tradeOffs(r *tare.Result) {
	t, means := tradeOffs(r)
	s.say(Dim, means)
	s.show("trade-offs", "", t)
}

// tradeOffs is a row for each contender and workload on which it was compared with
// the baseline, and what that shows or why there is none.
func tradeOffs(r *tare.Result) (t Table, means string) {
	base := r.Baseline()
	t = Table{Columns: []Column{
		{Name: "contender"}, {Name: "workload"}, {Name: "less than " + base}, {Name: "more than " + base}, {Name: "no difference shown"},
	}}
	for _, w := range r.Workloads {
		v := look(r, w.ID, map[string]bool{})
		if len(v.voids(base)) > 0 {
			continue
		}
		for _, c := range v.ranked {
			if c.ID == base || len(v.voids(c.ID)) > 0 {
				continue
			}
			less, more, same := v.sides(c.ID)
			if less+more+same == "" {
				continue
			}
			t.Rows = append(t.Rows, Row{Who: c.ID, Cells: []Field{{Text: c.ID}, {Text: w.ID}, {Text: or(less, nothing)}, {Text: or(more, nothing)}, {Text: or(same, nothing)}}})
		}
	}
	if len(t.Rows) == 0 {
		return t, "None can be told: no contender was compared with the baseline with an interval."
	}
	return t, "Ratios to " + base + " with their intervals. A difference is named only where the interval excludes 1 and the control shows less; the more measures one looks at, the likelier one of them misleads."
}

// manners lists what those who are ranked answer differently, in sentences; the
// table of it is among the results.
func (s *Section) manners(r *tare.Result) {
	var lines []string
	asked := slices.DeleteFunc(conducts(r), func(c conduct) bool {
		return c.who.Role == tare.RoleTrap || len(wholly(r, c.who.ID)) > 0
	})
	for _, c := range asked {
		if len(c.Differences) == 0 {
			continue
		}
		line := c.summary(r) + "."
		for _, class := range classes(c.Differences) {
			line += " " + wont(class) + consequences(of(c.Differences, class), cellSays) + "."
		}
		lines = append(lines, line)
	}
	s.say(Plain, alike(asked))
	s.list("", unlabelled(Plain, lines...)...)
}

// wont begins the sentence about a class of differences.
func wont(class tare.DifferenceClass) string {
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

// sides sorts a contender's ratios by which side of 1 they are on.
func (v *view) sides(id string) (less, more, same string) {
	add := func(list *string, text string) { *list = strings.TrimPrefix(*list+"; "+text, "; ") }
	for _, metric := range v.r.Metrics {
		x, ok := v.comparison(id, metric)
		text := metric + " " + measured(x)
		switch {
		case len(v.voidsOf(id, metric))+len(v.voidsOf(v.baseline, metric)) > 0:
		case !ok:
			v.zero(id, metric, func(text string) { add(&less, text) }, func(text string) { add(&more, text) })
		case !(x.Low > 0) || !(x.High > 0):
		case !v.differs(x):
			add(&same, text)
		case x.Ratio < 1:
			add(&less, text)
		default:
			add(&more, text)
		}
	}
	return less, more, same
}

// zero tells of figures that have no ratio because one of them is zero in
// every round and the other in none.
func (v *view) zero(id, metric string, less, more func(string)) {
	own, ok := v.value(id, metric)
	base, also := v.value(v.baseline, metric)
	if !ok || !also || min(own.Rounds, base.Rounds) < leastRounds {
		return
	}
	s := scaleFor(own.Unit, []float64{own.Value, base.Value})
	if v.ofRequests() {
		s.unit = perRequest(s.unit)
	}
	text := fmt.Sprintf("%s %s against %s %s", metric, s.print(own.Value), s.print(base.Value), s.unit)
	switch {
	case own.High == 0 && base.Low > 0:
		less(text)
	case base.High == 0 && own.Low > 0:
		more(text)
	}
}

// leastRounds is how many rounds the interval of an absolute figure takes.
const leastRounds = 6

// differs reports whether x counts as a difference.
func (v *view) differs(x tare.Comparison) bool {
	control, _ := v.comparison(tare.ControlID, x.Metric)
	return x.Differs(control.NoiseFloor()) == tare.Significant
}
