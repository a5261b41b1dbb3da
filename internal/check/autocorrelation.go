package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This check finds studies whose rounds depend on each other. A round measures each contender once,
// and its effect is the logarithm of a ratio of two contenders. For example, one contender is
// favoured for minutes at a time. The interval over rounds is then too narrow.

// maxCorrelation is the tolerated correlation of one round with the next. Above it intervals are
// too narrow: an error level of 5 % becomes about 8 %.
const maxCorrelation = 0.1

func autocorrelation() Check {
	return Check{
		ID:       "autocorrelation",
		Severity: tare.Warn,
		Summary: "Rounds must not depend on the round before. On the primary metric, for each contender and the control against the baseline, the correlation of each round's effect with the next is computed from ranks (Bartels' ratio), " +
			"with an interval at 99.9 % by Fisher's transformation; the check warns if that interval is entirely above 0.1. It does not warn of effects that alternate, because they make intervals too wide, not too narrow.",
		Why: "Every interval of tare assumes that rounds are independent. If the machine favours one contender for minutes at a time, ten rounds show no more than two would, " +
			"and the interval is too narrow without a sign of it.",
		Advice: "measure again at another time, and trust only what both runs show; slow changes of this machine do not average out within one run",
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, e := range primaryEffects(in) {
				r, lo, ok := lagOne(e.Effects)
				if !ok || lo <= maxCorrelation {
					continue
				}
				out = append(out, tare.Finding{
					Contender: e.A, Workload: e.Workload,
					Message: fmt.Sprintf("the effect of a round goes along with that of the round before: correlation %.2f (at least %.2f, %s)", r, lo, format.Count(len(e.Effects), "round")),
				})
			}
			return out
		},
	}
}

// lagOne returns the correlation of each value's rank with that of the next value, and the lower
// end of its 99.9 % interval. The correlation is 1 − RVN/2. RVN is the rank version of von
// Neumann's ratio.
//
// Sources: R. Bartels, "The rank version of von Neumann's ratio test for randomness", J. Amer.
// Statist. Assoc. 77 (1982) 40–46; R. A. Fisher, "On the probable error of a coefficient of
// correlation deduced from a small sample", Metron 1 (1921) 3–32.
func lagOne(x []float64) (r, low float64, ok bool) {
	const minValues = 10
	n := len(x)
	if n < minValues {
		return 0, 0, false
	}
	ranks := midRanks(x)
	var stepSquares, squares float64 // of steps between ranks, and of distances from the mean
	mean := float64(n+1) / 2
	for i, v := range ranks {
		squares += (v - mean) * (v - mean)
		if i > 0 {
			stepSquares += (v - ranks[i-1]) * (v - ranks[i-1])
		}
	}
	if squares == 0 {
		return 0, 0, false
	}
	r = 1 - stepSquares/squares/2
	const z = 3.2905 // standard normal quantile, exceeded with probability 0.0005
	return r, math.Tanh(math.Atanh(r) - z/math.Sqrt(float64(n-3))), true
}

// midRanks returns the ranks of the values of x, from 1. Equal values get the mean of their ranks.
func midRanks(x []float64) []float64 {
	sorted := slices.Sorted(slices.Values(x))
	out := make([]float64, len(x))
	for i, v := range x {
		first, _ := slices.BinarySearch(sorted, v)
		last := first
		for last+1 < len(sorted) && sorted[last+1] == v {
			last++
		}
		out[i] = float64(first+last)/2 + 1
	}
	return out
}
