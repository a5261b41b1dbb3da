package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// growthWithin is the distance from the published exponent within which the entire interval must be
// for the claim to hold. If all of it is farther away the claim is refuted, unless a fixed cost and
// a cost by the published exponent describe each size.
const growthWithin = 0.1

// A fixed cost and a cost by the published exponent describe times within factor lineWithin of them
// at each size, if the largest size is lineSpan times the smallest: within a smaller span another
// exponent would be as near.
const (
	lineWithin = 1.5
	lineSpan   = 16
)

// judgeGrowth judges a claim of how time grows along workloads that differ in size only, by the
// exponent that is fitted through them. If the claim is that it does grow, and there are enough
// sizes, a cost that is the same at each size is fitted too.
func (b *rulingData) judgeGrowth(r *tare.ClaimResult, c tare.Claim) {
	if b.reportUnanswerableAlong(r, c) {
		return
	}
	all := Scaling(b.d)
	i := slices.IndexFunc(all, func(s tare.Scaling) bool { return s.Contender == c.Contender && slices.Equal(s.Workloads, c.Workloads) })
	if i < 0 {
		setNotMeasured(r, "no exponent is fitted over "+strings.Join(c.Workloads, ", ")+" for "+c.Contender)
		return
	}
	s := all[i]
	by := "size"
	if s.By != "" {
		by = string(s.By)
	}
	r.Measured, r.Outcome = s.Exponent, tare.ClaimOpen
	r.Evidence = fmt.Sprintf("%s, time by %s, over %s, %s", c.Contender, by, strings.Join(c.Workloads, ", "), format.Count(s.Rounds, "round"))
	if at := stats.LookLevel(alpha, b.d.Looks()); s.Rounds < stats.MinRounds(at) {
		r.Why = fmt.Sprintf("no interval after %s; it takes %d", format.Count(s.Rounds, "round"), stats.MinRounds(at))
		return
	}
	r.Low, r.High = s.Low, s.High
	r.Why = fmt.Sprintf("time grows as %s^%.2f (%.2f to %.2f, %s, %s)", by, s.Exponent, s.Low, s.High, formatLevel(s.Level), format.Count(s.Rounds, "round"))
	f, ok := b.fitFixedCost(s, c.Value)
	if ok && f.enough && c.Value > 0 {
		r.Measured, r.Low, r.High = f.value, f.low, f.high
		r.Why = fmt.Sprintf("beyond a fixed cost, %.0f %% of the time at the smallest size, time grows as %s^%.2f (%.2f to %.2f, %s, %s); with that cost in it as %s^%.2f",
			100*f.cost, by, f.value, f.low, f.high, formatLevel(s.Level), format.Count(len(f.exponents), "round"), by, s.Exponent)
	}
	low, high := c.Value-growthWithin, c.Value+growthWithin
	worst, describes := b.isDescribed(f, c.Value)
	switch {
	case describes && !(low <= r.Low && r.High <= high):
		r.Outcome = tare.Holds
		r.Why = fmt.Sprintf("a fixed cost and a cost in proportion to %s are within %s of the time at each size (%s, %s); with a free exponent time grows as %s^%.2f beyond the fixed cost",
			powerOf(by, c.Value), format.Factor(math.Exp(worst)), formatLevel(1-alpha), format.Count(len(f.exponents), "round"), by, r.Measured)
		return
	case low <= r.Low && r.High <= high:
		r.Outcome = tare.Holds
		return
	case r.High < low || high < r.Low:
		r.Outcome = tare.Refuted
	}
	r.Why += fmt.Sprintf(", and was published as %s^%.3g", by, c.Value)
}

// isDescribed reports whether a fixed cost and a cost by the published exponent are within
// [lineWithin] of the time at each size, and the largest possible distance from it, as a logarithm.
// The intervals of all sizes hold together.
func (b *rulingData) isDescribed(f costFit, published float64) (worst float64, ok bool) {
	if len(f.misfits) == 0 || published == 0 || f.span < lineSpan {
		return 0, false
	}
	for _, far := range f.misfits {
		low, high, bounded := stats.Interval(far, stats.LookLevel(alpha/float64(len(f.misfits)), b.d.Looks()))
		if !bounded {
			return 0, false
		}
		worst = max(worst, -low, high)
	}
	return worst, worst <= math.Log(lineWithin)
}

// powerOf writes a size to some power: "bytes", "levels^2".
func powerOf(by string, exponent float64) string {
	if exponent == 1 {
		return by
	}
	return fmt.Sprintf("%s^%.3g", by, exponent)
}
