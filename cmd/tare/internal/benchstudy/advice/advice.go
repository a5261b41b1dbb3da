// Package advice recommends one contender of a result: one that is significantly faster than the
// baseline. All numbers come from the result.
package advice

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Reading is the view on one workload and one metric of a result.
type Reading struct {
	Result   *tare.Result
	Baseline string // id
	Workload string // id
	Metric   string // a metric of which less is better
}

// WhyNoAdvice returns why there can be no recommendation, or "" if there can be one.
func (r Reading) WhyNoAdvice() string {
	for _, id := range []string{r.Baseline, tare.ControlID} {
		if v := r.Result.VoidsMetric(id, r.Workload, r.Metric); len(v) > 0 {
			return fmt.Sprintf("%s is void by the check %s", id, v[0].Check)
		}
	}
	if r.NoiseFloor() == 0 {
		return "too few rounds for an interval"
	}
	return ""
}

// NoiseFloor returns the apparent difference of the baseline and its second copy, the control. It
// is 0 if unknown.
func (r Reading) NoiseFloor() float64 {
	return tare.NoiseFloor(r.Result.Comparisons, r.Workload, r.Metric)
}

// Comparison returns the comparison of a contender with the baseline. ok is false if there is none.
func (r Reading) Comparison(id string) (c tare.Comparison, ok bool) {
	c, ok = tare.FindComparison(r.Result.Comparisons, r.Workload, id, r.Metric)
	return c, ok && c.Against == r.Baseline
}

// Measured returns the comparisons with the baseline that have an interval and are not void, by rank
// and then by ratio.
func (r Reading) Measured() []tare.Comparison {
	var out []tare.Comparison
	for _, c := range r.Result.Contenders {
		x, ok := r.Comparison(c.ID)
		isVoid := len(r.Result.VoidsMetric(c.ID, r.Workload, r.Metric)) > 0
		if c.Role == tare.RoleContender && ok && x.Bounded() && !isVoid {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(x, y tare.Comparison) int {
		return cmp.Or(cmp.Compare(BestRank(x), BestRank(y)), cmp.Compare(x.Ratio, y.Ratio))
	})
	return out
}

// Faster returns the comparisons of [Reading.Measured] that are significantly below the baseline,
// beyond the noise floor.
func (r Reading) Faster() []tare.Comparison {
	return slices.DeleteFunc(r.Measured(), func(c tare.Comparison) bool {
		isFaster := c.High < 1 && r.IsShown(c)
		return !isFaster
	})
}

// IsShown reports whether c is significant and beyond the noise floor.
func (r Reading) IsShown(c tare.Comparison) bool {
	return c.Differs(r.NoiseFloor()) == tare.Significant
}

// DescribeDoubt returns a clause that c shows no difference beyond the noise floor, or "" if c shows
// one.
func (r Reading) DescribeDoubt(c tare.Comparison) string {
	if r.IsShown(c) {
		return ""
	}
	return fmt.Sprintf("; that is no difference beyond what the control shows (±%s)", FormatPercent(math.Expm1(r.NoiseFloor())))
}

// BestRank returns the best rank that the evidence allows; 1 if there are no ranks.
func BestRank(c tare.Comparison) int { return max(1, c.RankLow) }

// DescribeTies returns a clause about the others in list that may have the rank of c, or "".
func DescribeTies(c tare.Comparison, list []tare.Comparison) string {
	var names []string
	for _, other := range list {
		if other.Contender != c.Contender && BestRank(other) == BestRank(c) {
			names = append(names, other.Contender)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; " + JoinNames(names) + " did not differ significantly from it"
}

const maxFigures = 3

// SetAnswer sets the headline of the result, the line of values below it, and the comparisons that
// both quote. The printed names are noun (router, codec) and base. isCompatible reports whether a
// contender behaves like base; nil means that all do. The clause condition names the users who need
// that, e.g. "where all values must stay".
func (r Reading) SetAnswer(noun, base, condition string, isCompatible func(id string) bool) {
	res := r.Result
	res.Answer, res.Figures, res.Quotes = r.headlineText(noun, base, condition, isCompatible), "", nil
	var parts []string
	for _, c := range r.Measured() {
		if len(parts) == maxFigures {
			break
		}
		parts = append(parts, c.Contender+" "+format.Within(c.Ratio, c.Low, c.High))
		res.Quotes = append(res.Quotes, tare.Quote{Contender: c.Contender, Workload: c.Workload, Metric: c.Metric})
	}
	if len(parts) > 0 && r.NoiseFloor() > 0 {
		res.Figures = fmt.Sprintf("%s, of %s: %s; noise ±%s.", tare.MetricFor(r.Metric).Noun, base, strings.Join(parts, ", "), FormatPercent(math.Expm1(r.NoiseFloor())))
		res.Figures = strings.ToUpper(res.Figures[:1]) + res.Figures[1:]
	}
}

// headlineText returns the headline. If the fastest contender does not behave like base, it also
// names the fastest that does.
func (r Reading) headlineText(noun, base, condition string, isCompatible func(id string) bool) string {
	if why := r.WhyNoAdvice(); why != "" {
		return "No answer: " + why + "."
	}
	measured, faster := r.Measured(), r.Faster()
	switch {
	case len(measured) == 0:
		return "No answer: no " + noun + " was compared with " + base + "."
	case len(faster) == 0:
		return "Stay with " + base + ": no other " + noun + " is shown to take less."
	}
	best := faster[0]
	gain := format.Times(1/best.Ratio) + " as fast as " + base
	if r.Metric != "time" {
		gain = FormatPercent(1-best.Ratio) + " less " + tare.MetricFor(r.Metric).Noun + " than " + base
	}
	text := "Use " + best.Contender + ": " + gain
	if isCompatible == nil || isCompatible(best.Contender) {
		return text + "."
	}
	alternative := base
	if i := slices.IndexFunc(faster, func(c tare.Comparison) bool { return isCompatible(c.Contender) }); i >= 0 {
		alternative = faster[i].Contender
	}
	return text + "; " + condition + ", " + alternative + "."
}

// DescribeCosts returns a clause about the modules and bytes that a contender adds.
func (r Reading) DescribeCosts(id string) string {
	c, _ := r.Result.Contender(id)
	base, _ := r.Result.Contender(r.Baseline)
	modules := "it links no further module"
	switch n := c.Adoption.ModulesLinked - base.Adoption.ModulesLinked; {
	case n == 1:
		modules = "it links 1 module"
	case n > 1:
		modules = fmt.Sprintf("it links %d modules", n)
	}
	text := modules + " and makes the binary no larger"
	if more := c.BinaryBytes - base.BinaryBytes; more > 0 {
		text = modules + fmt.Sprintf(" and adds %s to the binary", FormatBytes(more))
	}
	if c.Adoption.Unmaintained != "" {
		text += "; it counts as unmaintained"
	}
	return text
}

// JoinNames joins names: "a, b and c".
func JoinNames(names []string) string { return format.List(names, "and") }

// FormatNanoseconds formats a time with three digits.
func FormatNanoseconds(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.3g ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	case ns < 1e9:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	}
	return fmt.Sprintf("%.3g s", ns/1e9)
}

// FormatBytes formats a size with three digits, in decimal units.
func FormatBytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1e5:
		return fmt.Sprintf("%.3g kB", float64(n)/1e3)
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.3g MB", float64(n)/1e6)
}

// FormatPercent formats a share in per cent.
func FormatPercent(share float64) string {
	switch s := 100 * share; {
	case s >= 9.95: // rounds to 10: no decimal
		return fmt.Sprintf("%.0f %%", s)
	case s >= 0.095: // rounds to 0.1 at least
		return strings.Replace(fmt.Sprintf("%.1f %%", s), ".0 ", " ", 1)
	}
	return "less than 0.1 %"
}
