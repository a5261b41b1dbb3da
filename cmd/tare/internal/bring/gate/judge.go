package gate

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/stats"
)

// The sides' ids in a result, besides its control.
const (
	BaseID = "base"
	HeadID = "head"
)

// member is one row and what its interval is made from.
type member struct {
	row     *Row
	effects []float64 // ln(head/base), one per round; of a limit the head's figures
	looks   int
	limit   bool
	margin  float64
}

// span takes the interval at level alpha.
func (m member) span(alpha float64) (s stats.Span) {
	if m.limit {
		s.Low, s.High, s.OK = stats.OrderInterval(m.effects, alpha)
	} else {
		s.Low, s.High, s.OK = stats.Interval(m.effects, stats.LookLevel(alpha, m.looks))
	}
	return s
}

// edge is what the interval is to lie on one side of.
func (m member) edge() float64 {
	if m.limit {
		return m.row.Limit
	}
	return math.Log1p(m.margin)
}

// settle takes the intervals of a family. A member is open while its interval
// holds its edge.
func settle(family []member, alpha float64, edge func(member) float64) []stats.Span {
	return stats.StepDown(len(family), alpha,
		func(i int, alpha float64) stats.Span { return family[i].span(alpha) },
		func(i int, s stats.Span) bool { return s.Holds(edge(family[i])) })
}

// rule gives every member its word that has none yet.
func rule(family []member, alpha float64) {
	family = slices.DeleteFunc(slices.Clone(family), func(m member) bool { return m.row.Outcome != "" && m.row.Outcome != Void })
	spans := settle(family, alpha, member.edge)
	ratios := slices.DeleteFunc(slices.Clone(family), func(m member) bool { return m.limit })
	atNone := settle(ratios, alpha, func(member) float64 { return 0 })
	for i, m := range family {
		switch {
		case m.row.Outcome == Void:
		case m.limit:
			m.ruleLimit(spans[i])
		default:
			none := atNone[slices.IndexFunc(ratios, func(r member) bool { return r.row == m.row })]
			m.ruleRatio(spans[i], none, m.edge())
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
			r.Needed = stats.MinRounds(stats.LookLevel(1-s.Level, m.looks))
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
		if n, ok := stats.RoundsNeeded(m.effects, stats.LookLevel(1-s.Level, m.looks), stats.MaxRounds, edge); ok && n > r.Rounds {
			r.Needed = n
		}
	}
}

// members are the rows of everything that was asked, and what they are judged
// by. Rows that need no interval have their outcome already.
func members(m Measured, g project.Gate) []member {
	var out []member
	for at, res := range m.Results {
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
				r := newRow(res, held, w.ID, metric)
				e, _ := tare.EffectsOf(res.Rounds, w.ID, name, HeadID, BaseID)
				one := member{row: r, effects: e.Effects, looks: max(1, len(res.Plan.Looks)), margin: g.MarginOf(r.Benchmark, name)}
				if one.margin != g.Margin {
					r.Margin = one.margin
				}
				r.Rounds = len(one.effects)
				if r.Rounds > 0 {
					r.Ratio = math.Exp(stats.HodgesLehmann(one.effects))
				}
				some = append(some, one.unlessVoid())
			}
			some = append(some, limits(res, held, w)...)
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
	return !o.limit && !m.limit && o.row.Benchmark == m.row.Benchmark && o.row.Metric == m.row.Metric && o.row.Machine == m.row.Machine
}

// pool takes in what was measured of the same row afterwards. Every look of
// either is paid for.
func (m member) pool(later member) member {
	r := m.row
	r.again, m.looks = later.row.result, m.looks+later.looks
	switch {
	case r.why != "":
		return m
	case later.row.why != "":
		r.Outcome, r.why, r.Advice, m.effects = later.row.Outcome, later.row.why, later.row.Advice, nil
		return m
	}
	m.effects = slices.Concat(m.effects, later.effects)
	if r.Rounds = len(m.effects); r.Rounds > 0 {
		r.Ratio = math.Exp(stats.HodgesLehmann(m.effects))
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

// newRow is the row of a workload before it is judged.
func newRow(res *tare.Result, held Held, workload string, metric tare.Metric) *Row {
	r := &Row{Benchmark: named(res, held, workload), Metric: metric.Name, Unit: metric.Unit, result: res, workload: workload}
	r.File, r.Line = held.File, held.Line
	r.SameCode = slices.ContainsFunc(res.Findings, func(f tare.Finding) bool { return f.Check == ofSameCode && f.Workload == workload })
	r.Base, r.Head = value(res, workload, BaseID, metric), value(res, workload, HeadID, metric)
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
		r.why, r.Advice, m.effects = f.Message, f.Advice, nil
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

// value is the median over rounds of what one side took; zero where it was not
// measured.
func value(res *tare.Result, workload, contender string, m tare.Metric) float64 {
	for _, v := range res.Values {
		if v.Workload == workload && v.Contender == contender && v.Metric == m.Name {
			return v.Value
		}
	}
	if xs := samples(res, workload, contender, m); len(xs) > 0 {
		return stats.Median(xs)
	}
	return 0
}

// samples are the figures of one side, one per round that has one.
func samples(res *tare.Result, workload, contender string, m tare.Metric) []float64 {
	var out []float64
	for _, t := range res.Trials {
		if t.Contender != contender || t.Tau > 1 || t.Error != nil {
			continue
		}
		if v, ok := t.Samples[workload][m.Key]; ok {
			out = append(out, v)
		}
	}
	return out
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
