package judge

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
)

// This file writes sentences about ratios, such as "a is 1.9× faster than b on w (0.51 to 0.53)".
// The noise floor is the difference that two copies of the baseline show. A smaller difference
// counts as none.

// minTimesFaster is the least factor that is printed as one, "1.5× faster". Others are in per cent.
const minTimesFaster = 1.5

// describeRatio returns e.g. "1.9× faster" or "4.8 % less time".
func describeRatio(ratio float64, m tare.Metric) string {
	switch {
	case ratio == 1:
		return "the same"
	case m.Faster != "" && ratio <= 1/minTimesFaster:
		return format.Times(1/ratio) + " " + m.Faster
	case m.Slower != "" && ratio >= minTimesFaster:
		return format.Times(ratio) + " " + m.Slower
	case ratio < 1:
		return format.Percent(1-ratio) + " " + m.Less
	}
	return format.Percent(ratio-1) + " " + m.More
}

// formatMeasured returns e.g. "0.52× the time of B on W (0.51 to 0.53, 95 %, 18 rounds)". Rounding
// moves no bound across one of edges, which are ratios too.
func formatMeasured(c tare.Comparison, edges ...float64) string {
	ratio, span := formatRatio(c, edges...)
	return fmt.Sprintf("%s× %s %s on %s %s", ratio, tare.MetricFor(c.Metric).Of, c.Against, c.Workload, span)
}

func formatRatio(c tare.Comparison, edges ...float64) (ratio, span string) {
	ratio, interval := formatInterval(c, edges...)
	return ratio, "(" + interval + ")"
}

func formatInterval(c tare.Comparison, edges ...float64) (ratio, interval string) {
	r, lo, hi := format.Estimate(c.Ratio, c.Low, c.High, edges...)
	if c.Exact {
		return r, fmt.Sprintf("the same in each of %s", format.Count(c.Rounds, "round"))
	}
	return r, fmt.Sprintf("%s to %s, %s, %s", lo, hi, formatLevel(c.Level), format.Count(c.Rounds, "round"))
}

// differenceSentence returns the sentence about one comparison. A difference below floor, a
// logarithm, counts as none.
func differenceSentence(c tare.Comparison, floor float64, d evidence.Evidence) string {
	m := tare.MetricFor(c.Metric)
	if !c.Bounded() {
		return fmt.Sprintf("%s against %s on %s: no interval after %s; it takes %d.",
			c.Contender, c.Against, c.Workload, format.Count(c.Rounds, "round"), roundsForInterval(c, d.Looks()))
	}
	ratio, span := formatRatio(c, 1)
	switch significance := c.Differs(floor); {
	case significance != tare.Significant && c.Below(d.Plan.Until): // smaller than the user cares for
		return fmt.Sprintf("%s and %s on %s: any difference in %s is smaller than %s; the ratio is %s %s.",
			c.Contender, c.Against, c.Workload, m.Noun, format.Percent(d.Plan.Until), ratio, span)
	case significance == tare.Significant:
		return fmt.Sprintf("%s %s %s: %s.", c.Contender, m.Verb, formatMeasured(c, 1), describeRatio(c.Ratio, m))
	case significance == tare.WithinNoise:
		return fmt.Sprintf("%s and %s on %s: no difference in %s shown; the ratio %s %s is within what the control shows here (±%s).",
			c.Contender, c.Against, c.Workload, m.Noun, ratio, span, format.Percent(math.Expm1(floor)))
	}
	return fmt.Sprintf("%s and %s on %s: no difference in %s shown; the ratio is %s %s.",
		c.Contender, c.Against, c.Workload, m.Noun, ratio, span)
}

// rulingSentence returns the sentence of a verdict on a ratio. edges are as in formatMeasured.
func rulingSentence(v tare.Verdict, c tare.Comparison, floor float64, edges ...float64) string {
	m := tare.MetricFor(c.Metric)
	tail := ""
	if v.Rule.Kind == tare.RuleRatio {
		switch differs := c.Differs(floor); {
		case differs == tare.Significant && v.Verdict != tare.Inconclusive:
			tail = ": " + describeRatio(c.Ratio, m)
		case differs == tare.WithinNoise:
			tail = fmt.Sprintf(", which is within what the control shows here (±%s)", format.Percent(math.Expm1(floor)))
		}
	}
	return fmt.Sprintf("%s: %s is %s: it %s %s%s.", c.Contender, v.Criterion, v.Verdict, m.Verb, formatMeasured(c, edges...), tail)
}

// forecastSentence ends an inconclusive verdict. 0 rounds means more than can be measured.
func forecastSentence(rounds int) string {
	if rounds == 0 {
		return "No number of rounds in reach is expected to decide it."
	}
	return fmt.Sprintf("About %s would decide it.", format.Count(rounds, "round"))
}

func voidSentence(contender, workload string, f tare.Finding) string {
	prefix := ""
	if f.Contender != "" && f.Contender != contender { // about the baseline
		prefix = f.Contender + ": "
	}
	return fmt.Sprintf("%s on %s is void by %s: %s%s.", contender, workload, f.Check, prefix, f.Message)
}
