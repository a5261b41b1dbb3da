package figures

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file finds the figures in tables that a sentence may compare. For example, "On large files
// the new codec takes 20 % less time" names a row and a column.

// grid has the figures of a table by row. Rules check sentences about one row with it: "on large
// files the new codec takes 20 % less time".
type grid struct {
	line       int
	rowMatcher labelMatcher        // finds the rows that a text names
	labels     []string            // in lower case
	cells      map[string][]figure // by label
	columnSets []*columnSet
	unclear    []unclearRow
}

// columnSet has the columns of one metric, such as "time old" and "time new".
type columnSet struct {
	kind          kind
	columns       []int    // indices
	headers       []string // in lower case
	matcher       labelMatcher
	isBeforeAfter bool // two columns, before and after a change
	isOnlyOfKind  bool // no other set has this kind
}

// columnOf returns the index of the column with a header.
func (s *columnSet) columnOf(header string) int { return s.columns[slices.Index(s.headers, header)] }

// unclearRow is a row without a significant change.
type unclearRow struct {
	line     int
	label    string
	p        float64   // -1 without a p-value
	evidence string    // e.g. p = 0.2
	changes  []float64 // in percent, without signs
}

// tablePair has two figures that a claim may compare.
type tablePair struct {
	a, b         figure
	isOrdered    bool // the claim is about b: "b is 2x faster than a"
	isOnlyOfKind bool // no other columns have their kind
}

// Larger tables are not compared with claims.
const (
	maxSides    = 12 // columns
	maxGridRows = 400
)

// metricWords has the words of headers that distinguish metrics, not sides, between spaces. For
// example, "p50" and "p99" are two metrics of one side.
const metricWords = " time latency value result speed mean avg average median memory size max min stdev stddev deviation total count rate throughput wall user sys cpu rss peak heap " +
	"alloc allocs bytes byte ops requests request duration error errors p50 p75 p90 p95 p99 p999 ns ms sec mib kib gib first last cold warm start startup build compile run load " +
	"encode decode marshal unmarshal insert delete lookup get set put read write serialize deserialize "

// newGrids returns the grids of all tables and of benchstat.
func newGrids(d *document, figures []figure) []*grid {
	byTable := map[int][]figure{}
	for _, f := range figures {
		if f.isOfTable() {
			byTable[f.origin] = append(byTable[f.origin], f)
		}
	}
	var out []*grid
	for i, t := range d.tables {
		if g := newGrid(byTable[i]); g != nil {
			g.unclear = t.unclearRows(g, d.hasText(confidenceRE) && !d.hasText(deviationRE))
			out = append(out, g)
		}
	}
	return append(out, newStatGrids(d.statRows)...)
}

// newGrid returns the grid of one table, whose figures are all. It returns nil if the table has more
// than maxGridRows rows.
func newGrid(all []figure) *grid {
	g := &grid{cells: map[string][]figure{}}
	if len(all) > 0 {
		g.line = all[0].line
	}
	var columns []figure // the first figure of each column
	for _, f := range all {
		label := strings.ToLower(f.label)
		if g.cells[label] == nil {
			g.labels = append(g.labels, label)
		}
		g.cells[label] = append(g.cells[label], f)
		isNew := !slices.ContainsFunc(columns, func(c figure) bool { return c.column == f.column })
		hasUnit := f.kind != plainKind && f.kind != percentKind && f.kind != factorKind
		if isNew && hasUnit {
			columns = append(columns, f)
		}
	}
	if len(g.labels) > maxGridRows {
		return nil
	}
	g.addColumnSets(columns)
	g.rowMatcher = newLabelMatcher(g.labels)
	return g
}

// addColumnSets groups columns by metric. It takes the first figure of each column.
func (g *grid) addColumnSets(columns []figure) {
	for _, f := range columns {
		i := slices.IndexFunc(g.columnSets, func(s *columnSet) bool { return s.kind == f.kind && isOtherSide(s.headers[0], f.header, f.kind) })
		if i < 0 {
			g.columnSets = append(g.columnSets, &columnSet{kind: f.kind})
			i = len(g.columnSets) - 1
		}
		s := g.columnSets[i]
		s.columns, s.headers = append(s.columns, f.column), append(s.headers, f.header)
	}
	for _, s := range g.columnSets {
		s.isOnlyOfKind = !slices.ContainsFunc(g.columnSets, func(other *columnSet) bool { return other != s && other.kind == s.kind })
	}
	g.columnSets = slices.DeleteFunc(g.columnSets, func(s *columnSet) bool { return len(s.columns) < 2 || len(s.columns) > maxSides })
	for _, s := range g.columnSets {
		s.matcher = newLabelMatcher(s.headers)
		s.orderColumns()
	}
}

// partHeaderRE matches the header of a part of another column: "of which compress".
var partHeaderRE = lazyregexp.New(`(?i)^(?:of which|of that|of these|thereof|including|incl\.)(?:\W|$)`)

// isOtherSide reports whether two headers of columns of a kind name one metric, like "time old" and
// "time new".
func isOtherSide(a, b string, k kind) bool {
	if partHeaderRE.MatchString(a) || partHeaderRE.MatchString(b) {
		return false
	}
	wordsA, wordsB := splitWords(a), splitWords(b)
	differs := false
	for _, pair := range [][2][]string{{wordsA, wordsB}, {wordsB, wordsA}} {
		for _, w := range pair[0] {
			if slices.Contains(pair[1], w) {
				continue
			}
			isSide := w == "heap" && k == timeKind // a time of the heap, as opposed to that of an arena
			if strings.Contains(metricWords, " "+w+" ") && !isSide {
				return false
			}
			differs = true
		}
	}
	return differs
}

// baseHeaderRE matches the header of figures before a change.
var baseHeaderRE = lazyregexp.New(`(?i)\b(?:before|old|baseline|base|original|initial|previous|prior|main|master|control|then)\b`)

var versionNameRE = lazyregexp.New(`\b(?:v|version )?\d+(?:\.\d+)+\b|\b(?:v|version )\d+\b`)

func isLaterVersion(a, b string) bool {
	return slices.Compare(versionParts(a), versionParts(b)) > 0
}

func versionParts(version string) []int {
	var out []int
	for _, part := range strings.FieldsFunc(version, func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}

// orderColumns puts the earlier column first, e.g. "old" before "new" or "v1.2" before "v1.3".
func (s *columnSet) orderColumns() {
	if len(s.columns) != 2 {
		return
	}
	isSecondBase, isKnown := isSecondEarlier(s.headers[0], s.headers[1])
	s.isBeforeAfter = isKnown
	if isSecondBase {
		s.reverse()
	}
}

// isSecondEarlier reports whether the second of two names is that of the state before a change, or of
// the earlier version. isKnown is false if the names do not show which is earlier.
func isSecondEarlier(first, second string) (isEarlier, isKnown bool) {
	isFirstBase, isSecondBase := baseHeaderRE.MatchString(first), baseHeaderRE.MatchString(second)
	if isFirstBase != isSecondBase {
		return isSecondBase, true
	}
	a, b := versionNameRE.FindString(first), versionNameRE.FindString(second)
	if a == "" || b == "" || versionNameRE.ReplaceAllString(first, "") != versionNameRE.ReplaceAllString(second, "") {
		return false, false
	}
	return isLaterVersion(a, b), true
}

func (s *columnSet) reverse() {
	slices.Reverse(s.columns)
	slices.Reverse(s.headers)
}

// figuresOf returns the figures of a row, with the headers as subjects.
func (g *grid) figuresOf(label string, s *columnSet) []figure {
	var out []figure
	for i, column := range s.columns {
		for _, f := range g.cells[label] {
			if f.column == column && f.kind == s.kind && f.value > 0 {
				f.subject = s.headers[i]
				out = append(out, f)
				break
			}
		}
	}
	return out
}

// pairScope says which pairs may be compared although the sentence does not name both figures.
type pairScope struct {
	comparesPast  bool // the sentence compares with the past, such as "than before"
	allowsOnlyRow bool // the only row of a grid needs no name
}

// pairsFor returns the pairs of figures in the rows and columns that words name. Without a named
// row, all rows count.
func (g *grid) pairsFor(words wordSet, kinds []kind, scope pairScope) []tablePair {
	labels := g.rowMatcher.findNamed(words)
	hasRow := len(labels) > 0 || len(g.labels) == 1 && scope.allowsOnlyRow
	if len(labels) == 0 {
		if labels = g.labels; len(labels) > maxNamed {
			return nil
		}
	}
	var out []tablePair
	for _, s := range g.columnSets {
		if !slices.Contains(kinds, s.kind) {
			continue
		}
		sides := s.matcher.findNamed(words)
		hasTwo := len(s.columns) == 2
		isClear := s.isBeforeAfter || s.isOnlyOfKind && (scope.comparesPast || len(sides) == 1)
		needsNoNames := hasTwo && hasRow && isClear
		if len(sides) < 2 && !needsNoNames {
			continue
		}
		for _, label := range labels {
			row := g.figuresOf(label, s)
			for i, a := range row {
				for _, b := range row[i+1:] {
					if needsNoNames || slices.Contains(sides, a.subject) && slices.Contains(sides, b.subject) {
						out = append(out, tablePair{
							a: a, b: b,
							isOrdered:    s.isBeforeAfter || scope.comparesPast && hasTwo,
							isOnlyOfKind: s.isOnlyOfKind && hasRow && hasTwo,
						})
					}
				}
			}
		}
	}
	return out
}

// hasUnclearChange reports whether a row without a significant change has the claimed percentage.
func (g *grid) hasUnclearChange(c claim) bool {
	const tolerance = 0 // matchesValue allows for rounding
	return c.isPercent && slices.ContainsFunc(g.unclear, func(row unclearRow) bool {
		return slices.ContainsFunc(row.changes, func(x float64) bool { return c.matchesValue(x, tolerance) })
	})
}

var (
	// pHeaderRE matches "p-value" or "p (n=10)".
	pHeaderRE = lazyregexp.New(`(?i)^p(?:[- ]?val(?:ue)?)?s?\.?(?:\s*\(n ?=[^)]*\))?$`)
	// pCellRE matches "p = 0.03". The group is 0.03.
	pCellRE = lazyregexp.New(`(?i)^(?:p\s?)?[=<>≤≥~]*\s?(0?\.\d+|1(?:\.0+)?|0)(?:\s+\(?n ?= ?\d+\)?)?$`)
	// unchangedCellRE matches "~ (p=0.2 n=10)" of benchstat. The group is 0.2.
	unchangedCellRE = lazyregexp.New(`^~ *\(p=(0?\.\d+|1\.0+) n=\d+`)
	// changeRangeRE matches "(95% CI: -3 % to +1 %)". The groups are -3 and +1.
	changeRangeRE = lazyregexp.New(`[(\[]?(?:95\s?% (?:CI|confidence interval)[:,]?\s*)?[\[(]?` +
		`\s*([-−–+]?\s?\d+(?:\.\d+)?)\s?%?\s*(?:,|;|to|\.\.\.?|…)\s*([-−–+]?\s?\d+(?:\.\d+)?)\s?%?\s*[\])]`)
	// percentInRE has the number as its group.
	percentInRE = lazyregexp.New(`(\d+(?:\.\d+)?)\s?%`)
	// rangeHeaderRE matches the header of an interval.
	rangeHeaderRE = lazyregexp.New(`(?i)\bCI\b|\binterval\b`)
)

// maxP is the limit of benchstat for a significant change.
const maxP = 0.05

// whyOverlapping returns "5.1 ± 0.2 and 5.2 ± 0.3" if the two figures of a row do not differ
// significantly.
func (g *grid) whyOverlapping(cells []string) string {
	for _, s := range g.columnSets {
		if len(s.columns) != 2 || max(s.columns[0], s.columns[1]) >= len(cells) {
			continue
		}
		a, okA := parseSpread(cells[s.columns[0]])
		b, okB := parseSpread(cells[s.columns[1]])
		if okA && okB && !differSignificantly(a, b, 0) {
			return a.text + " and " + b.text
		}
	}
	return ""
}

// unclearRows returns the rows of the table that show no significant change. hasConfidence means
// that ± in the table is a confidence interval.
func (t *table) unclearRows(g *grid, hasConfidence bool) []unclearRow {
	pColumn := slices.IndexFunc(t.header, pHeaderRE.MatchString)
	var out []unclearRow
	for _, row := range t.rows {
		found := unclearRow{line: row.line, p: -1}
		if len(row.cells) > 0 {
			found.label = strings.ToLower(row.cells[0])
		}
		for i, cell := range row.cells {
			found.readP(cell, i == pColumn)
			if i < len(t.header) && (changeHeaderRE.MatchString(t.header[i]) || rangeHeaderRE.MatchString(t.header[i])) {
				found.readChange(cell)
			}
		}
		if found.evidence == "" && hasConfidence {
			found.evidence = g.whyOverlapping(row.cells)
		}
		hasSmallP := found.p < 0 && pColumn >= 0 // readP sets p only above maxP
		if found.evidence == "" || hasSmallP {
			continue
		}
		found.changes = append(found.changes, g.computeChanges(found.label)...)
		out = append(out, found)
	}
	return out
}

// readP sets r if a cell shows that the change is not significant: by benchstat's ~, or by a p-value
// above maxP.
func (r *unclearRow) readP(cell string, isInColumn bool) {
	if m := unchangedCellRE.FindStringSubmatch(cell); m != nil {
		r.p, _ = strconv.ParseFloat(m[1], 64)
		r.evidence = "p = " + m[1]
	}
	m := pCellRE.FindStringSubmatch(cell)
	if !isInColumn || m == nil || strings.ContainsAny(cell, "<≤") {
		return
	}
	if p, err := strconv.ParseFloat(m[1], 64); err == nil && p > maxP {
		r.p, r.evidence = p, "p = "+m[1]
	}
}

func (r *unclearRow) readChange(cell string) {
	if m := changeRangeRE.FindStringSubmatch(cell); m != nil && strings.Contains(cell, "%") {
		low, okLow := parseSigned(m[1])
		high, okHigh := parseSigned(m[2])
		if okLow && okHigh && low < 0 && high > 0 {
			r.evidence = "the interval " + strings.Trim(m[0], "()[]")
		}
		cell = strings.Replace(cell, m[0], "", 1)
	}
	if m := percentInRE.FindStringSubmatch(cell); m != nil {
		if change, err := strconv.ParseFloat(m[1], 64); err == nil {
			r.changes = append(r.changes, change)
		}
	}
}

// parseSigned parses a number with its sign. It also reads a dash as minus.
func parseSigned(text string) (float64, bool) {
	text = strings.NewReplacer("−", "-", "–", "-", " ", "", "+", "").Replace(text)
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}

// computeChanges returns the changes of a row in percent, without signs.
func (g *grid) computeChanges(label string) []float64 {
	var out []float64
	for _, s := range g.columnSets {
		if row := g.figuresOf(label, s); s.isBeforeAfter && len(row) == 2 {
			out = append(out, computeShare(row[0].value, row[1].value))
		}
	}
	return out
}

// computeShare returns the difference in percent of a, without its sign.
func computeShare(a, b float64) float64 { return 100 * max(b-a, a-b) / a }

// newStatGrids returns a grid for each unit of a table of benchstat.
func newStatGrids(stats []statRow) []*grid {
	type key struct {
		table int
		unit  string
	}
	byUnit := map[key][]figure{}
	unclear := map[key][]unclearRow{}
	var keys []key
	for _, row := range stats {
		k := key{row.table, row.unit}
		if len(row.values) != 2 {
			continue
		}
		unitKind, ok := statKinds[row.unit]
		if !ok || len(byUnit[k]) > 2*maxGridRows {
			continue
		}
		if byUnit[k] == nil {
			keys = append(keys, k)
		}
		label := strings.ToLower(processorsRE.ReplaceAllString(row.name, ""))
		for i, value := range row.values {
			q := quantity{value: value, kind: unitKind, raw: value}
			byUnit[k] = append(byUnit[k], figure{quantity: q, label: label, header: row.files[i], column: i, line: row.line})
		}
		if row.p > maxP {
			unclear[k] = append(unclear[k], row.unclear(label))
		}
	}
	var out []*grid
	for _, k := range keys {
		if g := newGrid(byUnit[k]); g != nil {
			g.unclear = unclear[k]
			g.putBaseFirst()
			out = append(out, g)
		}
	}
	return out
}

func (row statRow) unclear(label string) unclearRow {
	return unclearRow{
		line: row.line, label: label, p: row.p,
		evidence: "p = " + strconv.FormatFloat(row.p, 'g', -1, 64),
		changes:  []float64{computeShare(row.values[0], row.values[1])},
	}
}

// putBaseFirst orders the two columns of a table of benchstat: the base first.
func (g *grid) putBaseFirst() {
	for _, s := range g.columnSets {
		s.isBeforeAfter = true
		if s.columns[0] > s.columns[1] {
			s.reverse()
		}
	}
}

// statKinds maps a unit of benchstat to the kind of its figures.
var statKinds = map[string]kind{
	"sec/op": timeKind, "time/op": timeKind, "B/op": byteKind, "alloc/op": byteKind, "allocs/op": allocKind,
	"B/s": byteRateKind, "speed": byteRateKind,
}
