package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// because says where differences come from, at the top: of each that was told
// apart in one sentence, of the others why they were not.
func because(r *tare.Result) []string {
	var out, unasked []string
	for _, d := range r.Decomposition {
		measured := slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.ID == d.Workload })
		switch {
		case len(d.Steps) == 0 && !measured:
			unasked = append(unasked, d.ID)
		case len(d.Steps) > 1 && wasTold(d):
			out = append(out, origin(r, d))
		case d.Sentence != "":
			out = append(out, d.Sentence)
		}
	}
	if len(unasked) > 0 {
		out = append(out, "Not taken apart, as their workloads were not measured in this run: "+inWords(unasked)+".")
	}
	return out
}

// origin says where a factor comes from, in factors that multiplied give it:
// those that go its way, the greatest first, then those that go the other, those
// of which no difference is shown, and what is left.
func origin(r *tare.Result, d tare.Decomposition) string {
	steps := slices.Clone(d.Steps)
	slices.SortStableFunc(steps, func(a, b tare.Cause) int { return cmp.Compare(b.Ratio, a.Ratio) })
	var adds, takes, open []string
	for _, c := range steps {
		said := fmt.Sprintf("%s %s (%s)", c.Cause, times(c.Ratio), percent(c.Share))
		switch {
		case c.Low > 1:
			adds = append(adds, said)
		case c.High < 1:
			takes = append(takes, said)
		default:
			open = append(open, c.Cause)
		}
	}
	slices.Reverse(takes)
	if d.Whole.Ratio < 1 {
		adds, takes = takes, adds
	}
	text := fmt.Sprintf("Where %s comes from (%s on %s, %s over %s; in brackets the share of the difference): ", times(d.Whole.Ratio), d.Metric, d.Workload, title(r, d.Whole.To), title(r, d.Whole.From))
	var parts []string
	if len(adds) > 0 {
		parts = append(parts, inWords(adds))
	}
	if len(takes) > 0 {
		parts = append(parts, inWords(takes)+" the other way")
	}
	if len(open) > 0 {
		parts = append(parts, "no difference shown by "+inWords(open))
	}
	text += strings.Join(parts, "; ")
	switch left, _ := unexplained(r, d); {
	case times(left) == times(1):
		text += "; multiplied they leave nothing unexplained"
	case left > 0:
		text += fmt.Sprintf("; multiplied they give %s, which leaves %s unexplained", times(d.Whole.Ratio/left), times(left))
	}
	return text + "."
}

// times prints a factor.
func times(x float64) string {
	if !(x > 0) || math.IsInf(x, 0) {
		return nothing
	}
	return significant(x, 3) + "×"
}

// unexplained is the factor that the steps, multiplied, lack of the whole, and
// the share that they do not add up to; zero where there is only one step, or a void one.
// Medians of ratios do not multiply, nor those of differences add up, to the
// last digit.
func unexplained(r *tare.Result, d tare.Decomposition) (factor float64, share string) {
	product, rest := 1.0, 1.0
	for _, c := range d.Steps {
		product *= c.Ratio
		rest -= c.Share
		if voidStep(r, d, c) {
			return 0, ""
		}
	}
	factor = d.Whole.Ratio / product
	if len(d.Steps) < 2 || !(factor > 0) || math.IsInf(factor, 0) {
		return 0, ""
	}
	share = nothing
	if wasTold(d) {
		share = hundredths(math.Round(rest*1e3) / 1e3)
	}
	return factor, share
}

// voidStep reports whether a step has an end that does not count.
func voidStep(r *tare.Result, d tare.Decomposition, c tare.Cause) bool {
	return len(r.VoidsMetric(c.From, d.Workload, d.Metric))+len(r.VoidsMetric(c.To, d.Workload, d.Metric)) > 0
}
