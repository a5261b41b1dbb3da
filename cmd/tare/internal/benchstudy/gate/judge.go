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

// This file decides the rows of a gate's report: is the head, the changed revision, worse than the base by more
// than the margin, in one benchmark and metric? All rows form one family, which shares the error level alpha.

// The ids of both sides in a result. A result also has a control, which is the base measured again.
const (
	BaseID = "base"
	HeadID = "head"
)

// member is a row of the family and the question that decides it: the effects of the rounds, and the edge
// on whose sides the outcomes are. Effects are ln(head/base) of each round and the edge is ln(1 + margin).
// If the row has a limit, both are values of the head, and Median is set.
type member struct {
	row            *Row
	judge.Question                 // Effects, Edges, Looks and Median
	index          *evidence.Index // values of the row's result
}

// collectQuestions returns the questions of a family. If edges are passed, every question gets them in
// place of its own.
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

// judgeMembers sets the outcome of every member that has none. A void member stays void, but counts in
// the size of the family, by which the error level alpha is divided.
func judgeMembers(family []member, alpha float64) {
	family = slices.DeleteFunc(slices.Clone(family), func(m member) bool { return m.row.Outcome != "" && m.row.Outcome != Void })
	spans := judge.Settle(collectQuestions(family), alpha)
	ratios := slices.DeleteFunc(slices.Clone(family), func(m member) bool { return m.Median })
	zeroSpans := judge.Settle(collectQuestions(ratios, 0), alpha) // is there a difference: ln(head/base) ≠ 0
	for i, m := range family {
		switch {
		case m.row.Outcome == Void:
			// It stays void.
		case m.Median:
			m.judgeLimit(spans[i])
		default:
			ratio := slices.IndexFunc(ratios, func(r member) bool { return r.row == m.row })
			m.judgeRatio(spans[i], zeroSpans[ratio], m.Edges[0])
		}
	}
}

// judgeRatio sets the outcome of a row with ratios. span is the interval that is compared with the edge
// ln(1 + margin), and zeroSpan the one that is compared with 0, no difference. Worse and Better also need
// a ratio beyond the noise floor, the apparent difference of the base and the control.
func (m member) judgeRatio(span, zeroSpan stats.Span, edge float64) {
	r := m.row
	r.Outcome = Open
	switch floor := r.noiseFloor(); {
	case !span.OK: // too few rounds for an interval
		if r.Level = span.Level; r.Rounds > 0 && r.why == "" {
			r.RoundsNeeded = stats.MinRounds(stats.LookLevel(1-span.Level, m.Looks))
		}
		return
	case span.Low > edge && tare.Exceeds(r.Ratio, floor):
		r.Outcome = Worse
	case span.Low > edge:
		// Beyond the margin, but within the noise floor: the row stays open.
	case span.High <= edge:
		r.Outcome = NoWorse
		if zeroSpan.OK && zeroSpan.High < 0 && tare.Exceeds(r.Ratio, floor) {
			r.Outcome, span = Better, zeroSpan
		}
	}
	r.Low, r.High, r.Level = math.Exp(span.Low), math.Exp(span.High), span.Level
	if r.Outcome == Open {
		if n, ok := stats.RoundsNeeded(m.Effects, stats.LookLevel(1-span.Level, m.Looks), stats.MaxRounds, edge); ok && n > r.Rounds {
			r.RoundsNeeded = n
		}
	}
}

// newMembers returns the members of all results. A row that was measured twice is one member with the
// rounds of both.
func newMembers(measured Measured, rules project.Gate) []member {
	var family []member
	for i, res := range measured.Results {
		required, isListed := measured.Requirements[res.Study]
		if !isListed {
			required.Metrics = gatedMetrics(rules)
		}
		for _, m := range newResultMembers(res, required, rules) {
			if i < len(measured.MachineNames) {
				m.row.Machine = measured.MachineNames[i]
			}
			if earlier := slices.IndexFunc(family, m.isSameRow); earlier >= 0 {
				family[earlier] = family[earlier].poolRounds(m)
				continue
			}
			family = append(family, m)
		}
	}
	return family
}

// newResultMembers returns a member for each required metric, and each limit, of each workload of res.
func newResultMembers(res *tare.Result, required Requirements, rules project.Gate) []member {
	index := evidence.FromResult(res).Index()
	var members []member
	for _, workload := range res.Workloads {
		for _, name := range required.Metrics {
			metric, ok := tare.MetricNamed(name)
			if !ok || !slices.Contains(res.Metrics, name) || !workload.Measures(metric) {
				continue
			}
			row := newMeasuredRow(res, index, required, workload.ID, metric)
			margin := rules.MarginOf(row.Benchmark, name)
			if margin != rules.Margin {
				row.Margin = margin
			}
			e, _ := tare.EffectsOf(res.Rounds, workload.ID, name, HeadID, BaseID)
			question := judge.Question{Effects: e.Effects, Edges: []float64{math.Log1p(margin)}, Looks: max(1, len(res.Plan.Looks))}
			row.Rounds = len(e.Effects)
			if row.Rounds > 0 {
				row.Ratio = math.Exp(stats.HodgesLehmann(e.Effects))
			}
			members = append(members, member{row: row, Question: question, index: index}.markVoid())
		}
		members = append(members, newLimitMembers(res, index, required, workload)...)
	}
	return members
}

// isSameRow reports whether m and other have the same benchmark, metric and machine, and both no limit.
func (m member) isSameRow(other member) bool {
	a, b := m.row, other.row
	isSame := a.Benchmark == b.Benchmark && a.Metric == b.Metric && a.Machine == b.Machine
	return isSame && !m.Median && !other.Median
}

// poolRounds adds the rounds of later, a second measurement of the same row. The error level of the
// row is divided among the interim analyses of both measurements. If one of them is void, so is the row.
func (m member) poolRounds(later member) member {
	r := m.row
	r.secondResult, m.Looks = later.row.result, m.Looks+later.Looks
	if r.why != "" {
		return m // void already
	}
	if later.row.why != "" {
		r.Outcome, r.why, r.Advice, m.Effects = later.row.Outcome, later.row.why, later.row.Advice, nil
		return m
	}
	m.Effects = slices.Concat(m.Effects, later.Effects)
	if r.Rounds = len(m.Effects); r.Rounds > 0 {
		r.Ratio = math.Exp(stats.HodgesLehmann(m.Effects))
	}
	return m
}

// noiseFloor returns the noise floor of a row, or the larger of two if the row was measured twice.
func (r *Row) noiseFloor() float64 {
	floor := tare.NoiseFloor(r.result.Comparisons, r.workload, r.Metric)
	if r.secondResult != nil {
		floor = max(floor, tare.NoiseFloor(r.secondResult.Comparisons, r.workload, r.Metric))
	}
	return floor
}

// newMeasuredRow returns the row of a workload with the values of both sides and without an outcome.
func newMeasuredRow(res *tare.Result, index *evidence.Index, required Requirements, workload string, metric tare.Metric) *Row {
	r := newRow(res, required, workload, metric)
	r.Base, r.Head = sideValue(res, index, workload, BaseID, metric), sideValue(res, index, workload, HeadID, metric)
	return r
}

// newRow returns the row of a workload without values and outcome.
func newRow(res *tare.Result, required Requirements, workload string, metric tare.Metric) *Row {
	r := &Row{Benchmark: rowName(res, required, workload), Metric: metric.Name, Unit: metric.Unit, result: res, workload: workload}
	r.File, r.Line = required.File, required.Line
	r.SameCode = slices.ContainsFunc(res.Findings, func(f tare.Finding) bool { return f.Check == checkSameCode && f.Workload == workload })
	return r
}

// Checks whose findings a gate treats differently from those of other checks.
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

// rowName returns the name of a workload in a report. For a Go benchmark it is the workload's id, which is
// unique in the repository. For another workload it is the name in the requirements, or else the study's
// id, followed by the workload's id.
func rowName(res *tare.Result, required Requirements, workload string) string {
	switch {
	case packageOf(workload) != "":
		return workload
	case required.Name != "" && len(res.Workloads) == 1 && workload == onlyRequests:
		return required.Name
	case required.Name != "":
		return required.Name + " " + workload
	}
	return res.Study + " " + workload
}

// findVoid returns the finding that voids metric of either side on workload.
func findVoid(res *tare.Result, workload, metric string) (f tare.Finding, ok bool) {
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

// sortRows sorts by outcome, the worst first, with waived rows behind others of the same outcome; then by
// falling ratio, benchmark and machine.
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
