package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// A decomposition splits the difference between two contenders into steps, each with one cause. explainDifferences
// returns a sentence per decomposition for the top of a report. The product of the steps' factors is the ratio.
func explainDifferences(r *tare.Result) []string {
	var out, unmeasured []string
	for _, d := range r.Decomposition {
		isMeasured := slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.ID == d.Workload })
		switch {
		case len(d.Steps) == 0 && !isMeasured:
			unmeasured = append(unmeasured, d.ID)
		case len(d.Steps) > 1 && hasShares(d):
			out = append(out, describeOrigin(r, d))
		case d.Sentence != "":
			out = append(out, d.Sentence)
		}
	}
	if len(unmeasured) > 0 {
		out = append(out, "Not taken apart, as their workloads were not measured in this run: "+joinNames(unmeasured)+".")
	}
	return out
}

// describeOrigin returns the factors of the steps in one sentence. Steps in the direction of the total come first,
// the strongest before others.
func describeOrigin(r *tare.Result, d tare.Decomposition) string {
	steps := slices.Clone(d.Steps)
	slices.SortStableFunc(steps, func(a, b tare.Cause) int { return cmp.Compare(b.Ratio, a.Ratio) })
	var increases, decreases, undecided []string
	for _, c := range steps {
		text := fmt.Sprintf("%s %s (%s)", c.Cause, format.Part(c.Ratio), formatPercent(c.Share))
		switch {
		case c.Low > 1:
			increases = append(increases, text)
		case c.High < 1:
			decreases = append(decreases, text)
		default:
			undecided = append(undecided, c.Cause)
		}
	}
	slices.Reverse(decreases) // the smallest ratio is the strongest
	same, opposite := increases, decreases
	if d.Whole.Ratio < 1 {
		same, opposite = decreases, increases
	}
	text := fmt.Sprintf("Where %s comes from (%s on %s, %s over %s; in brackets the share of the difference): ",
		format.Part(d.Whole.Ratio), d.Metric, d.Workload, contenderTitle(r, d.Whole.To), contenderTitle(r, d.Whole.From))
	var parts []string
	if len(same) > 0 {
		parts = append(parts, joinNames(same))
	}
	if len(opposite) > 0 {
		parts = append(parts, joinNames(opposite)+" the other way")
	}
	if len(undecided) > 0 {
		parts = append(parts, "no difference shown by "+joinNames(undecided))
	}
	text += strings.Join(parts, "; ")
	switch factor, _ := unexplainedFactor(r, d); {
	case format.Part(factor) == format.Part(1):
		text += "; multiplied they leave nothing unexplained"
	case factor > 0:
		text += fmt.Sprintf("; multiplied they give %s, which leaves %s unexplained", format.Part(d.Whole.Ratio/factor), format.Part(factor))
	}
	return text + "."
}

// unexplainedFactor returns the total ratio over the product of the steps, and the share of the difference in no
// step. They exist because the median of a product is not the product of medians. It returns 0 for a single step
// or a void one.
func unexplainedFactor(r *tare.Result, d tare.Decomposition) (factor float64, share string) {
	product, rest := 1.0, 1.0
	for _, c := range d.Steps {
		product *= c.Ratio
		rest -= c.Share
		if isVoidStep(r, d, c) {
			return 0, ""
		}
	}
	factor = d.Whole.Ratio / product
	if len(d.Steps) < 2 || !(factor > 0) || math.IsInf(factor, 0) {
		return 0, ""
	}
	share = noValue
	if hasShares(d) {
		share = formatShare(math.Round(rest*1e3) / 1e3) // without errors of floating point
	}
	return factor, share
}

func isVoidStep(r *tare.Result, d tare.Decomposition, c tare.Cause) bool {
	return len(r.VoidsMetric(c.From, d.Workload, d.Metric))+len(r.VoidsMetric(c.To, d.Workload, d.Metric)) > 0
}
