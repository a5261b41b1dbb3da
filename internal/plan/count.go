package plan

import (
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// This file chooses the number of slices in a round. A slice is one turn of a contender. More
// slices make a round more precise but longer.

// Usual ratios of the variance between rounds to that within rounds: medians over saved
// measurements.
const (
	shareShort  = 0.012 // for work that allocates nothing: slices of a millisecond
	shareCycles = 0.04  // for work that allocates: slices of complete collection cycles
	shareVisits = 0.15  // for servers: visits of a load generator
	priorRounds = 8     // weight of the usual ratio, as a number of measured rounds
)

const (
	minShort       = 2 * noAllocBlock // slices per round without allocations
	minCycleSlices = 2 * cycleBlock   // slices per round with allocations
	minVisits      = 2 * cycleBlock   // visits of servers per round
	shareStep      = 0.05             // step in which fillBudget reduces the share of the best number
	minSetupNS     = 20e6             // least set-up time per round that is assumed, whatever the pilot measured
)

// betweenShare returns the ratio of the variance between rounds to the variance within rounds. It
// is the mean of the measured and the usual ratio, weighted by rounds.
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

// reduceCounts returns a copy of slicings with fewer slices. For each workload it multiplies
// bestCount by share, which is at most 1, and rounds to a nearly balanced order. The number is at
// least minCount, and at most the number in slicings.
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
// most a quarter more than wanted. Otherwise it returns wanted, rounded up to an even number.
func nearlyBalanced(k, wanted int) int {
	if balanced := balancedCount(k, wanted); balanced <= wanted+wanted/4 {
		return balanced
	}
	return wanted + wanted%2
}

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
