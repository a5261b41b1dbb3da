package why

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/profile"
	"github.com/tarebench/tare/stats"
)

const (
	level    = 0.05 // of error, over all functions together
	total    = 0.01 // of error, that the whole differs at all: it hardly ever does by chance
	hotShare = 0.05 // of either side's total that makes a function a candidate
	most     = 12   // candidates
)

// Rows are the costs of functions on two sides, round by round.
type Rows struct {
	rounds int
	rows   map[string]*row
	whole  [2][]float64
}

type row struct {
	name    string
	sides   [2][]float64           // per operation, by round
	through map[string]*[2]float64 // sums over rounds, by what is called
	lines   [2]map[place]float64
}

type place struct {
	file string
	line int
}

// Add takes in one round, in which each side did ops operations.
func (r *Rows) Add(base, head []profile.Cost, ops float64) {
	if r.rows == nil {
		r.rows = map[string]*row{}
	}
	r.rounds++
	for i, costs := range [][]profile.Cost{base, head} {
		total := 0.0
		for _, c := range costs {
			w := r.rows[c.Function]
			if w == nil {
				w = &row{name: c.Function, through: map[string]*[2]float64{}, lines: [2]map[place]float64{{}, {}}}
				r.rows[c.Function] = w
			}
			for len(w.sides[i]) < r.rounds {
				w.sides[i] = append(w.sides[i], 0)
			}
			value := c.Value / ops
			w.sides[i][r.rounds-1] += value
			if w.through[c.Through] == nil {
				w.through[c.Through] = &[2]float64{}
			}
			w.through[c.Through][i] += value
			w.lines[i][place{c.File, c.Line}] += value
			total += value
		}
		r.whole[i] = append(r.whole[i], total)
	}
}

// differences of a row, round by round.
func (r *Rows) differences(w *row) []float64 {
	out := make([]float64, r.rounds)
	for i := range out {
		if i < len(w.sides[1]) {
			out[i] = w.sides[1][i]
		}
		if i < len(w.sides[0]) {
			out[i] -= w.sides[0][i]
		}
	}
	return out
}

// Totals are the means over rounds of all that was seen of each side.
func (r *Rows) Totals() (base, head float64) {
	return sum(r.whole[0]) / float64(max(1, r.rounds)), sum(r.whole[1]) / float64(max(1, r.rounds))
}

// mean of a row on side i.
func (r *Rows) mean(w *row, i int) float64 { return sum(w.sides[i]) / float64(max(1, r.rounds)) }

// candidates are the functions with enough of either side's total, the most first.
func (r *Rows) candidates(least float64) []*row {
	base, head := r.Totals()
	var out []*row
	for _, w := range r.rows {
		if r.mean(w, 0) >= least*base && base > 0 || r.mean(w, 1) >= least*head && head > 0 {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b *row) int {
		return cmp.Or(cmp.Compare(max(r.mean(b, 0), r.mean(b, 1)), max(r.mean(a, 0), r.mean(a, 1))), cmp.Compare(a.name, b.name))
	})
	return out
}

// Hot are the names of functions that have at least such a share of a side's total.
func (r *Rows) Hot(least float64) []string {
	var names []string
	for _, w := range r.candidates(least) {
		names = append(names, w.name)
	}
	return names
}

// Named are the functions whose part of the difference excludes none, by the
// signed-rank interval over rounds at a level that holds for all candidates
// together, those that explain most first. Where the whole does not differ
// nothing is named.
func (r *Rows) Named() []tare.Origin {
	named := []tare.Origin{}
	candidates := r.candidates(hotShare)
	candidates = candidates[:min(most, len(candidates))]
	whole := make([]float64, r.rounds)
	for i := range whole {
		whole[i] = r.whole[1][i] - r.whole[0][i]
	}
	if lo, hi, ok := stats.Interval(whole, total); !ok || lo <= 0 && hi >= 0 {
		return named
	}
	for _, w := range candidates {
		parts := r.differences(w)
		alpha := level / float64(len(candidates))
		if lo, hi, ok := stats.Interval(parts, alpha); !ok || lo <= 0 && hi >= 0 {
			continue
		}
		share, lo, hi, ok := stats.Share(parts, whole, alpha)
		if !ok {
			lo, hi = share, share // the JSON has no infinities
		}
		if c := r.cause(w); share > hotShare {
			c.Share, c.Low, c.High = share, lo, hi
			named = append(named, c)
		}
	}
	slices.SortStableFunc(named, func(a, b tare.Origin) int { return cmp.Compare(b.Share, a.Share) })
	return named
}

// leastObjects is how many allocations per operation are a difference: less is
// what pools and growing tables do now and then.
const leastObjects = 0.5

// Exact are the functions that differ by as much in every round, those furthest
// apart first, and what none of them has of the whole difference as it was
// measured. Where it was not (NaN) the whole is what was seen.
func (r *Rows) Exact(whole float64) (named []tare.Origin, unseen float64) {
	named = []tare.Origin{}
	base, head := r.Totals()
	if math.IsNaN(whole) {
		whole = head - base
	}
	if unseen = whole - (head - base); math.Abs(unseen) < leastObjects {
		unseen = 0
	}
	for _, w := range r.rows {
		d := r.differences(w)
		if least := slices.MinFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) }); math.Abs(least) < leastObjects {
			continue
		}
		c := r.cause(w)
		if math.Abs(whole) >= leastObjects {
			c.Share = (c.To - c.From) / whole
			c.Low, c.High = c.Share, c.Share
		}
		named = append(named, c)
	}
	slices.SortFunc(named, func(a, b tare.Origin) int {
		return cmp.Or(cmp.Compare(math.Abs(b.To-b.From), math.Abs(a.To-a.From)), cmp.Compare(a.Function, b.Function))
	})
	return named, unseen
}

// cause is a row in a result's words.
func (r *Rows) cause(w *row) tare.Origin {
	c := tare.Origin{Function: w.name, From: r.mean(w, 0), To: r.mean(w, 1)}
	direction, furthest := 1.0, 0.0
	if c.To < c.From {
		direction = -1
	}
	for name, v := range w.through {
		if d := direction * (v[1] - v[0]); d > furthest || d == furthest && name < c.Through {
			c.Through, furthest = name, d
		}
	}
	at := 1
	if c.To == 0 {
		at = 0
	}
	top := 0.0
	for p, v := range w.lines[at] {
		if v > top || v == top && p.line < c.Line {
			c.File, c.Line, top = p.file, p.line, v
		}
	}
	return c
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}
