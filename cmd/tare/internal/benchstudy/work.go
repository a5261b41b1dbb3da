package benchstudy

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file explains why the count of instructions of a benchmark differs between base and head. It
// names functions, e.g. "parse.scan executes 40 of the 50 instructions more".

const (
	maxWorkFunctions = 12
	// A function is named only if its difference is at least this share of the benchmark's. A tiny
	// difference is replaced by minTotalShare of an operation.
	minWorkShare  = 0.02
	minTotalShare = 0.01
	// The difference must also be minSpreads times the range of the counts on each side. Disjoint
	// ranges would not be enough: with two counts per side, a third are disjoint by chance.
	minSpreads = 3
)

func (c *comparisonCounts) addFunctions(r *tare.Result) {
	for _, row := range c.rows {
		if row.Differs(0) == tare.NotShown {
			continue
		}
		work := diffFunctions(c.pairs[row.Workload])
		if len(work) == 0 {
			continue
		}
		if graph := c.calls[row.Workload]; graph != nil {
			for i := range work {
				work[i].Callers = graph.findCallers(work[i].Function)
			}
		}
		r.Explanations = append(r.Explanations, tare.Explanation{
			Workload: row.Workload, Contender: Head, Against: Base, Work: work, Why: c.whyNoCalls[row.Workload],
			Functions: []tare.Origin{}, Sites: []tare.Origin{}, Decisions: []tare.Decision{}, Calls: []tare.Decision{},
		})
	}
}

// diffFunctions returns the functions whose counts differ more between the sides than within each.
// The largest difference is first, and there are at most maxWorkFunctions.
func diffFunctions(p *counts.Pair) []tare.Origin {
	baseRepeats, headRepeats := sumByFunction(p.Base.Counts), sumByFunction(p.Head.Counts)
	renumberClosures(baseRepeats, headRepeats)
	baseTotal, headTotal := mean(counts.PerOp(p.Base.Counts)), mean(counts.PerOp(p.Head.Counts))
	total := headTotal - baseTotal
	// If the total difference is tiny, a share of it would name functions by chance.
	minDifference := max(counts.MinDifference, minWorkShare*max(math.Abs(total), minTotalShare*baseTotal))
	names := map[string]bool{}
	for _, repeat := range slices.Concat(baseRepeats, headRepeats) {
		for name := range repeat {
			names[name] = true
		}
	}
	origins := []tare.Origin{}
	for name := range names {
		base, head := functionCounts(baseRepeats, name), functionCounts(headRepeats, name)
		origin := tare.Origin{Function: name, From: mean(base), To: mean(head)}
		difference := origin.To - origin.From
		spread := max(slices.Max(base)-slices.Min(base), slices.Max(head)-slices.Min(head))
		if math.Abs(difference) < max(minDifference, minSpreads*spread) {
			continue
		}
		if total != 0 {
			origin.Share = difference / total
			origin.Low, origin.High = origin.Share, origin.Share // no interval
		}
		place := mostChangedLine(p, name)
		if origin.Line = place.Line; place.Line > 0 {
			origin.File, origin.Through = path.Base(place.File), findInlined(place)
		}
		origins = append(origins, origin)
	}
	slices.SortFunc(origins, func(a, b tare.Origin) int {
		return cmp.Or(cmp.Compare(math.Abs(b.To-b.From), math.Abs(a.To-a.From)), cmp.Compare(a.Function, b.Function))
	})
	return origins[:min(len(origins), maxWorkFunctions)]
}

// closureNumber matches the numbered end of the name of a closure, e.g. ".func21.1". Its group is
// the part for inner closures, ".1".
var closureNumber = lazyregexp.New(`\.func\d+((?:\.\d+)*)$`)

// renumberClosures gives the closures of base the names that they have in head. For example,
// F.func1 becomes F.func2 if head has another closure above it. It pairs the closures that only one
// side has, in the order of their counts.
func renumberClosures(base, head []map[string]float64) {
	baseOnly, headOnly := closuresWithout(base[0], head[0]), closuresWithout(head[0], base[0])
	for parent, names := range baseOnly {
		if len(names) != len(headOnly[parent]) {
			continue
		}
		for i, name := range names {
			for _, repeat := range base {
				repeat[headOnly[parent][i]] = repeat[name]
				delete(repeat, name)
			}
		}
	}
}

// closuresWithout returns the closures in counts that others lacks, in the order of their counts. A
// key is the enclosing function, with a dot for each closure in between.
func closuresWithout(counts, others map[string]float64) map[string][]string {
	closures := map[string][]string{}
	for name := range counts {
		number := closureNumber.FindStringSubmatch(name)
		if _, ok := others[name]; ok || number == nil {
			continue
		}
		parent := strings.TrimSuffix(name, number[0]) + strings.Repeat(".", strings.Count(number[1], "."))
		closures[parent] = append(closures[parent], name)
	}
	for _, names := range closures {
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b)) })
	}
	return closures
}

// mostChangedLine returns the line of a function whose count differs most between the sides, with the
// path of its file on the side that has more. The line is 0 if unknown.
func mostChangedLine(p *counts.Pair, name string) (changed counts.Place) {
	type sourceLine struct {
		file string // base name: the sides are in different directories
		line int
	}
	lines := map[sourceLine]float64{} // mean count of the head minus that of the base
	paths := map[sourceLine][2]string{}
	addMean := func(side int, repeats []counts.Count, sign float64) {
		for _, c := range repeats {
			for place, n := range c.Places {
				if place.Function == name && place.Line > 0 {
					key := sourceLine{path.Base(place.File), place.Line}
					lines[key] += sign * n / float64(len(repeats))
					both := paths[key]
					both[side] = place.File
					paths[key] = both
				}
			}
		}
	}
	const base, head = 0, 1
	addMean(head, p.Head.Counts, 1)
	addMean(base, p.Base.Counts, -1)
	largest := 0.0
	for key, d := range lines {
		if x := math.Abs(d); x > largest || x == largest && key.line < changed.Line {
			side := base
			if d > 0 {
				side = head
			}
			changed, largest = counts.Place{Function: name, File: paths[key][side], Line: key.line}, x
		}
	}
	return changed
}

func sumByFunction(repeats []counts.Count) []map[string]float64 {
	sums := make([]map[string]float64, len(repeats))
	for i, c := range repeats {
		sums[i] = map[string]float64{}
		for place, n := range c.Places {
			sums[i][place.Function] += n
		}
	}
	return sums
}

func functionCounts(repeats []map[string]float64, name string) []float64 {
	all := make([]float64, len(repeats))
	for i, r := range repeats {
		all[i] = r[name]
	}
	return all
}

// mean returns the mean of values, or 0 without values.
func mean(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total / float64(max(1, len(values)))
}
