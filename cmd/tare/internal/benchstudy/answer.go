package benchstudy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/advice"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report"
)

// This file composes the headline of a comparison. For example: "2 of 12 benchmarks changed in time:
// 1 slower, 1 faster."

const maxNamedChanges = 3

// setAnswer sets the headline of a result, Answer. For example:
//
//	2 of 12 benchmarks changed in time: 1 slower, 1 faster.
//
// The line below, Figures, has the largest changes, the smallest change that the run could have
// shown, and the changes in instructions.
func setAnswer(r *tare.Result) {
	t := compareTimes(r)
	work, voidText := describeWork(r), ""
	if t.void > 0 {
		voidText = fmt.Sprintf("; %d void", t.void)
	}
	r.Answer, r.Figures, r.Quotes = "", "", nil
	switch {
	case t.compared == 0:
		r.Answer, r.Figures = noTimes(r, voidText), strings.TrimSpace(work)
		return
	case len(t.changed) == 0:
		r.Answer = fmt.Sprintf("No change in time shown in %s%s.", format.Count(t.compared, "benchmark"), voidText)
		r.Figures = "Changes in time of " + t.detectableText() + " or more would have been shown." + work
		return
	}
	sortByChange(t.changed)
	slower := 0
	var parts []string
	for i, c := range t.changed {
		if c.Ratio > 1 {
			slower++
		}
		if i < maxNamedChanges {
			parts = append(parts, report.BenchmarkName(r, c.Workload)+" "+format.Within(c.Ratio, c.Low, c.High))
			r.Quotes = append(r.Quotes, tare.Quote{Contender: Head, Workload: c.Workload, Metric: "time"})
		}
	}
	r.Answer = fmt.Sprintf("%d of %s changed in time: %d slower, %d faster%s.",
		len(t.changed), format.Count(t.compared, "benchmark"), slower, len(t.changed)-slower, voidText)
	if more := len(t.changed) - maxNamedChanges; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	r.Figures = "Time, head ÷ base: " + strings.Join(parts, "; ") + "."
	if len(t.changed) < t.compared {
		r.Figures += fmt.Sprintf(" In the others changes of %s or more would have been shown.", t.detectableText())
	}
	r.Figures += work
}

// timeChanges summarises the comparisons of head with base by time.
type timeChanges struct {
	changed        []tare.Comparison // comparisons that show a change
	compared, void int               // numbers of benchmarks
	// A benchmark without a shown change would have shown one beyond its detectable change.
	minDetectable, maxDetectable float64 // as shares
}

func compareTimes(r *tare.Result) timeChanges {
	t := timeChanges{minDetectable: math.Inf(1)}
	for _, w := range r.Workloads {
		reading := advice.Reading{Result: r, Baseline: Base, Workload: w.ID, Metric: "time"}
		if len(r.VoidsMetric(Head, w.ID, "time"))+len(r.VoidsMetric(Base, w.ID, "time")) > 0 {
			t.void++
			continue
		}
		c, ok := reading.Comparison(Head)
		hasInterval := ok && c.Bounded()
		if !hasInterval || reading.WhyNoAdvice() != "" {
			continue
		}
		t.compared++
		if reading.IsShown(c) {
			t.changed = append(t.changed, c)
			continue
		}
		detectable := math.Expm1(max(reading.NoiseFloor(), c.HalfWidth())) // both are logarithms of ratios
		t.minDetectable, t.maxDetectable = min(t.minDetectable, detectable), max(t.maxDetectable, detectable)
	}
	return t
}

// detectableText returns the smallest change that the run could have shown, e.g. "2 %" or "2 % (5 %
// in the noisiest benchmark)".
func (t timeChanges) detectableText() string {
	smallest, largest := advice.FormatPercent(t.minDetectable), advice.FormatPercent(t.maxDetectable)
	if smallest == largest {
		return smallest
	}
	return smallest + " (" + largest + " in the noisiest benchmark)"
}

func sortByChange(rows []tare.Comparison) {
	slices.SortStableFunc(rows, func(a, b tare.Comparison) int {
		return -cmp.Compare(math.Abs(math.Log(a.Ratio)), math.Abs(math.Log(b.Ratio)))
	})
}

// noTimes returns the headline of a result without times. It ends with voidText: the number of void
// benchmarks, or "".
func noTimes(r *tare.Result, voidText string) string {
	if len(r.Workloads) == 0 && len(r.Work) > 0 {
		return "No benchmark was timed: code and counts are the same on both sides."
	}
	return "No answer: no benchmark has a result in time" + voidText + "."
}

// describeWork returns a sentence about the benchmarks that execute more or fewer instructions, with
// a space before it. It returns "" if nothing was counted.
func describeWork(r *tare.Result) string {
	metric := tare.MetricFor(tare.MetricInstructions)
	var changed []tare.Comparison
	all := 0
	for _, c := range r.Comparisons {
		if c.Metric != metric.Name {
			continue
		}
		all++
		if c.Differs(0) != tare.NotShown {
			changed = append(changed, c)
		}
	}
	if len(changed) == 0 {
		if all == 0 {
			return ""
		}
		return fmt.Sprintf(" The count of instructions differs in none of %s.", format.Count(all, "benchmark"))
	}
	sortByChange(changed)
	var parts []string
	for _, c := range changed[:min(len(changed), maxNamedChanges)] {
		word := metric.More
		if c.Ratio < 1 {
			word = metric.Less
		}
		parts = append(parts, fmt.Sprintf("%s %s %.1f %% %s", report.BenchmarkName(r, c.Workload), metric.Verb, 100*math.Abs(c.Ratio-1), word))
	}
	if more := len(changed) - maxNamedChanges; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more differ", more))
	}
	return " " + strings.Join(parts, "; ") + "."
}
