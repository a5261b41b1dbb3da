package stats

import (
	"math"
	"slices"
)

const (
	// sameCount is the maximum difference of equal counts: an average over many operations carries
	// a share of what was counted before them.
	sameCount = 0.5
	// settledRuns is the number of runs a count has to stay for its return to an earlier level to
	// be two changes, and not a count that varies.
	settledRuns = 3
	// countChance bounds the probability that counts of one level that varies lie on
	// one side of all later ones by chance.
	countChance = 0.01
)

// countLevel is a level of a series of counts: counts[from:to], which are in low to high.
type countLevel struct {
	from, to  int
	low, high float64
}

// hasSpread reports whether the counts of l differ.
func (l countLevel) hasSpread() bool { return l.high-l.low >= sameCount }

// isAdjacentTo reports whether all counts of o lie on one side of all of l.
func (l countLevel) isAdjacentTo(o countLevel) bool {
	return o.low-l.high >= sameCount || l.low-o.high >= sameCount
}

// withLevel returns l with the counts of the level that follows it.
func (l countLevel) withLevel(o countLevel) countLevel {
	return countLevel{l.from, o.to, min(l.low, o.low), max(l.high, o.high)}
}

// distanceTo returns the distance of the counts of l and o; 0 if they overlap.
func (l countLevel) distanceTo(o countLevel) float64 { return max(0, o.low-l.high, l.low-o.high) }

// CountSteps returns at which indexes a series of counts changes its level. Counts that
// never vary change with the first that differs: a count needs no interval. If they vary,
// a step needs all counts of a level on one side of all of the next, by chance at
// most once in a hundred. Logarithms are not taken, so that a count may be zero.
func CountSteps(counts []float64) []int {
	levels, vary := splitCounts(counts)
	for {
		worst, gap := -1, math.Inf(1) // the pair of neighbours that differ least, of those that need not differ
		for i := 1; i < len(levels); i++ {
			a, b := levels[i-1], levels[i]
			if exact := !vary && !a.hasSpread() && !b.hasSpread(); a.isAdjacentTo(b) && (exact || separationChance(a.to-a.from, b.to-b.from) <= countChance) {
				continue
			}
			if d := a.distanceTo(b); worst < 0 || d < gap {
				worst, gap = i, d
			}
		}
		if worst < 0 {
			break
		}
		levels[worst-1], vary = levels[worst-1].withLevel(levels[worst]), true
		levels = append(levels[:worst], levels[worst+1:]...)
	}
	var steps []int
	for _, l := range levels[min(1, len(levels)):] {
		steps = append(steps, l.from)
	}
	return steps
}

// splitCounts returns the levels of a series, and whether counts vary within them: a few
// runs after which a count turns back are no level.
func splitCounts(counts []float64) (levels []countLevel, vary bool) {
	for i, x := range counts {
		next := countLevel{i, i + 1, x, x}
		for len(levels) > 0 {
			last := len(levels) - 1
			short := levels[last]
			joins := !short.isAdjacentTo(next)
			if !joins && (last == 0 || short.to-short.from >= settledRuns || (short.low > levels[last-1].high) != (next.high < short.low)) {
				break // further away: a level of its own
			}
			if joins || short.distanceTo(next) <= levels[last-1].distanceTo(next) {
				next, vary = short.withLevel(next), vary || !joins
				levels = levels[:last]
				break
			}
			levels[last-1] = levels[last-1].withLevel(short)
			levels, vary = levels[:last], true
		}
		levels = append(levels, next)
	}
	return levels, vary
}

// separationChance returns the probability that n values lie on one side of k further
// ones if all orders are equally likely: 2/C(n+k, k).
func separationChance(n, k int) float64 {
	ways, _ := math.Lgamma(float64(n + k + 1))
	of, _ := math.Lgamma(float64(n + 1))
	rest, _ := math.Lgamma(float64(k + 1))
	return 2 * math.Exp(of+rest-ways)
}

// minSeparated is the least number of rounds after which varying counts can be found different
// because their ranges are disjoint: by chance that happens once in 924 at six of each side.
const minSeparated = 6

// CompareCounts compares the counts that two sides took in each round, without an
// interval: sign is 1 if head took more, -1 if it took fewer, and 0 if it took the same.
// ok is false if the counts do not tell: each side has to be the same in every round
// (exact), or every round of one side above every round of the other.
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
	same := max(b.high-a.low, a.high-b.low) < sameCount
	return 0, exact && same, same
}
