package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file judges published claims of how time grows with size, such as "quadratic in the number
// of items".

// A claim of growth states that time grows as size^exponent. It holds if the interval of the
// measured exponent is within maxExponentError of the published one.
const maxExponentError = 0.1

// The claim also holds if a fixed cost with the published exponent describes the times. Each fitted
// time must be within factor maxMisfit of the measured one. On a span of sizes below minFitSpan,
// other exponents would fit as well.
const (
	maxMisfit  = 1.5
	minFitSpan = 16
)

// judgeGrowth judges a claim of how time grows with size, by the published exponent c.Value.
func (j *judge) judgeGrowth(r *tare.ClaimResult, c tare.Claim) {
	if j.reportUnanswerableAlong(r, c) {
		return
	}
	all := Scaling(j.evidence)
	i := slices.IndexFunc(all, func(s tare.Scaling) bool { return s.Contender == c.Contender && slices.Equal(s.Workloads, c.Workloads) })
	if i < 0 {
		setNotMeasured(r, "no exponent is fitted over "+strings.Join(c.Workloads, ", ")+" for "+c.Contender)
		return
	}
	s := all[i]
	size := cmp.Or(string(s.By), "size")
	r.Measured, r.Outcome = s.Exponent, tare.ClaimOpen
	r.Evidence = fmt.Sprintf("%s, time by %s, over %s, %s", c.Contender, size, strings.Join(c.Workloads, ", "), format.Count(s.Rounds, "round"))
	if minRounds := stats.MinRounds(stats.LookLevel(alpha, j.evidence.Looks())); s.Rounds < minRounds {
		r.Why = fmt.Sprintf("no interval after %s; it takes %d", format.Count(s.Rounds, "round"), minRounds)
		return
	}
	r.Low, r.High = s.Low, s.High
	r.Why = fmt.Sprintf("time grows as %s^%.2f (%.2f to %.2f, %s, %s)", size, s.Exponent, s.Low, s.High, formatLevel(s.Level), format.Count(s.Rounds, "round"))
	f, isFitted := j.fitFixedCost(s, c.Value)
	if usesFixedCost := isFitted && f.enough && c.Value > 0; usesFixedCost {
		r.Measured, r.Low, r.High = f.value, f.low, f.high
		r.Why = fmt.Sprintf("beyond a fixed cost, %.0f %% of the time at the smallest size, time grows as %s^%.2f (%.2f to %.2f, %s, %s); with that cost in it as %s^%.2f",
			100*f.cost, size, f.value, f.low, f.high, formatLevel(s.Level), format.Count(len(f.exponents), "round"), size, s.Exponent)
	}
	j.setGrowthOutcome(r, c.Value, f, size)
}

// setGrowthOutcome sets the outcome of a claim that time grows as size^published. It uses the interval
// of the measured exponent in r and the fit f with a fixed cost. It completes the reason in r.
func (j *judge) setGrowthOutcome(r *tare.ClaimResult, published float64, f costFit, size string) {
	low, high := published-maxExponentError, published+maxExponentError // near the published one
	isNear := low <= r.Low && r.High <= high
	isFar := r.High < low || high < r.Low
	worst, isDescribed := j.largestMisfit(f, published)
	switch {
	case isNear:
		r.Outcome = tare.Holds
		return
	case isDescribed: // by the published exponent with a fixed cost
		r.Outcome = tare.Holds
		r.Why = fmt.Sprintf("a fixed cost and a cost in proportion to %s are within %s of the time at each size (%s, %s); with a free exponent time grows as %s^%.2f beyond the fixed cost",
			formatPower(size, published), format.Factor(math.Exp(worst)), formatLevel(1-alpha), format.Count(len(f.exponents), "round"), size, r.Measured)
		return
	case isFar:
		r.Outcome = tare.Refuted
	}
	r.Why += fmt.Sprintf(", and was published as %s^%.3g", size, published)
}

// largestMisfit returns the largest factor between fitted and measured time that the rounds allow at
// any size, as a logarithm. The intervals of all sizes together have error level alpha. isDescribed
// is true if the factor is within maxMisfit.
func (j *judge) largestMisfit(f costFit, published float64) (worst float64, isDescribed bool) {
	if len(f.exponents) == 0 || published == 0 || f.sizeRange < minFitSpan {
		return 0, false
	}
	for _, misfits := range f.misfits {
		low, high, bounded := stats.Interval(misfits, stats.LookLevel(alpha/float64(len(f.misfits)), j.evidence.Looks()))
		if !bounded {
			return 0, false
		}
		worst = max(worst, -low, high)
	}
	return worst, worst <= math.Log(maxMisfit)
}

// formatPower returns a power of a size, e.g. "bytes" or "levels^2".
func formatPower(size string, exponent float64) string {
	if exponent == 1 {
		return size
	}
	return fmt.Sprintf("%s^%.3g", size, exponent)
}
