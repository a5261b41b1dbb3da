package plan

import (
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// This file chooses the number of slices in a round. A slice is one turn of a contender. More
// slices make a round more precise but longer, and differences between rounds remain.

// Usual ratios of the variance between rounds to the variance within rounds. They are medians over
// saved measurements of the bundled studies.
const (
	shareShort  = 0.012 // for work that allocates nothing: slices of a millisecond
	shareCycles = 0.04  // for work that allocates: slices of complete collection cycles
	shareVisits = 0.15  // for servers
	priorRounds = 8     // weight of the usual ratio, as a number of measured rounds
)

const (
	minShort       = 2 * noAllocBlock // least number per round for work that allocates nothing
	minCycleSlices = 2 * cycleBlock   // least number per round for work that allocates
	minVisits      = 2 * cycleBlock   // least number per round for servers
	shareStep      = 0.05             // step in which fillBudget reduces the number
	minSetupNS     = 20e6             // least assumed set-up time per round
)

// betweenShare returns the ratio of the variance between rounds to that within rounds. It is the
// mean of the measured and the usual ratio, weighted by rounds.
func betweenShare(v stats.Variance, s tare.Slicing) float64 {
	usual := shareCycles
	switch {
	case s.Visits:
		usual = shareVisits
	case s.Block == noAllocBlock:
		usual = shareShort
	}
	if v.Rounds == 0 || !(v.Within > 0) {
		return usual
	}
	n, prior := float64(v.Rounds), float64(priorRounds)
	measured := max(0, v.Between) / v.Within
	return (n*measured + prior*usual) / (n + prior)
}

// reduceCounts returns a copy of slicings with smaller numbers of slices. For each workload it
// multiplies bestCount by share, which is at most 1, and rounds the product to a nearly balanced
// order.
func reduceCounts(slicings []tare.Slicing, pilots []tare.Pilot, measured map[string]stats.Variance, share float64) []tare.Slicing {
	out := make([]tare.Slicing, len(slicings))
	pilotsOf := byWorkload(pilots)
	for i, s := range slicings {
		least := minCount(s)
		if s.Count > least {
			best := bestCount(s, pilotsOf[s.Workload], measured[s.Workload])
			wanted := int(math.Round(share * min(float64(s.Count), best)))
			s.Count = min(s.Count, nearlyBalanced(len(s.Contenders), max(least, wanted)))
		}
		out[i] = s
	}
	return out
}

// nearlyBalanced returns the number of slices of a balanced order of k contenders, if that is at
// most a quarter more than wanted.
func nearlyBalanced(k, wanted int) int {
	if balanced := balancedCount(k, wanted); balanced <= wanted+wanted/4 {
		return balanced
	}
	return wanted + wanted%2
}

// minCount returns the least number of slices of s in a round.
func minCount(s tare.Slicing) int {
	switch {
	case s.Block == 1:
		return 1
	case s.Visits:
		return minVisits
	case s.Block == noAllocBlock:
		return minShort
	}
	return minCycleSlices
}

// bestCount returns the number of slices per round that minimises the time until an interval has a
// given width. With n slices, a round takes set-up + n·slice, and its effect has the variance
// between + within/n. The number of rounds grows with that variance. The product of both is least
// at n = √(set-up/slice · within/between).
//
// Source: T. Kalibera, R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, section 6
// (optimal repetition counts).
func bestCount(s tare.Slicing, pilots []tare.Pilot, v stats.Variance) float64 {
	var setup, slice float64
	for _, p := range pilots {
		ops := s.Ops[p.Contender]
		if ops == 0 {
			continue
		}
		setup += max(minSetupNS, p.SetupNS)
		slice += float64(ops+s.Lead[p.Contender])*p.ElapsedNS() + sliceOverheadNS + p.AroundNS
	}
	return math.Sqrt(setup / max(1, slice) / betweenShare(v, s))
}
