package gate

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/report"
)

// This file reports the metric work: the number of instructions that a benchmark executes, which tare
// counts outside of the rounds, on both sides of the change (base and head).

// Checks of tare bench whose notes are about the counts of a benchmark.
const (
	checkNotTimed   = "not-timed"
	checkNotCounted = "not-counted"
)

// untimedText is the sentence of a row whose benchmark was not timed.
const untimedText = "same code and same count: it was not timed"

// workRows returns the rows of counted instructions. Benchmarks with a limit on instructions have such a
// row, and benchmarks that were not timed. These rows are not members of the family, among which the error
// level is divided: the comparison of a count already has an interval at its own error level.
func workRows(m Measured, g project.Gate) (rows []Row) {
	for _, res := range m.Results {
		for _, c := range res.Comparisons {
			metric := tare.MetricFor(c.Metric)
			isCount := metric.Counted && c.Contender == HeadID
			hasRow := slices.ContainsFunc(rows, func(r Row) bool { return r.Benchmark == c.Workload })
			if !isCount || hasRow {
				continue
			}
			limit := g.MarginOf(c.Workload, c.Metric) // tolerated relative increase; 0 means no limit
			r := newRow(res, Requirements{}, c.Workload, metric)
			r.Untimed = slices.ContainsFunc(res.Findings, func(f tare.Finding) bool { return f.Check == checkNotTimed && f.Workload == c.Workload })
			r.Base, r.Head, r.Rounds, r.Exact = c.AgainstValue, c.Value, c.Rounds, c.Exact
			r.Ratio, r.Low, r.High, r.Level, r.Margin = c.Ratio, c.Low, c.High, c.Level, limit
			switch differs := c.Differs(0) != tare.NotShown; {
			case r.Untimed:
				r.Outcome = NoWorse // its count is the same on both sides
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

// remarkUncounted adds a remark for each reason why the instructions of benchmarks were not counted.
func (rep *Report) remarkUncounted(m Measured) {
	names := map[string][]string{} // ids of benchmarks by reason; the id "" means all benchmarks
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

// remarkWork adds a remark if benchmarks execute more instructions and no limit applies to them. It
// names the benchmark with the largest increase and its first cause, and counts the others.
func (rep *Report) remarkWork(m Measured, g project.Gate) {
	var largest tare.Comparison
	var causes []tare.Explanation // explanations in the same result as largest
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
