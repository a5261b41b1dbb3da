package check

import (
	"math"
	"slices"

	"github.com/tarebench/tare/stats"
)

// This file finds out whether a check has had enough evidence about a trap, a contender that it must void.
// A check that has not found the trap's mistake may need more rounds. For example, a check voids a contender
// if the server counted another number of requests than were sent. The ratio of both numbers is a condition
// with low = 0.99 and high = 1.01. If the interval of the ratio is 0.97 to 1.02, the condition is open.

// suspicion is one reason for which a statistical check could void a contender: the check voids it if all of
// the conditions hold.
type suspicion []condition

// condition holds if the true middle of the values x, which chance scatters, is below low or above high.
type condition struct {
	x         []float64 // one value per round
	low, high float64
	level     float64 // error level at which the check judges
	absent    bool    // the condition does not hold, and x is nil: the check does not depend on chance
}

// proof is the result of comparing the evidence with a condition or a suspicion.
type proof int

const (
	unrecorded proof = iota // the values were not recorded, so the check does not apply
	undecided               // more rounds are needed
	ruledOut                // the condition does not hold
	confirmed               // the condition holds
)

// absentEvidence returns a suspicion that is ruled out. Checks report it for what they read from the records
// without any chance: if the records showed the mistake, the check would have voided the contender already.
func absentEvidence() suspicion { return suspicion{{absent: true}} }

// outsideRange returns the condition, at the strict level, that x is below low or above high.
func outsideRange(x []float64, low, high float64) condition {
	return condition{x: x, low: low, high: high, level: strict}
}

// aboveLimit returns the condition that x is above limit, and belowLimit that it is below.
func aboveLimit(x []float64, limit float64) condition { return outsideRange(x, math.Inf(-1), limit) }
func belowLimit(x []float64, limit float64) condition { return outsideRange(x, limit, math.Inf(1)) }

// offOne returns the condition that ratios which should be 1 are off by more than margin, as a factor
// in either direction.
func offOne(x []float64, margin float64) condition {
	return outsideRange(x, 1/(1+margin), 1+margin)
}

// judgeEvidence compares the interval of x with low and high. If the condition does hold, the probability that it is
// ruled out is at most half the error level.
func (c condition) judgeEvidence() proof {
	switch lo, hi, hasInterval := stats.Interval(c.x, c.level); {
	case c.absent:
		return ruledOut
	case len(c.x) == 0:
		return unrecorded
	case !hasInterval:
		return undecided
	case lo > c.high || hi < c.low:
		return confirmed
	case c.low <= lo && hi <= c.high:
		return ruledOut
	}
	return undecided
}

// isLikely reports whether the estimate of the middle of x fulfils the condition, whatever its interval is.
func (c condition) isLikely() bool {
	estimate := stats.HodgesLehmann(c.x)
	return estimate < c.low || estimate > c.high
}

const outOfReach = stats.MaxRounds + 1 // a number of rounds that means "more than any study has"

// roundsNeeded returns the number of rounds that would decide about the condition, or outOfReach.
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

// judgeEvidence combines the conditions. To rule the suspicion out, one condition is enough, because all must hold.
// A suspicion without conditions is unrecorded.
func (s suspicion) judgeEvidence() proof {
	var proofs []proof
	for _, c := range s {
		proofs = append(proofs, c.judgeEvidence())
	}
	for _, p := range []proof{unrecorded, ruledOut, undecided} { // the first that occurs decides
		if slices.Contains(proofs, p) {
			return p
		}
	}
	if len(proofs) == 0 {
		return unrecorded
	}
	return confirmed
}

// forecastRounds returns the number of rounds that would decide about the suspicion, and whether it
// would then be confirmed. To confirm it, all of its conditions must be decided; to rule it out, the
// first one that does not hold is enough.
func (s suspicion) forecastRounds() (rounds int, willConfirm bool) {
	toConfirm, toRuleOut := 0, outOfReach
	willConfirm = true
	for _, c := range s {
		n := c.roundsNeeded()
		toConfirm = max(toConfirm, n)
		if !c.isLikely() {
			toRuleOut, willConfirm = min(toRuleOut, n), false
		}
	}
	if willConfirm {
		return toConfirm, true
	}
	return toRuleOut, false
}

// roundsToDecide returns the number of rounds that would decide about a contender whose suspicions are still
// open: to confirm one of them if one is likely, or else to rule out all. 0 means more rounds than any study
// has.
func roundsToDecide(suspicions []suspicion) int {
	toConfirm, toRuleOut := outOfReach, 0
	anyLikely := false
	for _, s := range suspicions {
		if n, willConfirm := s.forecastRounds(); willConfirm {
			toConfirm, anyLikely = min(toConfirm, n), true
		} else {
			toRuleOut = max(toRuleOut, n)
		}
	}
	n := toRuleOut
	if anyLikely {
		n = toConfirm
	}
	if n == outOfReach {
		return 0
	}
	return n
}

// roundsMeasured returns the number of rounds at the plan's slice length whose trial of contender was completed.
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
