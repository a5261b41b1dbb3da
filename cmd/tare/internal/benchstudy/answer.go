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
)

// maxNamedChanges limits the changed benchmarks that the line below the headline names.
const maxNamedChanges = 3

// setAnswer sets the headline of a result, Answer: how many benchmarks are slower or faster in head,
// or that no change was shown. The line below, Figures, has the largest changes, the smallest change
// that the run could have shown, and the benchmarks that execute more or fewer instructions.
func setAnswer(r *tare.Result) {
	var changed, all []tare.Comparison
	void := 0
	// Smallest and largest of the detectable changes of benchmarks without a shown change, as a share.
	minDetectable, maxDetectable := math.Inf(1), 0.0
	for _, w := range r.Workloads {
		reading := advice.Reading{Result: r, Baseline: Base, Workload: w.ID, Metric: "time"}
		if len(r.VoidsMetric(Head, w.ID, "time"))+len(r.VoidsMetric(Base, w.ID, "time")) > 0 {
			void++
			continue
		}
		comparison, ok := reading.Comparison(Head)
		if !ok || !comparison.Bounded() || reading.WhyNoAdvice() != "" {
			continue
		}
		all = append(all, comparison)
		if reading.IsShown(comparison) {
			changed = append(changed, comparison)
			continue
		}
		detectable := math.Expm1(max(reading.NoiseFloor(), comparison.HalfWidth())) // both are logarithms of ratios
		minDetectable, maxDetectable = min(minDetectable, detectable), max(maxDetectable, detectable)
	}
	work, voidText := describeWork(r), ""
	if void > 0 {
		voidText = fmt.Sprintf("; %d void", void)
	}
	detectableText := advice.FormatPercent(minDetectable)
	if advice.FormatPercent(maxDetectable) != detectableText {
		detectableText += " to " + advice.FormatPercent(maxDetectable)
	}
	r.Answer, r.Figures, r.Quotes = "", "", nil
	switch {
	case len(all) == 0:
		r.Answer, r.Figures = noTimes(r, voidText), strings.TrimSpace(work)
		return
	case len(changed) == 0:
		r.Answer = fmt.Sprintf("No change in time shown in %s%s.", format.Count(len(all), "benchmark"), voidText)
		r.Figures = "Changes in time beyond " + detectableText + " would have been shown." + work
		return
	}
	sortByChange(changed)
	slower := 0
	var parts []string
	for i, comparison := range changed {
		if comparison.Ratio > 1 {
			slower++
		}
		if i < maxNamedChanges {
			parts = append(parts, comparison.Workload+" "+format.Within(comparison.Ratio, comparison.Low, comparison.High))
			r.Quotes = append(r.Quotes, tare.Quote{Contender: Head, Workload: comparison.Workload, Metric: "time"})
		}
	}
	r.Answer = fmt.Sprintf("%d of %s changed in time: %d slower, %d faster%s.",
		len(changed), format.Count(len(all), "benchmark"), slower, len(changed)-slower, voidText)
	if more := len(changed) - maxNamedChanges; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	r.Figures = "Of base: " + strings.Join(parts, "; ") + "."
	if len(changed) < len(all) {
		r.Figures += fmt.Sprintf(" In the others changes beyond %s would have been shown.", detectableText)
	}
	r.Figures += work
}

// sortByChange puts the largest changes first, whether more or less.
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

// describeWork returns a sentence about the benchmarks that execute more or fewer instructions, with a
// space before it; "" if nothing was counted.
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
		parts = append(parts, fmt.Sprintf("%s %s %.1f %% %s", c.Workload, metric.Verb, 100*math.Abs(c.Ratio-1), word))
	}
	if more := len(changed) - maxNamedChanges; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more differ", more))
	}
	return " " + strings.Join(parts, "; ") + "."
}
