package figures

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// grid holds the figures of a table by row, for statements that name a row and compare its
// columns: "on large files the new codec takes 20 % less time".
type grid struct {
	line    int // of the first figure
	rows    labelMatcher
	labels  []string // labels of the rows, in lower case
	cells   map[string][]figure
	sides   []*sideSet
	unclear []unclearRow
}

// sideSet holds columns that compare with each other: those of one metric, one for each side.
type sideSet struct {
	kind          kind
	columns       []int
	headers       []string // in lower case
	matcher       labelMatcher
	isBeforeAfter bool // the two columns are the figures before and after a change, in this order
	isOnlyOfKind  bool // no other columns are of this kind
}

// unclearRow is a row of a table or of benchstat with the p-value of its change.
type unclearRow struct {
	line    int
	label   string
	p       float64
	why     string    // what the row has, e.g. p=0.2
	changes []float64 // stated and computed changes in percent, without signs
}

// tablePair holds two figures that a claim may compare.
type tablePair struct {
	a, b         figure
	isOrdered    bool // the claim is about b, and a is its reference
	isOnlyOfKind bool // the only two columns of their kind, in a row that the statement names
}

// Limits of the figures of a table that are compared with a claim.
const (
	maxSides    = 12 // columns of one metric
	maxGridRows = 400
)

// metricWords are the words of headers that tell metrics from each other, and not sides, between spaces.
const metricWords = " time latency value result speed mean avg average median memory size max min stdev stddev deviation total count rate throughput wall user sys cpu rss peak heap " +
	"alloc allocs bytes byte ops requests request duration error errors p50 p75 p90 p95 p99 p999 ns ms sec mib kib gib first last cold warm start startup build compile run load " +
	"encode decode marshal unmarshal insert delete lookup get set put read write serialize deserialize "

// newGrids returns the grids of the tables of a page and of the tables of benchstat. measured
// holds the figures of the tables.
func newGrids(d *document, figures []figure) []*grid {
	byTable := map[int][]figure{}
	for _, m := range figures {
		if m.origin >= 0 && m.origin < benchOrigin {
			byTable[m.origin] = append(byTable[m.origin], m)
		}
	}
	var out []*grid
	for i, t := range d.tables {
		if g := newGrid(byTable[i]); g != nil {
			g.unclear = t.unclearRows(g, d.hasText(confidenceRE) && !d.hasText(deviationRE))
			out = append(out, g)
		}
	}
	return append(out, newStatGrids(d.stats)...)
}

// newGrid returns the grid of the figures of a table. It returns nil if no two columns compare,
// or if there are too many rows.
func newGrid(all []figure) *grid {
	g := &grid{cells: map[string][]figure{}}
	if len(all) > 0 {
		g.line = all[0].line
	}
	var columns []figure // the first figure of each column
	for _, m := range all {
		label := strings.ToLower(m.label)
		if g.cells[label] == nil {
			g.labels = append(g.labels, label)
		}
		g.cells[label] = append(g.cells[label], m)
		isNew := !slices.ContainsFunc(columns, func(c figure) bool { return c.column == m.column })
		if isNew && m.kind != plainKind && m.kind != percentKind && m.kind != factorKind {
			columns = append(columns, m)
		}
	}
	if len(g.labels) > maxGridRows {
		return nil
	}
	for _, m := range columns {
		i := slices.IndexFunc(g.sides, func(s *sideSet) bool { return s.kind == m.kind && isOtherSide(s.headers[0], m.header) })
		if i < 0 {
			g.sides = append(g.sides, &sideSet{kind: m.kind})
			i = len(g.sides) - 1
		}
		s := g.sides[i]
		s.columns, s.headers = append(s.columns, m.column), append(s.headers, m.header)
	}
	for _, s := range g.sides {
		s.isOnlyOfKind = !slices.ContainsFunc(g.sides, func(other *sideSet) bool { return other != s && other.kind == s.kind })
	}
	g.sides = slices.DeleteFunc(g.sides, func(s *sideSet) bool { return len(s.columns) < 2 || len(s.columns) > maxSides })
	for _, s := range g.sides {
		s.matcher = newLabelMatcher(s.headers)
		s.orderColumns()
	}
	g.rows = newLabelMatcher(g.labels)
	return g
}

// isOtherSide reports whether two headers are those of one metric for two sides: they differ in
// words that are not about metrics.
func isOtherSide(a, b string) bool {
	wordsA, wordsB := splitWords(a), splitWords(b)
	differs := false
	for _, pair := range [][2][]string{{wordsA, wordsB}, {wordsB, wordsA}} {
		for _, w := range pair[0] {
			if slices.Contains(pair[1], w) {
				continue
			}
			if strings.Contains(metricWords, " "+w+" ") {
				return false
			}
			differs = true
		}
	}
	return differs
}

// baseHeaderRE matches the header of the figures before a change.
var baseHeaderRE = lazyregexp.New(`(?i)\b(?:before|old|baseline|base|original|initial|previous|prior|main|master|control|then)\b`)

// versionNameRE matches the number of a version: v8, or 3.9.
var versionNameRE = lazyregexp.New(`\b(?:v|version )?\d+(?:\.\d+)+\b|\b(?:v|version )\d+\b`)

// isLaterVersion reports whether version a is later than b.
func isLaterVersion(a, b string) bool {
	partsA, partsB := versionParts(a), versionParts(b)
	return slices.Compare(partsA, partsB) > 0
}

// versionParts returns the numbers of a version.
func versionParts(version string) []int {
	var out []int
	for _, part := range strings.FieldsFunc(version, func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}

// orderColumns finds whether two columns are the figures before and after a change, and puts
// those before it first.
func (s *sideSet) orderColumns() {
	if len(s.columns) != 2 {
		return
	}
	first, second := s.headers[0], s.headers[1]
	isFirst, isSecond := baseHeaderRE.MatchString(first), baseHeaderRE.MatchString(second)
	if isFirst != isSecond {
		s.isBeforeAfter = true
	} else if versionNameRE.ReplaceAllString(first, "") == versionNameRE.ReplaceAllString(second, "") {
		a, b := versionNameRE.FindStringSubmatch(first), versionNameRE.FindStringSubmatch(second)
		if a == nil || b == nil {
			return
		}
		s.isBeforeAfter, isSecond = true, isLaterVersion(a[0], b[0])
	}
	if s.isBeforeAfter && isSecond {
		slices.Reverse(s.columns)
		slices.Reverse(s.headers)
	}
}

// figuresOf returns the figures of a row in columns of a set, in their order.
func (g *grid) figuresOf(label string, s *sideSet) []figure {
	var out []figure
	for i, column := range s.columns {
		for _, m := range g.cells[label] {
			if m.column == column && m.kind == s.kind && m.value > 0 {
				m.subject = s.headers[i]
				out = append(out, m)
				break
			}
		}
	}
	return out
}

// pairsFor returns the pairs of figures of a row that a statement with words may compare: of
// rows that it names, and of columns that it names. Two columns need no name if they are the figures
// before and after a change, or if the statement names one of them. A statement that
// names columns only may be about each row. If isOfItself is set, the statement compares a row with what
// it was, and two columns are in that order.
func (g *grid) pairsFor(words wordSet, kinds []kind, isOfItself, isOnly bool) []tablePair {
	named := g.rows.findNamed(words)
	hasRow := len(named) > 0 || len(g.labels) == 1 && isOnly
	if len(named) == 0 {
		if named = g.labels; len(named) > maxNamed {
			return nil
		}
	}
	var out []tablePair
	for _, s := range g.sides {
		if !slices.Contains(kinds, s.kind) {
			continue
		}
		sides := s.matcher.findNamed(words)
		isTold := len(s.columns) == 2 && hasRow && (s.isBeforeAfter || isOfItself && s.isOnlyOfKind || len(sides) == 1 && s.isOnlyOfKind)
		if len(sides) < 2 && !isTold {
			continue
		}
		for _, label := range named {
			row := g.figuresOf(label, s)
			for i, a := range row {
				for _, b := range row[i+1:] {
					if isTold || slices.Contains(sides, a.subject) && slices.Contains(sides, b.subject) {
						out = append(out, tablePair{a: a, b: b, isOrdered: s.isBeforeAfter || isOfItself && len(s.columns) == 2, isOnlyOfKind: s.isOnlyOfKind && hasRow && len(s.columns) == 2})
					}
				}
			}
		}
	}
	return out
}

// hasUnclearChange reports whether a row without a significant change has the percentage of a claim,
// to its last digit.
func (g *grid) hasUnclearChange(c claim) bool {
	const exact = 0
	return c.isPercent && slices.ContainsFunc(g.unclear, func(row unclearRow) bool {
		return slices.ContainsFunc(row.changes, func(x float64) bool { return c.matchesValue(x, exact) })
	})
}

var (
	// pHeaderRE matches the header of p-values.
	pHeaderRE = lazyregexp.New(`(?i)^p(?:[- ]?val(?:ue)?)?s?\.?(?:\s*\(n ?=[^)]*\))?$`)
	// pCellRE matches a p-value.
	pCellRE = lazyregexp.New(`(?i)^(?:p\s?)?[=<>≤≥~]*\s?(0?\.\d+|1(?:\.0+)?|0)$`)
	// unchangedCellRE matches benchstat's cell of a row without a significant change.
	unchangedCellRE = lazyregexp.New(`^~ *\(p=(0?\.\d+|1\.0+) n=\d+`)
	// changeRangeRE matches the interval of a change in percent, after the change.
	changeRangeRE = lazyregexp.New(`[(\[]?(?:95\s?% (?:CI|confidence interval)[:,]?\s*)?[\[(]?\s*([-−–+]?\s?\d+(?:\.\d+)?)\s?%?\s*(?:,|;|to|\.\.\.?|…)\s*([-−–+]?\s?\d+(?:\.\d+)?)\s?%?\s*[\])]`)
	// percentInRE matches percentages in a cell.
	percentInRE = lazyregexp.New(`(\d+(?:\.\d+)?)\s?%`)
	// rangeHeaderRE matches the header of an interval of a change.
	rangeHeaderRE = lazyregexp.New(`(?i)\bCI\b|\binterval\b`)
)

// maxP is benchstat's level of significance.
const maxP = 0.05

// whyOverlapping returns the two figures of a row if they differ by less than the half-width of one of
// their intervals of confidence; their difference is then not significant at the level of the
// intervals. It returns "" for other rows, and if not two columns compare.
func (g *grid) whyOverlapping(cells []string) string {
	for _, s := range g.sides {
		if len(s.columns) != 2 || max(s.columns[0], s.columns[1]) >= len(cells) {
			continue
		}
		a, ok := parseSpread(cells[s.columns[0]])
		b, okB := parseSpread(cells[s.columns[1]])
		if ok && okB && !areApart(a, b, 0) {
			return a.text + " and " + b.text
		}
	}
	return ""
}

// unclearRows returns the rows of a table that show no significant change: those with a
// p-value above maxP, with an interval of the change that contains 0, or if confident with two
// intervals of confidence that overlap far (see whyOverlapping).
func (t *table) unclearRows(g *grid, confident bool) []unclearRow {
	p := slices.IndexFunc(t.header, pHeaderRE.MatchString)
	var out []unclearRow
	for _, row := range t.rows {
		tested := unclearRow{line: row.line, p: -1}
		if len(row.cells) > 0 {
			tested.label = strings.ToLower(row.cells[0])
		}
		for i, cell := range row.cells {
			if m := unchangedCellRE.FindStringSubmatch(cell); m != nil {
				tested.p, _ = strconv.ParseFloat(m[1], 64)
				tested.why = "p = " + m[1]
			}
			isChange := i < len(t.header) && (changeHeaderRE.MatchString(t.header[i]) || rangeHeaderRE.MatchString(t.header[i]))
			if m := pCellRE.FindStringSubmatch(cell); i == p && m != nil {
				value, err := strconv.ParseFloat(m[1], 64)
				if err == nil && !strings.ContainsAny(cell, "<≤") && value > maxP {
					tested.p, tested.why = value, "p = "+m[1]
				}
			}
			if !isChange {
				continue
			}
			if m := changeRangeRE.FindStringSubmatch(cell); m != nil && strings.Contains(cell, "%") {
				low, okLow := parseSigned(m[1])
				high, okHigh := parseSigned(m[2])
				if okLow && okHigh && low < 0 && high > 0 {
					tested.why = "the interval " + strings.Trim(m[0], "()[]")
				}
				cell = strings.Replace(cell, m[0], "", 1)
			}
			if m := percentInRE.FindStringSubmatch(cell); m != nil {
				value, err := strconv.ParseFloat(m[1], 64)
				if err == nil {
					tested.changes = append(tested.changes, value)
				}
			}
		}
		if tested.why == "" && confident {
			tested.why = g.whyOverlapping(row.cells)
		}
		if tested.why == "" || tested.p < 0 && p >= 0 {
			continue
		}
		tested.changes = append(tested.changes, g.computeChanges(tested.label)...)
		out = append(out, tested)
	}
	return out
}

// parseSigned parses a number with one of the marks that stand for minus.
func parseSigned(text string) (float64, bool) {
	text = strings.NewReplacer("−", "-", "–", "-", " ", "", "+", "").Replace(text)
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}

// computeChanges returns the changes of a row in percent, without signs.
func (g *grid) computeChanges(label string) []float64 {
	var out []float64
	for _, s := range g.sides {
		if row := g.figuresOf(label, s); s.isBeforeAfter && len(row) == 2 {
			out = append(out, computeShare(row[0].value, row[1].value))
		}
	}
	return out
}

// computeShare returns the difference of b and a in percent of a, without its sign.
func computeShare(a, b float64) float64 { return 100 * max(b-a, a-b) / a }

// newStatGrids returns a grid for each unit of a table of benchstat: its rows have the figures of
// two files.
func newStatGrids(stats []statRow) []*grid {
	type key struct {
		table int
		unit  string
	}
	byUnit := map[key][]figure{}
	tested := map[key][]unclearRow{}
	var keys []key
	for _, row := range stats {
		k := key{row.table, row.unit}
		if len(row.values) != 2 {
			continue
		}
		u, ok := findStatUnit(row.unit)
		if !ok || len(byUnit[k]) > 2*maxGridRows {
			continue
		}
		if byUnit[k] == nil {
			keys = append(keys, k)
		}
		label := strings.ToLower(processorsRE.ReplaceAllString(row.name, ""))
		for i, value := range row.values {
			byUnit[k] = append(byUnit[k], figure{
				quantity: quantity{value: value, kind: u, raw: value},
				label:    label,
				header:   row.sides[i],
				column:   i,
				line:     row.line,
			})
		}
		if row.p > maxP {
			tested[k] = append(tested[k], unclearRow{
				line:    row.line,
				label:   label,
				p:       row.p,
				why:     "p = " + strconv.FormatFloat(row.p, 'g', -1, 64),
				changes: []float64{computeShare(row.values[0], row.values[1])},
			})
		}
	}
	var out []*grid
	for _, k := range keys {
		if g := newGrid(byUnit[k]); g != nil {
			g.unclear = tested[k]
			for _, s := range g.sides { // benchstat prints the base first, whatever its name
				if s.isBeforeAfter = true; s.columns[0] > s.columns[1] {
					slices.Reverse(s.columns)
					slices.Reverse(s.headers)
				}
			}
			out = append(out, g)
		}
	}
	return out
}

// findStatUnit returns the kind of a unit of benchstat.
func findStatUnit(unit string) (kind, bool) {
	switch unit {
	case "sec/op", "time/op":
		return timeKind, true
	case "B/op", "alloc/op":
		return byteKind, true
	case "allocs/op":
		return allocKind, true
	case "B/s", "speed":
		return byteRateKind, true
	}
	return plainKind, false
}
