package check

import (
	"math"
	"slices"

	"github.com/tarebench/tare/stats"
)

// A study may expect a check to void a trap, a contender that repeats a published mistake. If the
// check did not, this file answers whether it missed the mistake or needs more rounds.
//
// For example, one check voids a server that counted another number of requests than were sent. Its
// reason has one condition: the ratio of both numbers is below 0.99 or above 1.01. The interval of
// the ratio decides. The condition is true for 1.03 to 1.05, false for 0.995 to 1.002, and
// undecided for 0.97 to 1.02.

// voidReason is a reason to void a contender. It applies if all conditions are true.
type voidReason []condition

// condition is true if the middle of the values x is below low or above high.
type condition struct {
	x         []float64 // one value per round
	low, high float64
	level     float64 // error level at which the check judges
	isFalse   bool    // false for certain; x is nil
}

type proof int

const (
	unrecorded proof = iota // the values were not recorded, so the check does not apply
	undecided               // more rounds are needed
	disproved               // the condition or reason is false
	proved                  // the condition or reason is true
)

// disprovedByRecords returns a reason that is false for certain. A check that does not depend on
// chance returns it for records in which it found no mistake.
func disprovedByRecords() voidReason { return voidReason{{isFalse: true}} }

func outsideRange(x []float64, low, high float64) condition {
	return condition{x: x, low: low, high: high, level: strictLevel}
}

func aboveLimit(x []float64, limit float64) condition { return outsideRange(x, math.Inf(-1), limit) }
func belowLimit(x []float64, limit float64) condition { return outsideRange(x, limit, math.Inf(1)) }

// notNearOne returns the condition that ratios are off 1 by a factor of more than 1+margin.
func notNearOne(x []float64, margin float64) condition {
	return outsideRange(x, 1/(1+margin), 1+margin)
}

// prove compares the interval of x with low and high. The probability that a true condition is
// disproved is at most half the error level.
func (c condition) prove() proof {
	switch lo, hi, hasInterval := stats.Interval(c.x, c.level); {
	case c.isFalse:
		return disproved
	case len(c.x) == 0:
		return unrecorded
	case !hasInterval:
		return undecided
	case lo > c.high || hi < c.low:
		return proved
	case c.low <= lo && hi <= c.high:
		return disproved
	}
	return undecided
}

// isLikely reports whether the estimate of the middle of x meets the condition.
func (c condition) isLikely() bool {
	estimate := stats.HodgesLehmann(c.x)
	return estimate < c.low || estimate > c.high
}

const outOfReach = stats.MaxRounds + 1 // more rounds than any study has

// roundsNeeded returns the number of rounds that would decide, or outOfReach.
func (c condition) roundsNeeded() int {
	const minForSpread = 4 // fewer rounds do not show how much x varies
	minRounds := stats.MinRounds(c.level)
	if len(c.x) < minForSpread {
		return minRounds
	}
	allInside := c.low <= slices.Min(c.x) && slices.Max(c.x) <= c.high
	if allInside && len(c.x) < minRounds {
		return minRounds
	}
	var limits []float64
	for _, limit := range []float64{c.low, c.high} {
		if !math.IsInf(limit, 0) {
			limits = append(limits, limit)
		}
	}
	n, ok := stats.RoundsNeeded(c.x, c.level, stats.MaxRounds, limits...)
	if !ok {
		return outOfReach
	}
	return n
}

// prove combines the proofs of the conditions. A reason without conditions is unrecorded.
func (r voidReason) prove() proof {
	var proofs []proof
	for _, c := range r {
		proofs = append(proofs, c.prove())
	}
	for _, p := range []proof{unrecorded, disproved, undecided} { // the first that occurs decides
		if slices.Contains(proofs, p) {
			return p
		}
	}
	if len(proofs) == 0 {
		return unrecorded
	}
	return proved
}

// forecastRounds returns the number of rounds that would decide, and whether they would probably
// prove the reason. One false condition is enough to disprove it.
func (r voidReason) forecastRounds() (rounds int, willProve bool) {
	toProve, toDisprove := 0, outOfReach
	willProve = true
	for _, c := range r {
		n := c.roundsNeeded()
		toProve = max(toProve, n)
		if !c.isLikely() {
			toDisprove, willProve = min(toDisprove, n), false
		}
	}
	if willProve {
		return toProve, true
	}
	return toDisprove, false
}

// roundsToDecide returns the number of rounds that would prove one of the likely reasons. If none is
// likely, it returns the number that would disprove all. 0 means more rounds than any study has.
func roundsToDecide(reasons []voidReason) int {
	toProve, toDisprove := outOfReach, 0
	anyLikely := false
	for _, r := range reasons {
		if n, willProve := r.forecastRounds(); willProve {
			toProve, anyLikely = min(toProve, n), true
		} else {
			toDisprove = max(toDisprove, n)
		}
	}
	n := toDisprove
	if anyLikely {
		n = toProve
	}
	if n == outOfReach {
		return 0
	}
	return n
}

// roundsMeasured returns the number of rounds with a complete trial of contender. It omits long
// rounds, which have longer slices.
func (in Input) roundsMeasured(contender string) int {
	n := 0
	for _, t := range in.Trials {
		isPilot := t.Round == 0
		if t.Contender == contender && isCounted(t) && !isPilot {
			n++
		}
	}
	return n
}
