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

// maxChanges limits the changed benchmarks that the line below the headline names.
const maxChanges = 3

// setAnswer gives a result its headline: how many benchmarks take another time in head, or that
// none was shown to. The line below it has the largest changes, the smallest change that the run
// could have shown, and the benchmarks that do another amount of work.
func setAnswer(r *tare.Result) {
	var changed, all []tare.Comparison
	least, most, void := math.Inf(1), 0.0, 0
	for _, w := range r.Workloads {
		about := advice.Reading{Result: r, Baseline: Base, Workload: w.ID, Metric: "time"}
		if len(r.VoidsMetric(Head, w.ID, "time"))+len(r.VoidsMetric(Base, w.ID, "time")) > 0 {
			void++
			continue
		}
		c, ok := about.Comparison(Head)
		if !ok || !c.Bounded() || about.Nothing() != "" {
			continue
		}
		all = append(all, c)
		if about.Shown(c) {
			changed = append(changed, c)
			continue
		}
		seen := math.Expm1(max(about.NoiseFloor(), c.HalfWidth()))
		least, most = min(least, seen), max(most, seen)
	}
	work, left := describeWork(r), ""
	if void > 0 {
		left = fmt.Sprintf("; %d void", void)
	}
	could := advice.Percent(least)
	if advice.Percent(most) != could {
		could += " to " + advice.Percent(most)
	}
	r.Answer, r.Figures, r.Quotes = "", "", nil
	switch {
	case len(all) == 0:
		r.Answer, r.Figures = noTimes(r, left), strings.TrimSpace(work)
		return
	case len(changed) == 0:
		r.Answer = fmt.Sprintf("No change in time shown in %s%s.", formatBenchmarks(len(all)), left)
		r.Figures = "Changes in time beyond " + could + " would have been shown." + work
		return
	}
	slices.SortStableFunc(changed, func(a, b tare.Comparison) int {
		return -cmp.Compare(math.Abs(math.Log(a.Ratio)), math.Abs(math.Log(b.Ratio)))
	})
	slower := 0
	var parts []string
	for i, c := range changed {
		if c.Ratio > 1 {
			slower++
		}
		if i < maxChanges {
			parts = append(parts, c.Workload+" "+format.Within(c.Ratio, c.Low, c.High))
			r.Quotes = append(r.Quotes, tare.Quote{Contender: Head, Workload: c.Workload, Metric: "time"})
		}
	}
	r.Answer = fmt.Sprintf("%d of %s changed in time: %d slower, %d faster%s.", len(changed), formatBenchmarks(len(all)), slower, len(changed)-slower, left)
	if more := len(changed) - maxChanges; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	r.Figures = "Of base: " + strings.Join(parts, "; ") + "."
	if len(changed) < len(all) {
		r.Figures += fmt.Sprintf(" In the others changes beyond %s would have been shown.", could)
	}
	r.Figures += work
}

// noTimes returns the headline of a result without times; left ends it with the number of void
// benchmarks.
func noTimes(r *tare.Result, left string) string {
	if len(r.Workloads) == 0 && len(r.Work) > 0 {
		return "No benchmark was timed: code and counts are the same on both sides."
	}
	return "No answer: no benchmark has a result in time" + left + "."
}

// describeWork returns which benchmarks do more or less work; "" if nothing was counted.
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
		return fmt.Sprintf(" The count of instructions differs in none of %s.", formatBenchmarks(all))
	}
	slices.SortStableFunc(changed, func(a, b tare.Comparison) int {
		return -cmp.Compare(math.Abs(math.Log(a.Ratio)), math.Abs(math.Log(b.Ratio)))
	})
	var parts []string
	for _, c := range changed[:min(len(changed), maxChanges)] {
		word := metric.More
		if c.Ratio < 1 {
			word = metric.Less
		}
		parts = append(parts, fmt.Sprintf("%s %s %.1f %% %s", c.Workload, metric.Verb, 100*math.Abs(c.Ratio-1), word))
	}
	if more := len(changed) - maxChanges; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more differ", more))
	}
	return " " + strings.Join(parts, "; ") + "."
}

func formatBenchmarks(n int) string {
	if n == 1 {
		return "1 benchmark"
	}
	return fmt.Sprintf("%d benchmarks", n)
}
