package check

import (
	"math"
	"slices"

	"github.com/tarebench/tare/stats"
)

// This file finds out whether a check has had enough evidence about a trap, a contender that it must void:
// a check that has not found the trap's mistake may need more rounds.

// suspicion is one reason for which a statistical check could void a contender: the check voids it if all of
// the conditions hold. A suspicion is confirmed, ruled out, or still open; an open one needs more rounds.
type suspicion []condition

// condition holds if the true middle of the values x, which chance scatters, is below low or above high.
// The interval of x confirms it or rules it out.
type condition struct {
	x         []float64 // one value per round
	low, high float64
	level     float64 // error level at which the check judges
	absent    bool    // the condition does not hold, and x is nil: the check does not depend on chance
}

// absentEvidence returns the suspicion of a check without chance that found nothing in the records.
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

// isConfirmed reports whether the evidence shows that the condition holds.
func (c condition) isConfirmed() bool {
	lo, hi, ok := stats.Interval(c.x, c.level)
	return ok && (lo > c.high || hi < c.low)
}

// isRuledOut reports whether the evidence shows that the condition does not hold: the entire interval is
// between low and high. If the condition does hold, the probability of that is at most half the error level.
func (c condition) isRuledOut() bool {
	lo, hi, ok := stats.Interval(c.x, c.level)
	return c.absent || ok && c.low <= lo && hi <= c.high
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

// isUnknown reports whether the suspicion has no conditions, or one whose values were not recorded:
// the check does not apply then.
func (s suspicion) isUnknown() bool {
	for _, c := range s {
		if len(c.x) == 0 && !c.absent {
			return true
		}
	}
	return len(s) == 0
}

// isConfirmed reports whether all of the conditions hold.
func (s suspicion) isConfirmed() bool {
	return !slices.ContainsFunc(s, func(c condition) bool { return !c.isConfirmed() })
}

// isRuledOut reports whether one of the conditions is ruled out. One is enough, because all must hold.
func (s suspicion) isRuledOut() bool { return slices.ContainsFunc(s, condition.isRuledOut) }

// forecastRounds returns the number of rounds that would decide about the suspicion, and whether it
// would then be confirmed. To confirm it, all of its conditions must be decided; to rule it out, the
// first one that does not hold is enough.
func (s suspicion) forecastRounds() (rounds int, confirmed bool) {
	toConfirm, toRuleOut := 0, outOfReach
	confirmed = true
	for _, c := range s {
		n := c.roundsNeeded()
		toConfirm = max(toConfirm, n)
		if !c.isLikely() {
			toRuleOut, confirmed = min(toRuleOut, n), false
		}
	}
	if confirmed {
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
		if n, confirmed := s.forecastRounds(); confirmed {
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
