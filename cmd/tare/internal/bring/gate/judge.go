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

// The sides' ids in a result, besides its control.
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

// questions returns those of a family. If edges are set, they replace its own.
func questions(family []member, edges ...float64) []judge.Question {
	var out []judge.Question
	for _, m := range family {
		if len(edges) > 0 {
			m.Edges = edges
		}
		out = append(out, m.Question)
	}
	return out
}

// rule gives every member its word that has none yet.
func rule(family []member, alpha float64) {
	family = slices.DeleteFunc(slices.Clone(family), func(m member) bool { return m.row.Outcome != "" && m.row.Outcome != Void })
	spans := judge.Settle(questions(family), alpha)
	ratios := slices.DeleteFunc(slices.Clone(family), func(m member) bool { return m.Median })
	atNone := judge.Settle(questions(ratios, 0), alpha)
	for i, m := range family {
		switch {
		case m.row.Outcome == Void:
		case m.Median:
			m.ruleLimit(spans[i])
		default:
			none := atNone[slices.IndexFunc(ratios, func(r member) bool { return r.row == m.row })]
			m.ruleRatio(spans[i], none, m.Edges[0])
		}
	}
}

// ruleRatio gives a member its word about the margin: s is its interval for
// that, none the one about no difference.
func (m member) ruleRatio(s, none stats.Span, edge float64) {
	r := m.row
	r.Outcome = Open
	switch floor := r.floor(); {
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

// members are the rows of everything that was asked, and what they are judged
// by. Rows that need no interval have their outcome already.
func members(m Measured, g project.Gate) []member {
	var out []member
	for at, res := range m.Results {
		index := evidence.FromResult(res).Index()
		held, besides := m.Held[res.Study]
		if !besides {
			held.Metrics = metrics(g)
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
				some = append(some, one.unlessVoid())
			}
			some = append(some, limits(res, index, held, w)...)
		}
		for _, one := range some {
			if at < len(m.On) {
				one.row.Machine = m.On[at]
			}
			if i := slices.IndexFunc(out, one.sameRow); i >= 0 {
				out[i] = out[i].pool(one)
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

// pool takes in what was measured of the same row afterwards. Every look of
// either is paid for.
func (m member) pool(later member) member {
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

// floor is the noise floor of a row.
func (r *Row) floor() float64 {
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
	r.Base, r.Head = value(res, index, workload, BaseID, metric), value(res, index, workload, HeadID, metric)
	return r
}

// newRow returns the row of a workload without values.
func newRow(res *tare.Result, held Held, workload string, metric tare.Metric) *Row {
	r := &Row{Benchmark: named(res, held, workload), Metric: metric.Name, Unit: metric.Unit, result: res, workload: workload}
	r.File, r.Line = held.File, held.Line
	r.SameCode = slices.ContainsFunc(res.Findings, func(f tare.Finding) bool { return f.Check == ofSameCode && f.Workload == workload })
	return r
}

// ofSameCode is the note of tare bench that the machine code of a benchmark is
// the same on both sides.
const ofSameCode = "same-code"

// ofGenerator is the check that the load generator could keep up.
const ofGenerator = "generator-headroom"

// unlessVoid is m without figures where something voids it; it stays in the
// family, which was fixed before.
func (m member) unlessVoid() member {
	r := m.row
	if f, ok := voided(r.result, r.workload, r.Metric); ok {
		r.why, r.Advice, m.Effects = f.Message, f.Advice, nil
		if f.Check != ofGenerator { // that is no fault of either side: it cannot be told
			r.Outcome = Void
		}
	}
	return m
}

// named is what a gate calls a workload: a benchmark by its own name, which is
// the only one in the repository, others with what they are held as.
func named(res *tare.Result, held Held, workload string) string {
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

// voided is what voids metric of either side on workload.
func voided(res *tare.Result, workload, metric string) (tare.Finding, bool) {
	for _, id := range []string{HeadID, BaseID} {
		if fs := res.VoidsMetric(id, workload, metric); len(fs) > 0 {
			return fs[0], true
		}
	}
	return tare.Finding{}, false
}

// value returns the median over rounds of what one side took; 0 if it was not measured.
func value(res *tare.Result, index *evidence.Index, workload, contender string, m tare.Metric) float64 {
	if v, ok := res.Value(workload, contender, m.Name); ok {
		return v.Value
	}
	if xs := index.PerRound(m, workload, contender); len(xs) > 0 {
		return stats.Median(xs)
	}
	return 0
}

// sort puts the worst rows first.
func sort(rows []Row) {
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
