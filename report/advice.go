package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// recommendation says for each workload what the ranks support, and nothing
// where they support nothing.
func (s *sheet) recommendation(r *tare.Result) {
	if len(r.Workloads) == 0 || len(r.Metrics) == 0 {
		s.block("None: nothing was weighed.")
		return
	}
	var lines []string
	any := false
	for _, w := range r.Workloads {
		text, supported := advice(r, w.ID)
		if any = any || supported; !supported {
			text = "none. " + text
		}
		lines = append(lines, "On "+code(w.ID)+": "+plain(text))
	}
	s.list(lines...)
	if any {
		s.block(plain(fmt.Sprintf("It weighs %s alone: the trade-offs below do not enter it.", r.Metrics[0])))
	}
}

// advice is what the ranks of the primary metric support on one workload, or
// why they support nothing. Ranks are ranges: nobody was proven better than who
// can be first, and everybody was proven worse than who can be first only.
func advice(r *tare.Result, workload string) (text string, supported bool) {
	v := look(r, workload, Style{}, map[string]bool{})
	metric, base := v.primaryName(), v.baseline
	for _, f := range r.Findings {
		if f.Severity == tare.Void && f.Contender == "" && (f.Workload == "" || f.Workload == workload) {
			return "Everything on it is void by the check " + f.Check + ".", false
		}
	}
	if voids := v.voids(base); len(voids) > 0 {
		return "The baseline is void by the check " + voids[0].Check + ", so nothing can be held against it.", false
	}
	first, places := v.first()
	switch {
	case places == 0:
		return "The figures allow no ranking after " + plural(r.RoundsDone, "round") + ".", false
	case places == 1:
		return "Only one contender was ranked on it.", false
	case len(first) == 0: // each proven worse than another, all the way round
		return "The ranks leave nobody that can be first.", false
	case !v.intervals():
		return "No ratio has an interval after " + plural(r.RoundsDone, "round") + ".", false
	}
	names := make([]string, len(first))
	for i, c := range first {
		names[i] = c.contender.ID
	}
	others := fmt.Sprintf("each of the %d others ranked", places-1)
	if places == 2 {
		others = "the other one ranked"
	}
	rest := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == base })
	switch stays := len(rest) < len(names); {
	case len(first) > 1 && stays && !slices.ContainsFunc(rest, v.beats):
		text = fmt.Sprintf("no reason in %s to leave %s. It can be first: over all pairs at once it was not told apart from %s.", metric, base, inWords(rest))
	case len(first) > 1:
		text = fmt.Sprintf("%s. None was proven better in %s, and over all pairs at once they were not told apart: the trade-offs decide.", strings.Join(names, " or "), metric)
	case first[0].high > 1:
		text = fmt.Sprintf("%s. None was proven better in %s, but neither was it proven better than %s.", names[0], metric, others)
	case stays:
		text = fmt.Sprintf("stay with %s. It was proven better in %s than %s.", base, metric, others)
	default:
		text = fmt.Sprintf("%s. It was proven better in %s than %s.", names[0], metric, others)
	}
	return text + v.standing(first), true
}

// beats reports whether a difference to the baseline was shown for id by the
// primary metric. Held against the baseline alone it may be where it is not
// over all pairs at once.
func (v *view) beats(id string) bool {
	x, ok := v.comparison(id, v.primaryName())
	return ok && x.Low > 0 && x.High > 0 && v.differs(x)
}

// intervals reports whether any contender was held against the baseline with
// an interval by the primary metric.
func (v *view) intervals() bool {
	return slices.ContainsFunc(v.ranked, func(c tare.Contender) bool {
		x, ok := v.comparison(c.ID, v.primaryName())
		return ok && c.ID != v.baseline && x.Low > 0 && x.High > 0
	})
}

// ranking is a contender's range of places.
type ranking struct {
	contender tare.Contender
	low, high int
}

// first are those that can be first by the primary metric, and how many were
// ranked.
func (v *view) first() (first []ranking, places int) {
	for _, c := range v.ranked {
		if len(v.voids(c.ID)) > 0 {
			continue
		}
		for _, x := range v.r.Comparisons {
			if x.Workload != v.workload || x.Contender != c.ID || x.Metric != v.primaryName() || x.RankLow == 0 {
				continue
			}
			places++
			if x.RankLow == 1 {
				first = append(first, ranking{c, x.RankLow, x.RankHigh})
			}
			break
		}
	}
	return first, places
}

// standing says how those who can be first stand to the baseline and to what was
// asked of them, and what the checks warn of.
func (v *view) standing(first []ranking) string {
	var b strings.Builder
	for _, f := range first {
		id := f.contender.ID
		if x, ok := v.comparison(id, v.primaryName()); ok && id != v.baseline && x.Ratio > 0 {
			fmt.Fprintf(&b, " %s / %s in %s: %s.", id, v.baseline, v.primaryName(), measured(x))
		}
		for _, verdict := range v.r.Verdicts {
			if verdict.Criterion != "" && verdict.Contender == id && verdict.Workload == v.workload {
				fmt.Fprintf(&b, " Asked of %s, %s: %s.", id, verdict.Criterion, verdict.Verdict)
			}
		}
		for _, finding := range v.r.Findings {
			if finding.Severity == tare.Warn && finding.Contender == id && finding.Covers(id, v.workload) {
				b.WriteString(" " + warning(finding))
			}
		}
	}
	return b.String()
}

// warning is a finding as a sentence.
func warning(f tare.Finding) string {
	text := "The check " + f.Check + " warns"
	if f.Contender != "" {
		text += " of " + f.Contender
	}
	if f.Workload != "" {
		text += " on " + f.Workload
	}
	return text + ": " + strings.TrimSuffix(f.Message, ".") + "."
}

// tradeOffs is what each contender has less and more of than the baseline, by
// every measure, and what taking it in costs.
func (s *sheet) tradeOffs(r *tare.Result) {
	base := baseline(r)
	t := table{columns: []column{
		{name: "contender"}, {name: "workload"}, {name: "less than " + base}, {name: "more than " + base}, {name: "no difference shown"},
	}}
	for _, w := range r.Workloads {
		v := look(r, w.ID, Style{}, map[string]bool{})
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
			t.rows = append(t.rows, row{cells: []cell{{text: c.ID}, {text: w.ID}, {text: or(less, nothing)}, {text: or(more, nothing)}, {text: or(same, nothing)}}})
		}
	}
	if len(t.rows) == 0 {
		s.block("None can be told: no contender was held against the baseline with an interval.")
	} else {
		s.block(plain("Ratios to " + base + " with their intervals. A difference is named only where the interval excludes 1 and the control shows less; the more measures one looks at, the likelier one of them misleads."))
		s.table(t)
	}
	s.adoption(r)
}

// sides sorts a contender's ratios by which side of 1 they are on.
func (v *view) sides(id string) (less, more, same string) {
	add := func(list *string, text string) { *list = strings.TrimPrefix(*list+"; "+text, "; ") }
	for _, metric := range v.r.Metrics {
		x, ok := v.comparison(id, metric)
		text := metric + " " + measured(x)
		switch {
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

// differs is the rule by which a difference is claimed: the interval excludes
// 1, and the ratio lies beyond half the width of the control's.
func (v *view) differs(x tare.Comparison) bool {
	if x.Low <= 1 && 1 <= x.High {
		return false
	}
	noise := 0.0
	if c, ok := v.comparison(tare.ControlID, x.Metric); ok && c.Low > 0 && c.High > 0 {
		noise = math.Log(c.High/c.Low) / 2
	}
	return math.Abs(math.Log(x.Ratio)) > noise
}

// adoption is what a program that uses a contender grows by, where it is
// known.
func (s *sheet) adoption(r *tare.Result) {
	t := table{columns: []column{
		{name: "contender"}, {name: "is"}, {name: "modules linked", right: true}, {name: "binary", unit: "B", right: true}, {name: "cold build", unit: "s", right: true},
	}}
	for _, c := range r.Contenders {
		void := slices.ContainsFunc(r.Findings, func(f tare.Finding) bool {
			return f.Severity == tare.Void && f.Contender == c.ID && f.Workload == "" // it may not be what it says
		})
		if void || c.BinaryBytes == 0 || c.Role != tare.RoleBaseline && c.Role != tare.RoleContender {
			continue
		}
		build := nothing // it was in the cache
		if c.Adoption.ColdBuildSeconds > 0 {
			build = fixed(c.Adoption.ColdBuildSeconds, 1)
		}
		t.rows = append(t.rows, row{cells: []cell{
			{text: c.ID}, coded(c.String()), {text: grouped(float64(c.Adoption.ModulesLinked), 0)}, {text: grouped(float64(c.BinaryBytes), 0)}, {text: build},
		}})
	}
	if len(t.rows) > 0 {
		s.block("What taking one in brings with it (the contender's whole program, harness included):")
		s.table(t)
	}
}

// inWords is a list as people say it: a, b and c.
func inWords(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
