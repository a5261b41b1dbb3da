package stats

import (
	"math"
	"slices"
)

// This file compares counts that hardly vary, such as allocations per operation. For example, the
// counts 7, 7, 7, 9, 9 change their level at index 3.

const (
	// sameCount is the least difference of counts that are not equal, e.g. of allocations per
	// operation. A smaller difference may come from the average over many operations.
	sameCount = 0.5
	// settledRuns is the least number of runs of a level. If a count returns to an earlier level
	// after fewer runs, it varies and has not changed twice.
	settledRuns = 3
	// countChance is the tolerated probability that the counts of two levels do not overlap by
	// chance, although nothing changed.
	countChance = 0.01
)

// countLevel is a level of a series of counts: counts[first:end] are between low and high.
type countLevel struct {
	first, end int
	low, high  float64
}

func (l countLevel) hasSpread() bool { return l.high-l.low >= sameCount }

func (l countLevel) isSeparateFrom(o countLevel) bool {
	return o.low-l.high >= sameCount || l.low-o.high >= sameCount
}

func (l countLevel) mergeWith(o countLevel) countLevel {
	return countLevel{first: l.first, end: o.end, low: min(l.low, o.low), high: max(l.high, o.high)}
}

// distanceTo returns the distance between the ranges, or 0 if they overlap.
func (l countLevel) distanceTo(o countLevel) float64 { return max(0, o.low-l.high, l.low-o.high) }

// CountSteps returns the indexes at which a series of counts changes its level, e.g. 3 for 7, 7, 7,
// 9, 9. If the counts of each level are equal, the first different count begins a level. If they
// vary, the ranges of neighbouring levels must not overlap, and the probability of that by chance
// must be at most countChance. Counts may be zero.
func CountSteps(counts []float64) []int {
	levels, vary := splitCounts(counts)
	for {
		// Merge the closest pair of neighbours that may be one level.
		closest, distance := -1, math.Inf(1)
		for i := 1; i < len(levels); i++ {
			a, b := levels[i-1], levels[i]
			isExact := !vary && !a.hasSpread() && !b.hasSpread()
			if a.isSeparateFrom(b) && (isExact || separationChance(a.end-a.first, b.end-b.first) <= countChance) {
				continue
			}
			if d := a.distanceTo(b); closest < 0 || d < distance {
				closest, distance = i, d
			}
		}
		if closest < 0 {
			break
		}
		levels[closest-1], vary = levels[closest-1].mergeWith(levels[closest]), true
		levels = append(levels[:closest], levels[closest+1:]...)
	}
	var steps []int
	for _, l := range levels[min(1, len(levels)):] {
		steps = append(steps, l.first)
	}
	return steps
}

// splitCounts returns the levels of a series, and whether the series varies. In 7, 9, 7 the short
// run of 9 is no level: it is merged with a neighbour.
func splitCounts(counts []float64) (levels []countLevel, vary bool) {
	for i, x := range counts {
		next := countLevel{first: i, end: i + 1, low: x, high: x}
		for len(levels) > 0 {
			last := len(levels) - 1
			latest := levels[last]
			overlaps := !latest.isSeparateFrom(next)
			isSettled := last == 0 || latest.end-latest.first >= settledRuns
			beginsLevel := !overlaps && (isSettled || !turnsBack(levels[last-1], latest, next))
			if beginsLevel {
				break
			}
			if overlaps || latest.distanceTo(next) <= levels[last-1].distanceTo(next) {
				next, vary = latest.mergeWith(next), vary || !overlaps
				levels = levels[:last]
				break
			}
			levels[last-1] = levels[last-1].mergeWith(latest)
			levels, vary = levels[:last], true
		}
		levels = append(levels, next)
	}
	return levels, vary
}

// turnsBack reports whether counts rise from a to b and fall from b to c, or the reverse.
func turnsBack(a, b, c countLevel) bool {
	rose, falls := b.low > a.high, c.high < b.low
	return rose == falls
}

// separationChance returns the probability that n values are all below or all above k others, if
// all orders are equally likely: 2·n!·k!/(n+k)!.
func separationChance(n, k int) float64 {
	logAll, _ := math.Lgamma(float64(n + k + 1))
	logN, _ := math.Lgamma(float64(n + 1))
	logK, _ := math.Lgamma(float64(k + 1))
	return 2 * math.Exp(logN+logK-logAll)
}

// minSeparated is the least number of rounds of each side at which disjoint ranges show a
// difference. With six rounds each, chance puts all counts of head above those of base in 1 of 924
// cases.
const minSeparated = 6

// CompareCounts compares the counts of two sides, one per round, without an interval. sign is 1 if
// head has more, -1 if it has fewer, and 0 if both are the same. exact means that neither side
// varies. ok is false if the counts decide nothing: they vary, and their ranges overlap or there
// are too few rounds.
func CompareCounts(base, head []float64) (sign int, exact, ok bool) {
	if len(base) == 0 || len(head) == 0 {
		return 0, false, false
	}
	a := countLevel{low: slices.Min(base), high: slices.Max(base)}
	b := countLevel{low: slices.Min(head), high: slices.Max(head)}
	exact = !a.hasSpread() && !b.hasSpread()
	switch {
	case !exact && min(len(base), len(head)) < minSeparated:
		return 0, false, false
	case b.low-a.high >= sameCount:
		return 1, exact, true
	case a.low-b.high >= sameCount:
		return -1, exact, true
	}
	allSame := max(b.high-a.low, a.high-b.low) < sameCount
	return 0, exact && allSame, allSame
}
