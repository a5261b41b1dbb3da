package gate

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/report"
)

// This file reports the instructions that a benchmark executes in base and in head. tare counts them
// outside of the timed rounds. For example: "BenchmarkEncode executes 4 % more instructions".

const (
	checkNotTimed   = "not-timed"
	checkNotCounted = "not-counted"
)

const untimedText = "same code and same count: it was not timed"

// workRows returns rows of counted instructions: of benchmarks with a limit on them, and of
// benchmarks that were not timed. Other rows share one error level, but each count has an interval
// at its own.
func workRows(m Measured, g project.Gate) (rows []Row) {
	for _, res := range m.Results {
		for _, c := range res.Comparisons {
			metric := tare.MetricFor(c.Metric)
			isCount := metric.Counted && c.Contender == HeadID
			hasRow := slices.ContainsFunc(rows, func(r Row) bool { return r.Benchmark == c.Workload })
			if !isCount || hasRow {
				continue
			}
			limit := g.MarginOf(c.Workload, c.Metric) // relative increase; 0 means none
			r := newRow(res, Requirements{}, c.Workload, metric)
			r.Untimed = slices.ContainsFunc(res.Findings, func(f tare.Finding) bool { return f.Check == checkNotTimed && f.Workload == c.Workload })
			r.Base, r.Head, r.Rounds, r.Exact = c.AgainstValue, c.Value, c.Rounds, c.Exact
			r.Ratio, r.Low, r.High, r.Level, r.Margin = c.Ratio, c.Low, c.High, c.Level, limit
			switch differs := c.Differs(0) != tare.NotShown; {
			case r.Untimed:
				r.Outcome = NoWorse
			case limit == 0:
				continue
			case c.Low > 1+limit:
				r.Outcome = Worse
			case differs && c.Ratio < 1:
				r.Outcome = Better
			case c.High <= 1+limit:
				r.Outcome = NoWorse
			default:
				r.Outcome = Open
			}
			rows = append(rows, *r)
		}
	}
	return rows
}

func (rep *Report) remarkUncounted(m Measured) {
	names := map[string][]string{} // ids of benchmarks by reason; the id "" means all
	var order []string             // reasons
	for _, res := range m.Results {
		for _, f := range res.Findings {
			if f.Check != checkNotCounted || slices.Contains(names[f.Message], f.Workload) {
				continue
			}
			if names[f.Message] == nil {
				order = append(order, f.Message)
			}
			names[f.Message] = append(names[f.Message], f.Workload)
		}
	}
	for _, why := range order {
		text := why
		if first := names[why][0]; first != "" {
			text = fmt.Sprintf("the instructions of %s%s are not counted: %s", rep.shortName(first), andMore(len(names[why])-1), why)
		}
		rep.addRemark(SeverityNote, text)
	}
}

// remarkWork adds a remark if benchmarks without a limit execute more instructions. It names the one
// with the largest increase and counts the others.
func (rep *Report) remarkWork(m Measured, g project.Gate) {
	var largest tare.Comparison
	var causes []tare.Explanation // from the same result as largest
	n := 0
	for _, res := range m.Results {
		for _, c := range res.Comparisons {
			isCount := tare.MetricFor(c.Metric).Counted && c.Contender == HeadID
			isMore := c.Ratio > 1 && c.Differs(0) != tare.NotShown
			if !isCount || !isMore || g.MarginOf(c.Workload, c.Metric) != 0 {
				continue
			}
			if n++; c.Ratio > largest.Ratio {
				largest, causes = c, res.Explanations
			}
		}
	}
	if n == 0 {
		return
	}
	metric := tare.MetricFor(largest.Metric)
	text := fmt.Sprintf("%s %s %s %s%s", rep.shortName(largest.Workload), metric.Verb, Row{Ratio: largest.Ratio}.formatChange(), metric.More, andMore(n-1))
	i := slices.IndexFunc(causes, func(e tare.Explanation) bool { return e.Workload == largest.Workload && len(e.Work) > 0 })
	if i >= 0 {
		text += ", first of all " + report.Reasons(causes[i], 1)[0]
	}
	rep.addRemark(SeverityNote, text+fmt.Sprintf("; gate: {%s: 2%%} of tare.yaml would limit it", metric.Name))
}
