package check

import (
	"math"
	"slices"

	"github.com/tarebench/tare/stats"
)

// suspicion is one reason for which a statistical check could void a contender: it does if all of
// the conditions hold.
type suspicion []condition

// condition holds if the middle of x, a figure of each round, is outside low to high.
type condition struct {
	x         []float64
	low, high float64
	level     float64 // error level at which the check judges
	absent    bool    // it does not hold, and chance has no part in that
}

// absentEvidence returns the suspicion of a check without chance that found nothing in the records.
func absentEvidence() suspicion { return suspicion{{absent: true}} }

// outsideRange returns the condition at the strict level that x is outside low to high.
func outsideRange(x []float64, low, high float64) condition {
	return condition{x: x, low: low, high: high, level: strict}
}
func aboveLimit(x []float64, limit float64) condition { return outsideRange(x, math.Inf(-1), limit) }
func belowLimit(x []float64, limit float64) condition { return outsideRange(x, limit, math.Inf(1)) }

// offOne returns the condition that a ratio which should be 1 is off by more than the margin.
func offOne(x []float64, margin float64) condition {
	return outsideRange(x, 1/(1+margin), 1+margin)
}

// isConfirmed reports whether the evidence shows that the condition holds.
func (c condition) isConfirmed() bool {
	lo, hi, ok := stats.Interval(c.x, c.level)
	return ok && (lo > c.high || hi < c.low)
}

// isRuledOut reports whether the evidence shows that the condition does not hold: the entire
// interval is where the check stays silent. If the condition does hold, chance makes that happen
// with at most half the error level.
func (c condition) isRuledOut() bool {
	lo, hi, ok := stats.Interval(c.x, c.level)
	return c.absent || ok && c.low <= lo && hi <= c.high
}

// isLikely reports whether the condition holds for the estimate.
func (c condition) isLikely() bool {
	at := stats.HodgesLehmann(c.x)
	return at < c.low || at > c.high
}

// outOfReach is more rounds than any study has.
const outOfReach = stats.MaxRounds + 1

// roundsNeeded returns the number of rounds that would decide about the condition.
func (c condition) roundsNeeded() int {
	const known = 4 // rounds from which the spread is known
	least := stats.MinRounds(c.level)
	silent := len(c.x) > 0 && c.low <= slices.Min(c.x) && slices.Max(c.x) <= c.high // in every round
	if len(c.x) < known || silent && len(c.x) < least {
		return least
	}
	var limits []float64
	for _, l := range []float64{c.low, c.high} {
		if !math.IsInf(l, 0) {
			limits = append(limits, l)
		}
	}
	n, ok := stats.RoundsNeeded(c.x, c.level, stats.MaxRounds, limits...)
	if !ok {
		return outOfReach
	}
	return n
}

// isUnknown reports whether a figure of the suspicion was not recorded, so that the check does not
// apply.
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

// isRuledOut reports whether one of the conditions does not hold for certain.
func (s suspicion) isRuledOut() bool {
	for _, c := range s {
		if c.isRuledOut() {
			return true
		}
	}
	return false
}

// forecastRounds returns the number of rounds that would decide about the suspicion, and whether it
// would then be confirmed: that takes all of the conditions. One is enough to rule it out.
func (s suspicion) forecastRounds() (rounds int, confirmed bool) {
	most, least, confirmed := 0, outOfReach, true
	for _, c := range s {
		n := c.roundsNeeded()
		most = max(most, n)
		if !c.isLikely() {
			least, confirmed = min(least, n), false
		}
	}
	if confirmed {
		return most, true
	}
	return least, false
}

// roundsToDecide returns the number of rounds that would decide about a contender with suspicions
// that are not ruled out yet: to confirm one of them, or else to rule out all. 0 means more than
// any study has.
func roundsToDecide(of []suspicion) int {
	confirm, ruleOut, confirms := outOfReach, 0, false
	for _, s := range of {
		if n, confirmed := s.forecastRounds(); confirmed {
			confirm, confirms = min(confirm, n), true
		} else {
			ruleOut = max(ruleOut, n)
		}
	}
	n := ruleOut
	if confirms {
		n = confirm
	}
	if n == outOfReach {
		return 0
	}
	return n
}

// roundsMeasured returns the number of contender's rounds at the plan's slice length.
func (in Input) roundsMeasured(contender string) int {
	n := 0
	for _, t := range in.Trials {
		if t.Contender == contender && t.Round > 0 && t.Tau <= 1 && t.Error == nil {
			n++
		}
	}
	return n
}
