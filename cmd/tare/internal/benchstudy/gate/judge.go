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

// member is a row of the family and the question that decides it. The question's effects are
// ln(head/base) of each round, or the head's values if the row has a limit.
type member struct {
	row *Row
	judge.Question
	index *evidence.Index // values of the row's result
}

// collectQuestions returns the questions of a family. If edges are passed, they replace the edges of
// each question.
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
	zeroSpans := judge.Settle(collectQuestions(ratios, 0), alpha) // about no difference: ln(head/base) = 0
	for i, m := range family {
		switch {
		case m.row.Outcome == Void: // it stays void, but counts as a member
		case m.Median:
			m.judgeLimit(spans[i])
		default:
			k := slices.IndexFunc(ratios, func(r member) bool { return r.row == m.row })
			m.judgeRatio(spans[i], zeroSpans[k], m.Edges[0])
		}
	}
}

// judgeRatio sets the outcome of a row with ratios. s is the interval about the margin, zero the one
// about no difference; edge is ln(1 + margin). Worse and Better need a difference beyond the noise
// floor, too: the control, which is the base once more, does not differ as much.
func (m member) judgeRatio(s, zero stats.Span, edge float64) {
	r := m.row
	r.Outcome = Open
	switch floor := r.noiseFloor(); {
	case !s.OK: // too few rounds for an interval
		if r.Level = s.Level; r.Rounds > 0 && r.why == "" {
			r.Needed = stats.MinRounds(stats.LookLevel(1-s.Level, m.Looks))
		}
		return
	case s.Low > edge && tare.Exceeds(r.Ratio, floor):
		r.Outcome = Worse
	case s.Low > edge: // within the noise floor: it stays open
	case s.High <= edge:
		r.Outcome = NoWorse
		if zero.OK && zero.High < 0 && tare.Exceeds(r.Ratio, floor) {
			r.Outcome, s = Better, zero
		}
	}
	r.Low, r.High, r.Level = math.Exp(s.Low), math.Exp(s.High), s.Level
	if r.Outcome == Open {
		if n, ok := stats.RoundsNeeded(m.Effects, stats.LookLevel(1-s.Level, m.Looks), stats.MaxRounds, edge); ok && n > r.Rounds {
			r.Needed = n
		}
	}
}

// newMembers returns a member for each required metric, and each limit, of each measured workload. A
// row that was measured twice is one member with the rounds of both.
func newMembers(m Measured, g project.Gate) []member {
	var family []member
	for k, res := range m.Results {
		index := evidence.FromResult(res).Index()
		held, listed := m.Held[res.Study]
		if !listed {
			held.Metrics = gatedMetrics(g)
		}
		var members []member // of this result
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
				question := judge.Question{Effects: e.Effects, Edges: []float64{math.Log1p(margin)}, Looks: max(1, len(res.Plan.Looks))}
				r.Rounds = len(e.Effects)
				if r.Rounds > 0 {
					r.Ratio = math.Exp(stats.HodgesLehmann(e.Effects))
				}
				members = append(members, member{row: r, Question: question, index: index}.markVoid())
			}
			members = append(members, newLimitMembers(res, index, held, w)...)
		}
		for _, one := range members {
			if k < len(m.On) {
				one.row.Machine = m.On[k]
			}
			if i := slices.IndexFunc(family, one.isSameRow); i >= 0 {
				family[i] = family[i].poolRounds(one)
				continue
			}
			family = append(family, one)
		}
	}
	return family
}

// isSameRow reports whether o has the same benchmark, metric and machine, and neither has a limit.
func (m member) isSameRow(o member) bool {
	return !o.Median && !m.Median && o.row.Benchmark == m.row.Benchmark && o.row.Metric == m.row.Metric && o.row.Machine == m.row.Machine
}

// poolRounds adds the rounds of later, a second measurement of the same row. The error level of the
// row is divided among the interim analyses of both. If one of them is void, so is the row.
func (m member) poolRounds(later member) member {
	r := m.row
	r.again, m.Looks = later.row.result, m.Looks+later.Looks
	switch {
	case r.why != "":
		return m // void already
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

// noiseFloor returns the noise floor of a row; the larger one if the row was measured twice.
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

// Checks whose findings a gate treats in its own way.
const (
	checkAudit     = "audit"              // tare audit finds something in a benchmark
	checkSameCode  = "same-code"          // the machine code of a benchmark is the same on both sides
	checkGenerator = "generator-headroom" // the load generator could not keep up
)

// markVoid removes the effects of m if a finding voids it. The member stays in the family, whose size
// was fixed before measuring.
func (m member) markVoid() member {
	r := m.row
	if f, ok := findVoid(r.result, r.workload, r.Metric); ok {
		r.why, r.Advice, m.Effects = f.Message, f.Advice, nil
		if f.Check != checkGenerator { // neither side is to blame for a slow generator: the row is open
			r.Outcome = Void
		}
	}
	return m
}

// rowName returns the name of a workload in a report: the id of a Go benchmark, which is unique in the
// repository, and for other workloads their id after the name in the requirements, or of the study.
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

// sortRows puts the worst rows first: by outcome, waived rows last, then by ratio and name.
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
