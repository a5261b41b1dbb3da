package figures

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// This file is the rule identical-figures. It finds figures that are equal to the last digit
// although they come from different runs or work. For example, two benchmarks both take 1072.4
// ns/op.

// identicalFigures finds equal figures of different runs or work.
func identicalFigures() rule {
	return rule{Rule: audit.Rule{
		ID: "identical-figures", Severity: tare.Warn,
		Title:   "Figures of different runs or work are the same.",
		Why:     "No two measurements agree to the last digit: one is a copy of the other, or the step that should make the difference does not run.",
		Do:      "measure both again, and count in each that the step runs",
		Command: benchCommand,
		Bad:     "BenchmarkPlain-8         1000000   1072.4 ns/op   1064 B/op   11 allocs/op\nBenchmarkCompressed-8    1000000   1072.4 ns/op   1064 B/op   11 allocs/op\n",
		Good:    "BenchmarkPlain-8         1000000   1072.4 ns/op   1064 B/op   11 allocs/op\nBenchmarkCompressed-8     800000   1511.9 ns/op   1320 B/op   13 allocs/op\n",
		Seen:    []string{"routing"},
	}, find: findIdenticalFigures}
}

const (
	// minUnits is in units of the last digit. Smaller figures, such as 123 or 12.3, may be equal by
	// chance.
	minUnits = 1000
	// maxEqualCounts limits the runs with an equal number of iterations. Among more, as with
	// -benchtime=1000x, two runs have the same time by chance.
	maxEqualCounts = 20
	maxRowDistance = 50  // rows between two compared rows
	maxStepTables  = 100 // tables that findIdleSteps compares
	// stepTolerance is a share of the time.
	stepTolerance = 0.02
)

func findIdenticalFigures(d *document, report reportFunc) {
	d.findEqualBenches(report)
	d.findEqualBlocks(report)
	d.findEqualFiles(report)
	for _, c := range d.copies {
		report(c.bench.line, fmt.Sprintf("the %s of %s equal those of %s in %s in all figures and in the numbers of iterations", format.Count(c.bench.runs, "run"), c.bench.name, c.first.name, c.first.file))
	}
	d.findEqualReports(report)
	for i, t := range d.tables {
		findEqualRows(t, t.figures(i), report)
	}
	findIdleSteps(d, report)
}

// findEqualBenches reports equal runs of one benchmark, and two benchmarks with the same time.
func (d *document) findEqualBenches(report reportFunc) {
	type key struct {
		iterations int
		ns         float64 // ns/op
	}
	runs := map[int]int{} // by number of iterations
	for _, b := range d.benches {
		runs[b.iterations] += b.runs
	}
	seen := map[key]*bench{}
	for _, b := range d.benches {
		ns, ok := b.value("ns/op")
		if !ok || !isDistinctive(ns) || b.iterations == 0 || runs[b.iterations] > maxEqualCounts {
			continue
		}
		if b.equalRuns > 0 && b.iterations > 1 && b.runs <= maxEqualCounts {
			report(b.line, fmt.Sprintf("%d of %s of %s equal the first in all figures and in the number of iterations", b.equalRuns, format.Count(b.runs-1, "further run"), b.name))
		}
		k := key{b.iterations, ns}
		if first := seen[k]; first == nil {
			seen[k] = b
		} else if first.name != b.name {
			report(b.line, fmt.Sprintf("%s and %s have the same time, %s ns/op, to the last digit", first.name, b.name, format.Grouped(ns, countDecimals(ns))))
		}
	}
}

// findEqualBlocks reports benchmarks with the same runs in two parts of the page, such as those of two revisions. Other
// benchmarks of the parts must differ, or else the page quotes one output twice.
func (d *document) findEqualBlocks(report reportFunc) {
	type key struct{ pkg, name string }
	type parts struct{ first, second string }
	first := map[key]*bench{}
	equal, differs := map[parts][]*bench{}, map[parts]bool{}
	for _, b := range d.benches {
		k := key{b.pkg, b.name}
		base := first[k]
		if base == nil {
			first[k] = b
			continue
		}
		p := parts{base.path, b.path}
		ns, _ := b.value("ns/op")
		const minRuns = 2 // a single run may have the time of another one by chance
		switch isCopy := b.runs == base.runs && b.digest == base.digest; {
		case !isCopy:
			differs[p] = true
		case b.runs >= minRuns && b.iterations >= minRuns && isDistinctive(ns):
			equal[p] = append(equal[p], b)
		}
	}
	for p, copies := range equal {
		for _, b := range copies {
			if differs[p] {
				report(b.line, fmt.Sprintf("the %s of %s equal those of line %d in all figures and in the numbers of iterations", format.Count(b.runs, "run"), b.name, first[key{b.pkg, b.name}].line))
			}
		}
	}
}

func (d *document) findEqualReports(report reportFunc) {
	type key struct{ rate, mean, requests float64 }
	first := map[key]*loadReport{}
	for _, l := range d.reports {
		k := key{l.rate.value, l.meanLatency.value, l.requests.value}
		if base := first[k]; base == nil {
			first[k] = l
		} else if isDistinctive(l.rate.value) && l.meanLatency.isKnown() {
			report(l.line, fmt.Sprintf("this report and that of line %d have the same rate, mean latency and requests", base.line))
		}
	}
}

// findEqualFiles reports tables of benchstat with the same times in both files.
func (d *document) findEqualFiles(report reportFunc) {
	const minRows = 3 // times with few digits are equal by chance
	type table struct {
		number int
		unit   string
	}
	equal, line, differs := map[table]int{}, map[table]int{}, map[table]bool{}
	var tables []table
	for _, row := range d.statRows {
		key := table{row.table, row.unit}
		isTime := strings.HasPrefix(row.unit, "sec") || strings.HasPrefix(row.unit, "time")
		switch {
		case !isTime || row.values == nil:
		case row.values[0] != row.values[1]:
			differs[key] = true
		default:
			if equal[key]++; equal[key] == 1 {
				tables, line[key] = append(tables, key), row.line
			}
		}
	}
	for _, key := range tables {
		if n := equal[key]; n >= minRows && !differs[key] {
			report(line[key], fmt.Sprintf("both files have the same times in all %d rows: they are the same runs", n))
		}
	}
}

type runsKey struct {
	runs   int
	digest uint64 // hash of all figures, see bench.digest
}

// copiedBench has the same runs as a benchmark in another file.
type copiedBench struct {
	bench *bench
	first fileBench // in the file that was read first
}

// findCopies records in d.copies the benchmarks with the same runs as one in seen, and adds the
// others to seen. It ignores pages: two translations may quote the same output.
func (d *document) findCopies(seen map[runsKey]fileBench) {
	if len(d.tables) > 0 || len(d.sentences) > 0 {
		return
	}
	added := map[runsKey]fileBench{}
	for _, b := range d.benches {
		const minRuns = 2 // a single run may have the time of another one by chance
		if ns, _ := b.value("ns/op"); b.runs < minRuns || b.iterations < minRuns || !isDistinctive(ns) {
			continue
		}
		key := runsKey{b.runs, b.digest}
		first, isKnown := seen[key]
		switch {
		case !isKnown:
			added[key] = fileBench{filepath.Clean(d.name), b.name}
		case first.file != filepath.Clean(d.name): // the user did not name the file twice
			d.copies = append(d.copies, copiedBench{b, first})
		}
	}
	maps.Copy(seen, added)
}

// isDistinctive reports whether a figure has too many digits to occur twice by chance, e.g. 1072.4.
func isDistinctive(x float64) bool {
	for scale := 1.0; scale <= 1000; scale *= 10 {
		if y := x * scale; y == float64(int64(y)) {
			return y >= minUnits && int64(y)%10 != 0
		}
	}
	return true
}

// countDecimals returns the number of decimals of x, at most 3.
func countDecimals(x float64) int {
	n := 0
	for scale := 1.0; n < 3 && x*scale != float64(int64(x*scale)); scale *= 10 {
		n++
	}
	return n
}

// findEqualRows reports rows with equal figures, one of them a distinctive time or rate.
func findEqualRows(t *table, all []figure, report reportFunc) {
	type row struct {
		values        []float64
		isDistinctive bool // of a time or rate
	}
	rows := map[int]*row{}
	for _, f := range all {
		r := rows[f.line]
		if r == nil {
			r = &row{}
			rows[f.line] = r
		}
		r.values = append(r.values, f.value)
		isTiming := f.kind == timeKind || f.kind == rateKind
		r.isDistinctive = r.isDistinctive || isTiming && f.raw >= minUnits && isDistinctive(f.raw)
	}
	for i, a := range t.rows {
		for _, b := range t.rows[i+1 : min(len(t.rows), i+maxRowDistance)] {
			x, y := rows[a.line], rows[b.line]
			if x == nil || y == nil || !x.isDistinctive || len(x.values) < 2 {
				continue
			}
			hasOtherLabel := len(a.cells) > 0 && len(b.cells) > 0 && a.cells[0] != b.cells[0]
			if hasOtherLabel && slices.Equal(x.values, y.values) {
				report(b.line, fmt.Sprintf("the rows %s and %s have the same figures", quote(a.cells[0]), quote(b.cells[0])))
			}
		}
	}
}

// findIdleSteps reports a table "With compression" that has the costs of another table. The step,
// here the compression, probably does not run.
func findIdleSteps(d *document, report reportFunc) {
	tables := d.tables[:min(len(d.tables), maxStepTables)]
	costs := make([]map[string]cost, len(tables))
	for i, t := range tables {
		costs[i] = t.contenderCosts(i)
	}
	for i, t := range tables {
		if !strings.HasPrefix(strings.ToLower(t.heading), "with ") {
			continue
		}
		for j, base := range tables {
			if j != i && haveSameCosts(costs[i], costs[j]) {
				report(t.line, fmt.Sprintf("%s costs each contender the bytes and allocations of %s, and its time within 2 %%: nothing shows that the step runs", quote(t.heading), quote(base.heading)))
				break
			}
		}
	}
}

// cost holds the time in s, the bytes and the allocations of a contender. 0 means unknown.
type cost struct{ time, bytes, allocs float64 }

// contenderCosts returns the costs by name. index is the number of the table.
func (t *table) contenderCosts(index int) map[string]cost {
	costs := map[string]cost{}
	for _, f := range t.figures(index) {
		c := costs[f.subject]
		switch f.kind {
		case timeKind:
			c.time = f.value
		case byteKind:
			c.bytes = f.value
		case allocKind:
			c.allocs = f.value
		}
		costs[f.subject] = c
	}
	return costs
}

// haveSameCosts reports whether two tables have at least two contenders in common, all with the same
// costs.
func haveSameCosts(costs, base map[string]cost) bool {
	compared := 0
	for subject, a := range costs {
		b, ok := base[subject]
		hasCosts := ok && a.time > 0 && b.time > 0 && a.bytes > 0
		isDifference := strings.Contains(subject, "overhead") || strings.Contains(subject, "diff")
		if !hasCosts || isDifference {
			continue
		}
		if a.bytes != b.bytes || a.allocs != b.allocs || !isNear(a.time, b.time, stepTolerance) {
			return false
		}
		compared++
	}
	return compared > 1
}
