package gate

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// Notes of tare bench about the counts of a benchmark.
const (
	checkNotTimed   = "not-timed"
	checkNotCounted = "not-counted"
)

// untimedText is the sentence of a row whose benchmark was not timed.
const untimedText = "same code and same count: it was not timed"

// workRows returns the rows of counts: those with a limit, and those of benchmarks that were not
// timed. They are no members of the family: a count has an interval of its own, at a level of its
// own, and its error is not that of a clock.
func workRows(m Measured, g project.Gate) (rows []Row) {
	for _, res := range m.Results {
		for _, c := range res.Comparisons {
			metric := tare.MetricFor(c.Metric)
			if !metric.Counted || c.Contender != HeadID || slices.ContainsFunc(rows, func(r Row) bool { return r.Benchmark == c.Workload }) {
				continue
			}
			limit := g.MarginOf(c.Workload, c.Metric)
			r := newRow(res, Held{}, c.Workload, metric)
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

// remarkUncounted remarks on benchmarks without counts, each reason once.
func (rep *Report) remarkUncounted(m Measured) {
	names := map[string][]string{}
	var order []string
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
		rep.addRemark(IsNote, text)
	}
}

// remarkWork remarks that benchmarks do more work if nothing limits that.
func (rep *Report) remarkWork(m Measured, g project.Gate) {
	var most tare.Comparison
	n := 0
	for _, res := range m.Results {
		for _, c := range res.Comparisons {
			if metric := tare.MetricFor(c.Metric); metric.Counted && c.Contender == HeadID && g.MarginOf(c.Workload, c.Metric) == 0 && c.Ratio > 1 && c.Differs(0) != tare.NotShown {
				if n++; c.Ratio > most.Ratio {
					most = c
				}
			}
		}
	}
	if n > 0 {
		metric := tare.MetricFor(most.Metric)
		rep.addRemark(IsNote, fmt.Sprintf("%s %s %s %s%s; gate: {%s: 2%%} of tare.yaml would limit it",
			rep.shortName(most.Workload), metric.Verb, Row{Ratio: most.Ratio}.formatChange(), metric.More, andMore(n-1), metric.Name))
	}
}
