package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This check finds ratios that have two humps. For example, in half of the rounds a contender takes
// 0.8 times as long as the baseline, and in the other half as long. The printed ratio, 0.9, then
// never occurs.

func bimodal() Check {
	return Check{
		ID:       "bimodal",
		Severity: tare.Warn,
		Summary: "The distribution of the effects of rounds should have one hump. The check computes Hartigan's dip on the primary metric, for each contender and the control against the baseline: how far the distribution of rounds is from the nearest one with a single hump. " +
			"The limit is the dip that rounds drawn from one flat hump exceed in 0.1 % of studies, found by simulation; other single humps exceed it less often. " +
			"The check warns if the dip is larger and the two humps differ by more than 3 %. It needs 12 rounds.",
		Why: "The addresses of data differ from process to process, and the addresses of code from link to link (tare bench and tare gate link again for each round). Both can make a program run at one of two speeds. " +
			"The printed ratio is then between two ratios that occur, and may itself never occur; how often each of them occurs is a property of the build, not of the code.",
		Advice: "read the rounds in the result: two groups often come from memory layout or from the processor on which a process ran; more rounds do not merge them",
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, e := range primaryEffects(in) {
				critical, ok := dipLevel(len(e.Effects))
				if !ok || newSteps(e.Effects).isUnimodal(critical) {
					continue
				}
				low, high := splitHumps(e.Effects)
				lowRatio, highRatio := stats.Median(low), stats.Median(high) // logarithms
				if highRatio-lowRatio <= math.Log1p(tolerance) {
					continue
				}
				out = append(out, tare.Finding{
					Contender: e.A, Workload: e.Workload,
					Message: fmt.Sprintf("the ratio to %s has two humps: about %.3g in %s and %.3g in %s",
						e.B, math.Exp(lowRatio), format.Count(len(low), "round"), math.Exp(highRatio), format.Count(len(high), "round")),
				})
			}
			return out
		},
	}
}

// dipLevel returns the dip that n values of a uniform distribution exceed with probability 0.1 %.
// The dip is the distance from the nearest distribution with one hump. For large n, no other
// distribution with one hump has larger dips. It returns false if n is below 12.
func dipLevel(n int) (dip float64, ok bool) {
	const minRounds = 12
	if n < minRounds {
		return 0, false
	}
	table := dipTable()
	row := 0
	for row < len(table)-1 && table[row].n < n { // the last row also applies to larger numbers
		row++
	}
	return table[row].root / math.Sqrt(float64(n)), true
}

// splitHumps divides x into a lower and a higher group. The sum of the squared distances from the
// groups' means is as small as possible.
//
// Source: W. D. Fisher, "On grouping for maximum homogeneity", J. Amer. Statist. Assoc. 53 (1958)
// 789–798.
func splitHumps(x []float64) (low, high []float64) {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	minSum, split := math.Inf(1), 1
	for k := 1; k < len(sorted); k++ {
		if sum := sumSquares(sorted[:k]) + sumSquares(sorted[k:]); sum < minSum {
			minSum, split = sum, k
		}
	}
	return sorted[:split], sorted[split:]
}

func sumSquares(x []float64) float64 {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	sum := 0.0
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return sum
}

// primaryEffects returns ln(A/B) of each round for the primary metric. B is always the baseline, and
// A another contender or the control. It returns nil before the study has stopped.
func primaryEffects(in Input) []tare.Effects {
	if !in.Final {
		return nil
	}
	var out []tare.Effects
	for _, e := range in.Effects {
		if e.B != in.Study.Baseline {
			e.A, e.B = e.B, e.A
			e.Effects, e.Sums = negate(e.Effects), negate(e.Sums)
		}
		if e.Metric != in.Primary() || e.B != in.Study.Baseline {
			continue
		}
		switch in.roleOf(e.A) {
		case tare.RoleContender, tare.RoleApart, tare.RoleControl:
			out = append(out, e)
		}
	}
	return out
}
