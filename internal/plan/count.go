package plan

import (
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// Before the first rounds have shown it, the variance between rounds is taken to
// be this share of the variance within them. The shares are medians over saved
// journals of the bundled studies.
const (
	shareShort     = 0.012 // work that allocates nothing: slices of a millisecond
	shareCycles    = 0.04  // work that allocates: slices of complete collection cycles
	shareVisits    = 0.15  // servers
	priorRounds    = 8     // the share weighs as much as this many measured rounds
	minShort       = 2 * shortBlock
	minCycleSlices = 2 * block
	minVisits      = 2 * block
	shareStep      = 0.05
	setupUnknown   = 20e6 // ns of set-up in a round, if the pilot could not measure it
)

// betweenShare returns the variance between rounds over that within them: what was
// measured and what is usual, weighted by rounds.
func betweenShare(v stats.Variance, s tare.Slicing) float64 {
	usual := shareCycles
	switch {
	case s.Visits:
		usual = shareVisits
	case s.Block == shortBlock:
		usual = shareShort
	}
	if v.Rounds == 0 || !(v.Within > 0) {
		return usual
	}
	n, prior := float64(v.Rounds), float64(priorRounds)
	return (n*max(0, v.Between)/v.Within + prior*usual) / (n + prior)
}

// reduceCounts sets each workload's number of slices to that which reaches a given width of the
// interval soonest, or a share of it, within the limits of the slice rule.
func reduceCounts(rule []tare.Slicing, pilots []tare.Pilot, measured map[string]stats.Variance, share float64) []tare.Slicing {
	out := make([]tare.Slicing, len(rule))
	known := byWorkload(pilots)
	for i, s := range rule {
		least := minCount(s)
		if s.Count > least {
			best := bestCount(s, known[s.Workload], measured[s.Workload])
			want := int(math.Round(share * min(float64(s.Count), best)))
			s.Count = min(s.Count, nearlyBalanced(len(s.Contenders), max(least, want)))
		}
		out[i] = s
	}
	return out
}

// nearlyBalanced returns the count of a balanced order for k contenders if that is at
// most a quarter more than wanted, else want made even.
func nearlyBalanced(k, want int) int {
	if whole := balancedCount(k, want); whole <= want+want/4 {
		return whole
	}
	return want + want%2
}

// minCount returns the least number of slices of s in a round: two blocks, or one slice if slices
// are long.
func minCount(s tare.Slicing) int {
	switch {
	case s.Block == 1:
		return 1
	case s.Visits:
		return minVisits
	case s.Block == shortBlock:
		return minShort
	}
	return minCycleSlices
}

// bestCount returns the number of slices per round that minimises the time to a given width, by the
// pilots of the workload: with n slices a round costs set-up + n·slice and its effect has the
// variance between + within/n, so that the product is least at n = √(set-up/slice ·
// within/between).
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
		setup += max(setupUnknown, p.SetupNS)
		slice += float64(ops+s.Lead[p.Contender])*p.ElapsedNS() + tokenNS + p.AroundNS
	}
	return math.Sqrt(setup / max(1, slice) / betweenShare(v, s))
}
