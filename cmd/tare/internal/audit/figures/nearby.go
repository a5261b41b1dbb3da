package figures

import (
	"slices"
	"sort"
)

// A sentence is compared with the nearest tables before and after it.
const (
	tablesBefore = 8
	tablesAfter  = 2
)

// nearGrids returns the tables near a line.
func (d *document) nearGrids(line int) []*grid {
	out := selectNear(d.grids, line, func(g *grid) int { return g.line })
	d.comparisons += len(out)
	return out
}

// nearGroups returns the columns of the tables near a line.
func (d *document) nearGroups(line int) []*figureGroup {
	blocks := selectNear(d.groupsByOrigin, line, func(b []*figureGroup) int { return b[0].figures[0].line })
	out := slices.Concat(blocks...)
	d.comparisons += len(out)
	return out
}

// selectNear returns the elements of all near a line, within the limits above. all is sorted by
// lineOf, the line at which an element begins.
func selectNear[T any](all []T, line int, lineOf func(T) int) []T {
	if len(all) <= tablesBefore+tablesAfter {
		return all
	}
	i := sort.Search(len(all), func(i int) bool { return lineOf(all[i]) > line }) // the first after line
	return all[max(0, i-tablesBefore):min(len(all), i+tablesAfter)]
}

func groupByOrigin(groups []*figureGroup) [][]*figureGroup {
	index := map[int]int{} // index in out by origin
	var out [][]*figureGroup
	for _, g := range groups {
		i, ok := index[g.origin]
		if !ok {
			i = len(out)
			index[g.origin] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], g)
	}
	slices.SortStableFunc(out, func(a, b []*figureGroup) int { return a[0].figures[0].line - b[0].figures[0].line })
	return out
}

// ratioIndex holds the ratios of all pairs of figures in rows of tables, by kind and sorted. Each
// ratio is of the greater figure to the smaller one. A rule finds the ratio of "3x faster" in it
// without a search of all tables.
type ratioIndex map[kind][]float64

func newRatioIndex(grids []*grid) ratioIndex {
	out := ratioIndex{}
	for _, g := range grids {
		for _, s := range g.columnSets {
			for _, label := range g.labels {
				row := g.figuresOf(label, s)
				for i, a := range row {
					for _, b := range row[i+1:] {
						out[s.kind] = append(out[s.kind], max(a.value, b.value)/min(a.value, b.value))
					}
				}
			}
		}
	}
	for k := range out {
		slices.Sort(out[k])
		out[k] = slices.Compact(out[k])
	}
	return out
}

// hasMatch reports whether a pair of figures has the claimed ratio or percentage. tolerance is a
// share of it.
func (x ratioIndex) hasMatch(c claim, tolerance float64) bool {
	for _, k := range c.kinds {
		all := x[k]
		if !c.isPercent {
			if c.matchesAny(all, tolerance, func(ratio float64) float64 { return ratio }) {
				return true
			}
			continue
		}
		decrease := func(ratio float64) float64 { return 100 * (1 - 1/ratio) }
		increase := func(ratio float64) float64 { return 100 * (ratio - 1) }
		if c.matchesAny(all, tolerance, decrease) || c.matchesAny(all, tolerance, increase) {
			return true
		}
	}
	return false
}

// matchesAny reports whether one of the sorted ratios, after convert, has the claimed value. convert
// must increase with the ratio.
func (c claim) matchesAny(ratios []float64, tolerance float64, convert func(float64) float64) bool {
	// matchesValue accepts values up to these distances.
	share := max(tolerance, aboutTolerance)
	slack := claimSteps * c.step
	if c.isApproximate {
		slack = max(slack, c.step)
	}
	least := min((c.low-slack)/(1+share), c.low-slack)
	i := sort.Search(len(ratios), func(i int) bool { return convert(ratios[i]) >= least })
	for ; i < len(ratios); i++ {
		x := convert(ratios[i])
		if c.matchesValue(x, tolerance) {
			return true
		}
		isBeyond := x > c.high+c.step && x*(1-share) > c.high+slack
		if isBeyond && !c.atLeast && !c.atMost {
			return false
		}
	}
	return false
}
