package gate

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/stats"
)

// The sides' ids in a result, which also has a control.
const (
	BaseID = "base"
	HeadID = "head"
)

// member is one row and what its interval is made from: ln(head/base), one per round, or
// of a limit the head's values.
type member struct {
	row *Row
	judge.Question
	own *evidence.Index // of the row's result
}

// collectQuestions returns those of a family. If edges are set, they replace its own.
func collectQuestions(family []member, edges ...float64) []judge.Question {
	var out []judge.Question
	for _, m := range family {
		if len(edges) > 0 {
			m.Edges = edges
		}
		out = append(out, m.Question)
	}
	return out
}

// judgeMembers gives every member without an outcome its outcome.
func judgeMembers(family []member, alpha float64) {
	family = slices.DeleteFunc(slices.Clone(family), func(m member) bool { return m.row.Outcome != "" && m.row.Outcome != Void })
	spans := judge.Settle(collectQuestions(family), alpha)
	ratios := slices.DeleteFunc(slices.Clone(family), func(m member) bool { return m.Median })
	atNone := judge.Settle(collectQuestions(ratios, 0), alpha)
	for i, m := range family {
		switch {
		case m.row.Outcome == Void:
		case m.Median:
			m.judgeLimit(spans[i])
		default:
			none := atNone[slices.IndexFunc(ratios, func(r member) bool { return r.row == m.row })]
			m.judgeRatio(spans[i], none, m.Edges[0])
		}
	}
}

// judgeRatio gives a member its outcome about the margin: s is its interval for that, none the one
// about no difference. edge is the logarithm of 1 + margin.
func (m member) judgeRatio(s, none stats.Span, edge float64) {
	r := m.row
	r.Outcome = Open
	switch floor := r.noiseFloor(); {
	case !s.OK:
		if r.Level = s.Level; r.Rounds > 0 && r.why == "" {
			r.Needed = stats.MinRounds(stats.LookLevel(1-s.Level, m.Looks))
		}
		return
	case s.Low > edge && tare.Exceeds(r.Ratio, floor):
		r.Outcome = Worse
	case s.Low > edge: // the control, which is the base once more, differs as much
	case s.High <= edge:
		r.Outcome = NoWorse
		if none.OK && none.High < 0 && tare.Exceeds(r.Ratio, floor) {
			r.Outcome, s = Better, none
		}
	}
	r.Low, r.High, r.Level = math.Exp(s.Low), math.Exp(s.High), s.Level
	if r.Outcome == Open {
		if n, ok := stats.RoundsNeeded(m.Effects, stats.LookLevel(1-s.Level, m.Looks), stats.MaxRounds, edge); ok && n > r.Rounds {
			r.Needed = n
		}
	}
}

// newMembers returns a member for each row that is to be judged. Rows that need no interval have
// their outcome already.
func newMembers(m Measured, g project.Gate) []member {
	var out []member
	for k, res := range m.Results {
		index := evidence.FromResult(res).Index()
		held, listed := m.Held[res.Study]
		if !listed {
			held.Metrics = gatedMetrics(g)
		}
		var some []member
		for _, w := range res.Workloads {
			for _, name := range held.Metrics {
				metric, ok := tare.MetricNamed(name)
				if !ok || !slices.Contains(res.Metrics, name) || !w.Measures(metric) {
					continue
				}
				r := newMeasuredRow(res, index, held, w.ID, metric)
				margin := g.MarginOf(r.Benchmark, name)
				if margin != g.Margin {
					r.Margin = margin
				}
				e, _ := tare.EffectsOf(res.Rounds, w.ID, name, HeadID, BaseID)
				one := member{r, judge.Question{Effects: e.Effects, Edges: []float64{math.Log1p(margin)}, Looks: max(1, len(res.Plan.Looks))}, index}
				r.Rounds = len(one.Effects)
				if r.Rounds > 0 {
					r.Ratio = math.Exp(stats.HodgesLehmann(one.Effects))
				}
				some = append(some, one.markVoid())
			}
			some = append(some, newLimitMembers(res, index, held, w)...)
		}
		for _, one := range some {
			if k < len(m.On) {
				one.row.Machine = m.On[k]
			}
			if i := slices.IndexFunc(out, one.sameRow); i >= 0 {
				out[i] = out[i].poolRounds(one)
				continue
			}
			out = append(out, one)
		}
	}
	return out
}

// sameRow reports whether o is about the same, measured before.
func (m member) sameRow(o member) bool {
	return !o.Median && !m.Median && o.row.Benchmark == m.row.Benchmark && o.row.Metric == m.row.Metric && o.row.Machine == m.row.Machine
}

// poolRounds adds the rounds of later, which measured the same row afterwards. The interim analyses
// of both are paid for.
func (m member) poolRounds(later member) member {
	r := m.row
	r.again, m.Looks = later.row.result, m.Looks+later.Looks
	switch {
	case r.why != "":
		return m
	case later.row.why != "":
		r.Outcome, r.why, r.Advice, m.Effects = later.row.Outcome, later.row.why, later.row.Advice, nil
		return m
	}
	m.Effects = slices.Concat(m.Effects, later.Effects)
	if r.Rounds = len(m.Effects); r.Rounds > 0 {
		r.Ratio = math.Exp(stats.HodgesLehmann(m.Effects))
	}
	return m
}

// noiseFloor returns the noise floor of a row, the larger one if it was measured twice.
func (r *Row) noiseFloor() float64 {
	floor := tare.NoiseFloor(r.result.Comparisons, r.workload, r.Metric)
	if r.again != nil {
		floor = max(floor, tare.NoiseFloor(r.again.Comparisons, r.workload, r.Metric))
	}
	return floor
}

// newMeasuredRow returns the row of a workload with the values of both sides, before it
// is judged.
func newMeasuredRow(res *tare.Result, index *evidence.Index, held Held, workload string, metric tare.Metric) *Row {
	r := newRow(res, held, workload, metric)
	r.Base, r.Head = sideValue(res, index, workload, BaseID, metric), sideValue(res, index, workload, HeadID, metric)
	return r
}

// newRow returns the row of a workload without values.
func newRow(res *tare.Result, held Held, workload string, metric tare.Metric) *Row {
	r := &Row{Benchmark: rowName(res, held, workload), Metric: metric.Name, Unit: metric.Unit, result: res, workload: workload}
	r.File, r.Line = held.File, held.Line
	r.SameCode = slices.ContainsFunc(res.Findings, func(f tare.Finding) bool { return f.Check == checkSameCode && f.Workload == workload })
	return r
}

// checkAudit is the note of tare bench that the rules of tare audit find something in a
// benchmark.
const checkAudit = "audit"

// checkSameCode is the note of tare bench that the machine code of a benchmark is
// the same on both sides.
const checkSameCode = "same-code"

// checkGenerator is the check that the load generator could keep up.
const checkGenerator = "generator-headroom"

// markVoid returns m without effects if something voids it; it stays in the family, which was fixed
// before.
func (m member) markVoid() member {
	r := m.row
	if f, ok := findVoid(r.result, r.workload, r.Metric); ok {
		r.why, r.Advice, m.Effects = f.Message, f.Advice, nil
		if f.Check != checkGenerator { // no fault of either side: it is open
			r.Outcome = Void
		}
	}
	return m
}

// rowName returns the name of a workload in a report: a benchmark's id, which is unique in the
// repository, and for others the name of Held.
func rowName(res *tare.Result, held Held, workload string) string {
	switch {
	case packageOf(workload) != "":
		return workload
	case held.Name != "" && len(res.Workloads) == 1 && workload == onlyRequests:
		return held.Name
	case held.Name != "":
		return held.Name + " " + workload
	}
	return res.Study + " " + workload
}

// findVoid returns the finding that voids metric of either side on workload.
func findVoid(res *tare.Result, workload, metric string) (tare.Finding, bool) {
	for _, id := range []string{HeadID, BaseID} {
		if fs := res.VoidsMetric(id, workload, metric); len(fs) > 0 {
			return fs[0], true
		}
	}
	return tare.Finding{}, false
}

// sideValue returns the median over rounds of one side; 0 if it was not measured.
func sideValue(res *tare.Result, index *evidence.Index, workload, contender string, m tare.Metric) float64 {
	if v, ok := res.Value(workload, contender, m.Name); ok {
		return v.Value
	}
	if xs := index.PerRound(m, workload, contender); len(xs) > 0 {
		return stats.Median(xs)
	}
	return 0
}

// sortRows puts the worst rows first.
func sortRows(rows []Row) {
	order := []Outcome{Worse, Void, Open, Better, NoWorse}
	slices.SortStableFunc(rows, func(a, b Row) int {
		waived := func(r Row) int {
			if r.Waived != nil {
				return 1
			}
			return 0
		}
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Outcome), slices.Index(order, b.Outcome)),
			cmp.Compare(waived(a), waived(b)),
			cmp.Compare(b.Ratio, a.Ratio),
			cmp.Compare(a.Benchmark, b.Benchmark),
			cmp.Compare(a.Machine, b.Machine),
		)
	})
}
