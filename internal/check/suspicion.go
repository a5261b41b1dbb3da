package check

import (
	"math"
	"slices"

	"github.com/tarebench/tare/stats"
)

// suspicion is one thing that a statistical check could void a contender for: it
// does where all of the conditions hold.
type suspicion []condition

// condition holds where the middle of x, a figure of each round, lies outside
// low to high.
type condition struct {
	x         []float64
	low, high float64
	level     float64 // error level at which the check judges
	absent    bool    // it does not hold, and chance has no part in that
}

// absent is what a check without chance could have found in what was recorded,
// and did not.
func absent() suspicion { return suspicion{{absent: true}} }

// Conditions at the strict level.
func outside(x []float64, low, high float64) condition {
	return condition{x: x, low: low, high: high, level: strict}
}
func above(x []float64, limit float64) condition { return outside(x, math.Inf(-1), limit) }
func below(x []float64, limit float64) condition { return outside(x, limit, math.Inf(1)) }

// off is that a ratio which should be 1 is further from it than the margin.
func off(x []float64, margin float64) condition {
	return outside(x, 1/(1+margin), 1+margin)
}

// holds reports whether the evidence shows that the condition holds.
func (c condition) holds() bool {
	lo, hi, ok := stats.Interval(c.x, c.level)
	return ok && (lo > c.high || hi < c.low)
}

// ruledOut reports whether the evidence shows that the condition does not hold:
// the whole interval lies where the check stays silent. Where the condition does
// hold, chance makes that happen with half the error level at most.
func (c condition) ruledOut() bool {
	lo, hi, ok := stats.Interval(c.x, c.level)
	return c.absent || ok && c.low <= lo && hi <= c.high
}

// likely reports whether the condition holds for the estimate.
func (c condition) likely() bool {
	at := stats.HodgesLehmann(c.x)
	return at < c.low || at > c.high
}

// outOfReach is more rounds than any study has.
const outOfReach = stats.MaxRounds + 1

// needs is how many rounds would decide about the condition.
func (c condition) needs() int {
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

// unknown reports whether a figure that the suspicion rests on was not recorded,
// so that the check does not apply.
func (s suspicion) unknown() bool {
	for _, c := range s {
		if len(c.x) == 0 && !c.absent {
			return true
		}
	}
	return len(s) == 0
}

// holds reports whether all of the conditions hold.
func (s suspicion) holds() bool {
	return !slices.ContainsFunc(s, func(c condition) bool { return !c.holds() })
}

// ruledOut reports whether one of the conditions does not hold for certain.
func (s suspicion) ruledOut() bool {
	for _, c := range s {
		if c.ruledOut() {
			return true
		}
	}
	return false
}

// forecast is how many rounds would decide about the suspicion, and whether it
// would then be confirmed: that takes all of the conditions. One is enough to
// rule it out.
func (s suspicion) forecast() (rounds int, confirmed bool) {
	most, least, confirmed := 0, outOfReach, true
	for _, c := range s {
		n := c.needs()
		most = max(most, n)
		if !c.likely() {
			least, confirmed = min(least, n), false
		}
	}
	if confirmed {
		return most, true
	}
	return least, false
}

// roundsToDecide is how many rounds would decide about a contender with such
// suspicions, none of which is ruled out yet: to confirm one of them, or else to
// rule out all. Zero is more than any study has.
func roundsToDecide(of []suspicion) int {
	confirm, ruleOut, confirms := outOfReach, 0, false
	for _, s := range of {
		if n, confirmed := s.forecast(); confirmed {
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

// roundsMeasured is how many rounds a contender has at the plan's slice length.
func (in Input) roundsMeasured(contender string) int {
	n := 0
	for _, t := range in.Trials {
		if t.Contender == contender && t.Round > 0 && t.Tau <= 1 && t.Error == nil {
			n++
		}
	}
	return n
}
