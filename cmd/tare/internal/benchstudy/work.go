package benchstudy

import (
	"cmp"
	"math"
	"path"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
)

const (
	// maxWorkFunctions limits the functions that are named of one difference in instructions.
	maxWorkFunctions = 12
	// minWorkShare is the share of the larger of the difference and a hundredth of an
	// operation that a function needs to be named.
	minWorkShare = 0.02
	// minSpreads is the least difference of a function in times of the range of its counts on one side:
	// two counts of each side do not overlap by chance in a third of all cases.
	minSpreads = 3
)

// addFunctions adds to a result which functions differ in instructions, for each benchmark that
// differs.
func (c *comparisonCounts) addFunctions(r *tare.Result) {
	if c == nil || !c.counter.HasFunctions() {
		return
	}
	for _, row := range c.rows {
		if row.Differs(0) == tare.NotShown {
			continue
		}
		work := functionsOf(c.pairs[row.Workload])
		if len(work) == 0 {
			continue
		}
		r.Explanations = append(r.Explanations, tare.Explanation{
			Workload: row.Workload, Contender: Head, Against: Base, Work: work,
			Functions: []tare.Origin{}, Sites: []tare.Origin{}, Decisions: []tare.Decision{}, Calls: []tare.Decision{},
		})
	}
}

// functionsOf returns the functions that differ by more than their counts on one side do,
// those that differ most first.
func functionsOf(p counts.Pair) []tare.Origin {
	sides := [2][]map[string]float64{byFunction(p.Base), byFunction(p.Head)}
	total := mean(counts.PerOp(p.Head)) - mean(counts.PerOp(p.Base))
	least := minWorkShare * max(math.Abs(total), mean(counts.PerOp(p.Base))/100)
	names := map[string]bool{}
	for _, side := range sides {
		for _, one := range side {
			for name := range one {
				names[name] = true
			}
		}
	}
	all := []tare.Origin{}
	for name := range names {
		base, head := valuesOf(sides[0], name), valuesOf(sides[1], name)
		d := mean(head) - mean(base)
		spread := max(slices.Max(base)-slices.Min(base), slices.Max(head)-slices.Min(head))
		if math.Abs(d) < max(least, 1, minSpreads*spread) {
			continue
		}
		o := tare.Origin{Function: name, From: mean(base), To: mean(head)}
		if total != 0 {
			o.Share = d / total
			o.Low, o.High = o.Share, o.Share
		}
		o.File, o.Line = widestLine(p, name)
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b tare.Origin) int {
		return cmp.Or(cmp.Compare(math.Abs(b.To-b.From), math.Abs(a.To-a.From)), cmp.Compare(a.Function, b.Function))
	})
	return all[:min(len(all), maxWorkFunctions)]
}

// widestLine returns the line of a function that differs most, by the file's base name.
func widestLine(p counts.Pair, name string) (file string, line int) {
	lines := map[counts.Place]float64{}
	for sign, side := range map[float64][]counts.Count{-1: p.Base, 1: p.Head} {
		for _, c := range side {
			for at, n := range c.Places {
				if at.Function == name && at.Line > 0 {
					at.File = path.Base(at.File)
					lines[at] += sign * n / float64(len(side))
				}
			}
		}
	}
	most := 0.0
	for at, d := range lines {
		if x := math.Abs(d); x > most || x == most && at.Line < line {
			file, line, most = at.File, at.Line, x
		}
	}
	return file, line
}

func byFunction(of []counts.Count) []map[string]float64 {
	all := make([]map[string]float64, len(of))
	for i, c := range of {
		all[i] = map[string]float64{}
		for at, n := range c.Places {
			all[i][at.Function] += n
		}
	}
	return all
}

func valuesOf(counts []map[string]float64, name string) []float64 {
	all := make([]float64, len(counts))
	for i, c := range counts {
		all[i] = c[name]
	}
	return all
}

func mean(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total / float64(max(1, len(values)))
}
