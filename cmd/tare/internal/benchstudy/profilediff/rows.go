package profilediff

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/profile"
	"github.com/tarebench/tare/stats"
)

// This file finds the functions whose costs, CPU time or allocations, explain the difference between base and
// head. For example, head takes 120 ns per operation more in every round, and parse.scan takes 90 ns of these.

const (
	rowsAlpha     = 0.05 // error level over all functions together
	totalAlpha    = 0.01 // error level that the total differs: it hardly ever does by chance
	hotShare      = 0.05 // least share of a function, of a side's total as a candidate, of the difference if it is named
	maxCandidates = 12   // most candidates; the error level is divided among them
)

// Rows contains the costs of functions on two sides, round by round.
type Rows struct {
	rounds    int
	functions map[string]*functionCosts // by name of the function
	totals    [2][]float64              // costs of all functions, by side and round
}

// functionCosts contains the costs of one function per operation. Index 0 is base, index 1 head.
type functionCosts struct {
	name    string
	sides   [2][]float64              // costs by round; missing rounds at the end are 0
	through map[string]*[2]float64    // sums over rounds, by the callee that the cost arises in
	lines   [2]map[sourceLine]float64 // sums over rounds, by line
}

// sourceLine is a line of a source file.
type sourceLine struct {
	file string
	line int
}

// Add adds one round, in which each side did ops operations.
func (r *Rows) Add(base, head []profile.Cost, ops float64) {
	if r.functions == nil {
		r.functions = map[string]*functionCosts{}
	}
	r.rounds++
	for i, costs := range [][]profile.Cost{base, head} {
		total := 0.0
		for _, c := range costs {
			f := r.functions[c.Function]
			if f == nil {
				f = &functionCosts{name: c.Function, through: map[string]*[2]float64{}, lines: [2]map[sourceLine]float64{{}, {}}}
				r.functions[c.Function] = f
			}
			for len(f.sides[i]) < r.rounds {
				f.sides[i] = append(f.sides[i], 0)
			}
			value := c.Value / ops
			f.sides[i][r.rounds-1] += value
			if f.through[c.Through] == nil {
				f.through[c.Through] = &[2]float64{}
			}
			f.through[c.Through][i] += value
			f.lines[i][sourceLine{c.File, c.Line}] += value
			total += value
		}
		r.totals[i] = append(r.totals[i], total)
	}
}

// roundDifferences returns head minus base of a row, round by round.
func (r *Rows) roundDifferences(f *functionCosts) []float64 {
	out := make([]float64, r.rounds)
	for i := range out {
		if i < len(f.sides[1]) {
			out[i] = f.sides[1][i]
		}
		if i < len(f.sides[0]) {
			out[i] -= f.sides[0][i]
		}
	}
	return out
}

// Totals returns the means over rounds of all costs of each side.
func (r *Rows) Totals() (base, head float64) {
	return sum(r.totals[0]) / float64(max(1, r.rounds)), sum(r.totals[1]) / float64(max(1, r.rounds))
}

// sideMean returns the mean over rounds of a row on side i.
func (r *Rows) sideMean(f *functionCosts, i int) float64 {
	return sum(f.sides[i]) / float64(max(1, r.rounds))
}

// candidates returns the functions with at least minShare of the total of a side, the largest first.
func (r *Rows) candidates(minShare float64) []*functionCosts {
	base, head := r.Totals()
	var out []*functionCosts
	for _, f := range r.functions {
		inBase := base > 0 && r.sideMean(f, 0) >= minShare*base
		inHead := head > 0 && r.sideMean(f, 1) >= minShare*head
		if inBase || inHead {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *functionCosts) int {
		return cmp.Or(cmp.Compare(max(r.sideMean(b, 0), r.sideMean(b, 1)), max(r.sideMean(a, 0), r.sideMean(a, 1))), cmp.Compare(a.name, b.name))
	})
	return out
}

// HotFunctions returns the names of candidates with at least minShare, the largest first.
func (r *Rows) HotFunctions(minShare float64) []string {
	var names []string
	for _, w := range r.candidates(minShare) {
		names = append(names, w.name)
	}
	return names
}

// Significant returns the functions that explain the difference between the totals, the largest part
// first. The signed-rank interval over rounds of a function's part excludes zero, at a level that
// holds for all candidates together, and its share is more than hotShare. Significant returns an empty
// list if the totals do not differ.
func (r *Rows) Significant() []tare.Origin {
	named := []tare.Origin{}
	candidates := r.candidates(hotShare)
	candidates = candidates[:min(maxCandidates, len(candidates))]
	differences := make([]float64, r.rounds)
	for i := range differences {
		differences[i] = r.totals[1][i] - r.totals[0][i]
	}
	if !excludesZero(differences, totalAlpha) {
		return named
	}
	alpha := rowsAlpha / float64(max(1, len(candidates)))
	for _, f := range candidates {
		parts := r.roundDifferences(f)
		if !excludesZero(parts, alpha) {
			continue
		}
		share, low, high, ok := stats.Share(parts, differences, alpha)
		if !ok {
			low, high = share, share // the JSON has no infinities
		}
		if origin := r.toOrigin(f); share > hotShare {
			origin.Share, origin.Low, origin.High = share, low, high
			named = append(named, origin)
		}
	}
	slices.SortStableFunc(named, func(a, b tare.Origin) int { return cmp.Compare(b.Share, a.Share) })
	return named
}

// excludesZero reports whether the interval of differences, at error level alpha, exists and excludes zero.
func excludesZero(differences []float64, alpha float64) bool {
	low, high, ok := stats.Interval(differences, alpha)
	return ok && (low > 0 || high < 0)
}

// minObjects is the least difference in allocations per operation that counts: pools and growing
// tables cause smaller ones by allocating now and then.
const minObjects = 0.5

// Constant returns the functions that differ by at least minObjects in every round, the largest
// difference first, and the part of total, the measured difference, that the profiles do not have. If
// total is NaN (not measured) the difference between the profiles replaces it.
func (r *Rows) Constant(total float64) (named []tare.Origin, unseen float64) {
	named = []tare.Origin{}
	base, head := r.Totals()
	if math.IsNaN(total) {
		total = head - base
	}
	if unseen = total - (head - base); math.Abs(unseen) < minObjects {
		unseen = 0
	}
	for _, f := range r.functions {
		d := r.roundDifferences(f)
		isSmall := func(x float64) bool { return math.Abs(x) < minObjects }
		if slices.ContainsFunc(d, isSmall) {
			continue
		}
		origin := r.toOrigin(f)
		if math.Abs(total) >= minObjects {
			origin.Share = (origin.To - origin.From) / total
			origin.Low, origin.High = origin.Share, origin.Share
		}
		named = append(named, origin)
	}
	slices.SortFunc(named, func(a, b tare.Origin) int {
		return cmp.Or(cmp.Compare(math.Abs(b.To-b.From), math.Abs(a.To-a.From)), cmp.Compare(a.Function, b.Function))
	})
	return named, unseen
}

// toOrigin converts a row for a result. Through is the callee with the largest part of the difference, and
// Line the line with the largest cost in head, or in base if head has no cost. Of equal values, the first by
// name or line wins, because maps have no order.
func (r *Rows) toOrigin(f *functionCosts) tare.Origin {
	origin := tare.Origin{Function: f.name, From: r.sideMean(f, 0), To: r.sideMean(f, 1)}
	direction, largest := 1.0, 0.0
	if origin.To < origin.From {
		direction = -1
	}
	for name, v := range f.through {
		if d := direction * (v[1] - v[0]); d > largest || d == largest && name < origin.Through {
			origin.Through, largest = name, d
		}
	}
	side := 1
	if origin.To == 0 {
		side = 0
	}
	maxCost := 0.0
	for p, v := range f.lines[side] {
		if v > maxCost || v == maxCost && p.line < origin.Line {
			origin.File, origin.Line, maxCost = p.file, p.line, v
		}
	}
	return origin
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}
