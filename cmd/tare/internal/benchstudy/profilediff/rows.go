package profilediff

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/profile"
	"github.com/tarebench/tare/stats"
)

// This file finds the functions whose CPU time or allocations explain the difference between base
// and head. For example, head takes 120 ns per operation more in every round, and parse.scan takes
// 90 ns of these.

const (
	rowsAlpha     = 0.05 // error level of all functions together
	totalAlpha    = 0.01 // the total hardly ever differs by chance
	hotShare      = 0.05 // least share of a side's total or of the difference
	maxCandidates = 12   // the error level is divided among them
)

const (
	inBase = 0
	inHead = 1
)

// Rows contains the costs of functions on two sides, round by round.
type Rows struct {
	rounds    int
	functions map[string]*functionCosts // by name
	totals    [2][]float64              // costs of all functions, by side and round
}

// functionCosts contains the costs of one function per operation.
type functionCosts struct {
	name     string
	byRound  [2][]float64              // rounds at the end may be missing
	byCallee map[string]*[2]float64    // sums over rounds, by the called function that caused the cost
	byLine   [2]map[sourceLine]float64 // sums over rounds
}

type sourceLine struct {
	file string
	line int
}

// Add adds one round of ops operations on each side.
func (r *Rows) Add(base, head []profile.Cost, ops float64) {
	r.rounds++
	for side, costs := range [][]profile.Cost{base, head} {
		total := 0.0
		for _, c := range costs {
			perOp := c.Value / ops
			r.costsOf(c.Function).addCost(c, side, r.rounds-1, perOp)
			total += perOp
		}
		r.totals[side] = append(r.totals[side], total)
	}
}

func (r *Rows) costsOf(function string) *functionCosts {
	if r.functions == nil {
		r.functions = map[string]*functionCosts{}
	}
	f := r.functions[function]
	if f == nil {
		f = &functionCosts{name: function, byCallee: map[string]*[2]float64{}, byLine: [2]map[sourceLine]float64{{}, {}}}
		r.functions[function] = f
	}
	return f
}

func (f *functionCosts) addCost(c profile.Cost, side, round int, perOp float64) {
	for len(f.byRound[side]) <= round {
		f.byRound[side] = append(f.byRound[side], 0)
	}
	f.byRound[side][round] += perOp
	if f.byCallee[c.Through] == nil {
		f.byCallee[c.Through] = &[2]float64{}
	}
	f.byCallee[c.Through][side] += perOp
	f.byLine[side][sourceLine{c.File, c.Line}] += perOp
}

func (r *Rows) roundDifferences(f *functionCosts) []float64 {
	out := make([]float64, r.rounds)
	for round, cost := range f.byRound[inHead] {
		out[round] += cost
	}
	for round, cost := range f.byRound[inBase] {
		out[round] -= cost
	}
	return out
}

// Totals returns the means over rounds of all costs of each side.
func (r *Rows) Totals() (base, head float64) {
	return r.meanOfRounds(r.totals[inBase]), r.meanOfRounds(r.totals[inHead])
}

// meanOfRounds returns the mean over all rounds. Missing rounds count as 0.
func (r *Rows) meanOfRounds(byRound []float64) float64 {
	sum := 0.0
	for _, v := range byRound {
		sum += v
	}
	return sum / float64(max(1, r.rounds))
}

func (r *Rows) sideMeans(f *functionCosts) (base, head float64) {
	return r.meanOfRounds(f.byRound[inBase]), r.meanOfRounds(f.byRound[inHead])
}

// candidates returns the functions with at least minShare of a side's total, the largest first.
func (r *Rows) candidates(minShare float64) []*functionCosts {
	baseTotal, headTotal := r.Totals()
	larger := map[*functionCosts]float64{}
	for _, f := range r.functions {
		base, head := r.sideMeans(f)
		isLargeInBase := baseTotal > 0 && base >= minShare*baseTotal
		isLargeInHead := headTotal > 0 && head >= minShare*headTotal
		if isLargeInBase || isLargeInHead {
			larger[f] = max(base, head)
		}
	}
	return slices.SortedFunc(maps.Keys(larger), func(a, b *functionCosts) int {
		return cmp.Or(cmp.Compare(larger[b], larger[a]), cmp.Compare(a.name, b.name))
	})
}

// HotFunctions returns the names of the candidates with at least minShare, the largest first.
func (r *Rows) HotFunctions(minShare float64) []string {
	var names []string
	for _, f := range r.candidates(minShare) {
		names = append(names, f.name)
	}
	return names
}

// Significant returns the functions that explain the difference of the totals, the largest part
// first. The list is empty if the totals do not differ. The error level is divided among all
// candidates.
func (r *Rows) Significant() []tare.Origin {
	origins := []tare.Origin{}
	candidates := r.candidates(hotShare)
	candidates = candidates[:min(maxCandidates, len(candidates))]
	differences := make([]float64, r.rounds)
	for i := range differences {
		differences[i] = r.totals[inHead][i] - r.totals[inBase][i]
	}
	if !excludesZero(differences, totalAlpha) {
		return origins
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
		if share > hotShare {
			origin := r.newOrigin(f)
			origin.Share, origin.Low, origin.High = share, low, high
			origins = append(origins, origin)
		}
	}
	slices.SortStableFunc(origins, func(a, b tare.Origin) int { return cmp.Compare(b.Share, a.Share) })
	return origins
}

func excludesZero(differences []float64, alpha float64) bool {
	low, high, ok := stats.Interval(differences, alpha)
	return ok && (low > 0 || high < 0)
}

// minObjects is the least difference in allocations per operation that counts. Pools and growing
// tables cause smaller ones.
const minObjects = 0.5

// Constant returns the functions whose allocations differ by at least minObjects in every round, the
// largest first. total is the measured difference, or NaN if it was not measured. unseen is the part
// of it that the profiles do not have.
func (r *Rows) Constant(total float64) (origins []tare.Origin, unseen float64) {
	origins = []tare.Origin{}
	base, head := r.Totals()
	if math.IsNaN(total) {
		total = head - base
	}
	if unseen = total - (head - base); math.Abs(unseen) < minObjects {
		unseen = 0
	}
	for _, f := range r.functions {
		isSmall := func(difference float64) bool { return math.Abs(difference) < minObjects }
		if slices.ContainsFunc(r.roundDifferences(f), isSmall) {
			continue
		}
		origin := r.newOrigin(f)
		if math.Abs(total) >= minObjects {
			origin.Share = (origin.To - origin.From) / total
			origin.Low, origin.High = origin.Share, origin.Share
		}
		origins = append(origins, origin)
	}
	slices.SortFunc(origins, func(a, b tare.Origin) int {
		return cmp.Or(cmp.Compare(math.Abs(b.To-b.From), math.Abs(a.To-a.From)), cmp.Compare(a.Function, b.Function))
	})
	return origins, unseen
}

// newOrigin describes a function as a cause of the difference. Its line is from head, or from base
// if head does not call the function.
func (r *Rows) newOrigin(f *functionCosts) tare.Origin {
	base, head := r.sideMeans(f)
	origin := tare.Origin{Function: f.name, From: base, To: head, Through: f.mostChangedCallee(head < base)}
	side := inHead
	if head == 0 {
		side = inBase
	}
	line := f.costliestLine(side)
	origin.File, origin.Line = line.file, line.line
	return origin
}

// mostChangedCallee returns the callee whose cost grew or shrank most. Of equal ones it returns the
// first by name, because maps have no order.
func (f *functionCosts) mostChangedCallee(isDecrease bool) (callee string) {
	largest := 0.0
	for name, cost := range f.byCallee {
		change := cost[inHead] - cost[inBase]
		if isDecrease {
			change = -change
		}
		if change > largest || change == largest && name < callee {
			callee, largest = name, change
		}
	}
	return callee
}

func (f *functionCosts) costliestLine(side int) (costliest sourceLine) {
	largest := 0.0
	for line, cost := range f.byLine[side] {
		if cost > largest || cost == largest && line.line < costliest.line {
			costliest, largest = line, cost
		}
	}
	return costliest
}
