package bring

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring/advice"
)

// changesMost is how many changed benchmarks the answer names.
const changesMost = 4

// answer says which benchmarks take another time in head and how much, or that
// none was shown to and what the run could have shown.
func answer(r *tare.Result) string {
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
	left := describeWork(r)
	if void > 0 {
		left += fmt.Sprintf(" Void: %d.", void)
	}
	could := advice.Percent(least)
	if advice.Percent(most) != could {
		could += " to " + advice.Percent(most)
	}
	switch {
	case len(all) == 0:
		return strings.TrimSpace(noTimes(r) + left)
	case len(changed) == 0:
		return fmt.Sprintf("No change in time was shown in %s; this run could have shown changes beyond %s.%s", benchmarks(len(all)), could, left)
	}
	slices.SortStableFunc(changed, func(a, b tare.Comparison) int {
		return -cmp.Compare(math.Abs(math.Log(a.Ratio)), math.Abs(math.Log(b.Ratio)))
	})
	var parts []string
	for _, c := range changed[:min(len(changed), changesMost)] {
		parts = append(parts, fmt.Sprintf("%s takes %.3g× (%.3g to %.3g) the time of base", c.Workload, c.Ratio, c.Low, c.High))
	}
	if more := len(changed) - changesMost; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more changed", more))
	}
	text := fmt.Sprintf("%d of %s changed in time: %s.", len(changed), benchmarks(len(all)), strings.Join(parts, "; "))
	if len(changed) < len(all) {
		text += fmt.Sprintf(" In the others this run could have shown changes beyond %s.", could)
	}
	return text + left
}

// noTimes says why no benchmark has a result in time.
func noTimes(r *tare.Result) string {
	if len(r.Workloads) == 0 && len(r.Work) > 0 {
		return "No benchmark was timed: code and counts are the same on both sides."
	}
	return "No benchmark has a result: too few rounds, or void."
}

// describeWork says which benchmarks do more or less work; "" if nothing was counted.
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
		return fmt.Sprintf(" The count of instructions differs in none of %s.", benchmarks(all))
	}
	slices.SortStableFunc(changed, func(a, b tare.Comparison) int {
		return -cmp.Compare(math.Abs(math.Log(a.Ratio)), math.Abs(math.Log(b.Ratio)))
	})
	var parts []string
	for _, c := range changed[:min(len(changed), changesMost)] {
		word := metric.More
		if c.Ratio < 1 {
			word = metric.Less
		}
		parts = append(parts, fmt.Sprintf("%s %s %.1f %% %s", c.Workload, metric.Verb, 100*math.Abs(c.Ratio-1), word))
	}
	if more := len(changed) - changesMost; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more differ", more))
	}
	return " " + strings.Join(parts, "; ") + "."
}

func benchmarks(n int) string {
	if n == 1 {
		return "1 benchmark"
	}
	return fmt.Sprintf("%d benchmarks", n)
}
