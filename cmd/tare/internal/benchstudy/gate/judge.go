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

// This file decides the rows of a gate's report. A row shows whether the head is worse than the base
// by more than the margin, in one benchmark and metric. For example: the margin is 5 % and the
// ratio head/base is 1.08 to 1.12, so BenchmarkEncode is worse. All rows are a family, and each row
// is a member. They share the error level alpha: the probability that any is decided wrongly.

// The ids of both sides in a result. A result also has a control: the base measured again.
const (
	BaseID = "base"
	HeadID = "head"
)

// member is a row and its question: are the effects above the edge? An effect is ln(head/base) of
// one round. The edge is ln(1 + margin). For a row with a limit, the effects are the head's values
// and the edge is the limit.
type member struct {
	row            *Row
	judge.Question                 // Looks is the number of interim analyses; Median means a limit
	index          *evidence.Index // values of the row's result
}

func (m member) hasLimit() bool { return m.Median }

// newMembers returns the members of all results. A row measured twice is one member.
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

func newResultMembers(res *tare.Result, required Requirements, rules project.Gate) []member {
	index := evidence.FromResult(res).Index()
	var members []member
	for _, workload := range res.Workloads {
		for _, name := range required.Metrics {
			metric, ok := tare.MetricNamed(name)
			if ok && slices.Contains(res.Metrics, name) && workload.Measures(metric) {
				row := newMeasuredRow(res, index, required, workload.ID, metric)
				members = append(members, newRatioMember(row, index, rules).markVoid())
			}
		}
		members = append(members, newLimitMembers(res, index, required, workload)...)
	}
	return members
}

func newRatioMember(row *Row, index *evidence.Index, rules project.Gate) member {
	margin := rules.MarginOf(row.Benchmark, row.Metric)
	if margin != rules.Margin {
		row.Margin = margin
	}
	res := row.result
	ratios, _ := tare.EffectsOf(res.Rounds, row.workload, row.Metric, HeadID, BaseID)
	row.setRounds(ratios.Effects)
	question := judge.Question{Effects: ratios.Effects, Edges: []float64{math.Log1p(margin)}, Looks: max(1, len(res.Plan.Looks))}
	return member{row: row, Question: question, index: index}
}

// setRounds sets the number of rounds and the ratio. effects has ln(head/base) of each round.
func (r *Row) setRounds(effects []float64) {
	if r.Rounds = len(effects); r.Rounds > 0 {
		r.Ratio = math.Exp(stats.HodgesLehmann(effects))
	}
}

func newMeasuredRow(res *tare.Result, index *evidence.Index, required Requirements, workload string, metric tare.Metric) *Row {
	r := newRow(res, required, workload, metric)
	r.Base, r.Head = sideValue(res, index, workload, BaseID, metric), sideValue(res, index, workload, HeadID, metric)
	return r
}

func newRow(res *tare.Result, required Requirements, workload string, metric tare.Metric) *Row {
	r := &Row{Benchmark: rowName(res, required, workload), Metric: metric.Name, Unit: metric.Unit, result: res, workload: workload}
	r.File, r.Line = required.File, required.Line
	r.SameCode = slices.ContainsFunc(res.Findings, func(f tare.Finding) bool { return f.Check == checkSameCode && f.Workload == workload })
	return r
}

// rowName returns the name of a workload in a report. A Go benchmark has a unique id. Others get
// the requirements' name or the study's id in front.
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

// sideValue returns the median over rounds of one side, or 0 if it was not measured.
func sideValue(res *tare.Result, index *evidence.Index, workload, contender string, m tare.Metric) float64 {
	if v, ok := res.Value(workload, contender, m.Name); ok {
		return v.Value
	}
	if xs := index.PerRound(m, workload, contender); len(xs) > 0 {
		return stats.Median(xs)
	}
	return 0
}

const (
	checkAudit     = "audit"
	checkSameCode  = "same-code"
	checkGenerator = "generator-headroom" // the load generator could not keep up
)

// markVoid removes the effects of m if a finding voids it. The size of the family was fixed before
// measuring.
func (m member) markVoid() member {
	r := m.row
	if f, ok := findVoid(r.result, r.workload, r.Metric); ok {
		r.why, r.Advice, m.Effects = f.Message, f.Advice, nil
		if f.Check != checkGenerator { // neither side is to blame for a slow generator
			r.Outcome = Void
		}
	}
	return m
}

func findVoid(res *tare.Result, workload, metric string) (f tare.Finding, ok bool) {
	for _, id := range []string{HeadID, BaseID} {
		if fs := res.VoidsMetric(id, workload, metric); len(fs) > 0 {
			return fs[0], true
		}
	}
	return tare.Finding{}, false
}

// isSameRow reports whether m and other have the same benchmark, metric and machine. Rows with a
// limit are never the same.
func (m member) isSameRow(other member) bool {
	a, b := m.row, other.row
	isSame := a.Benchmark == b.Benchmark && a.Metric == b.Metric && a.Machine == b.Machine
	return isSame && !m.hasLimit() && !other.hasLimit()
}

// poolRounds adds the rounds of later, a second measurement of the same row. Both measurements share
// the row's error level. If one of them is void, so is the row.
func (m member) poolRounds(later member) member {
	r := m.row
	r.secondResult, m.Looks = later.row.result, m.Looks+later.Looks
	if r.why != "" {
		return m
	}
	if later.row.why != "" {
		r.Outcome, r.why, r.Advice, m.Effects = later.row.Outcome, later.row.why, later.row.Advice, nil
		return m
	}
	m.Effects = slices.Concat(m.Effects, later.Effects)
	r.setRounds(m.Effects)
	return m
}

// judgeMembers sets the outcome of every member that has none. Void members count in the size of
// the family.
func judgeMembers(family []member, alpha float64) {
	var undecided, differences []member
	for _, m := range family {
		if m.row.Outcome != "" && m.row.Outcome != Void {
			continue
		}
		undecided = append(undecided, m)
		if !m.hasLimit() {
			m.Edges = []float64{0} // is ln(head/base) above or below 0?
			differences = append(differences, m)
		}
	}
	spans, zeroSpans := settleIntervals(undecided, alpha), settleIntervals(differences, alpha)
	for _, m := range undecided {
		switch {
		case m.row.Outcome == Void:
			continue
		case m.hasLimit():
			m.judgeLimit(spans[m.row])
		default:
			m.judgeRatio(spans[m.row], zeroSpans[m.row])
		}
	}
}

func settleIntervals(family []member, alpha float64) map[*Row]stats.Span {
	var questions []judge.Question
	for _, m := range family {
		questions = append(questions, m.Question)
	}
	spans := map[*Row]stats.Span{}
	for i, span := range judge.Settle(questions, alpha) {
		spans[family[i].row] = span
	}
	return spans
}

// judgeRatio sets the outcome of a row with a ratio. It compares span with the edge ln(1 + margin),
// and zeroSpan with 0, no difference.
func (m member) judgeRatio(span, zeroSpan stats.Span) {
	r := m.row
	r.Level = span.Level
	if !span.OK { // too few rounds
		r.Outcome = Open
		if r.Rounds > 0 && r.why == "" {
			r.RoundsNeeded = stats.MinRounds(stats.LookLevel(1-span.Level, m.Looks))
		}
		return
	}
	r.Outcome = m.compareRatio(span, zeroSpan)
	if r.Outcome == Better {
		span = zeroSpan // the interval that shows it
	}
	r.Low, r.High, r.Level = math.Exp(span.Low), math.Exp(span.High), span.Level
	if r.Outcome == Open {
		level := stats.LookLevel(1-span.Level, m.Looks)
		if n, ok := stats.RoundsNeeded(m.Effects, level, stats.MaxRounds, m.Edges[0]); ok && n > r.Rounds {
			r.RoundsNeeded = n
		}
	}
}

// compareRatio returns the outcome of a row. Worse and Better also need a ratio beyond the noise
// floor, the apparent difference of the base and the control. A row that is worse only within the
// noise floor is Open.
func (m member) compareRatio(span, zeroSpan stats.Span) Outcome {
	edge := m.Edges[0]
	isAboveNoise := tare.Exceeds(m.row.Ratio, m.row.noiseFloor())
	isLess := zeroSpan.OK && zeroSpan.High < 0
	switch {
	case span.Low > edge && isAboveNoise:
		return Worse
	case span.High <= edge && isLess && isAboveNoise:
		return Better
	case span.High <= edge:
		return NoWorse
	}
	return Open
}

func (r *Row) noiseFloor() float64 {
	floor := tare.NoiseFloor(r.result.Comparisons, r.workload, r.Metric)
	if r.secondResult != nil {
		floor = max(floor, tare.NoiseFloor(r.secondResult.Comparisons, r.workload, r.Metric))
	}
	return floor
}

// sortRows sorts the rows by outcome, the worst first, with waived rows after others of the same
// outcome. Rows of one outcome follow by falling ratio.
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
