package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// identicalFigures returns the rule about this mistake: figures of different runs or work are the same.
func identicalFigures() rule {
	return rule{audit.Rule{
		ID: "identical-figures", Severity: tare.Warn, Title: "Figures of different runs or work are the same.",
		Why:     "No two measurements agree to the last digit: one is a copy of the other, or the step that should make the difference does not run.",
		Do:      "measure both again, and count in each that the step runs",
		Command: benchCommand, Lang: "text",
		Bad:  "BenchmarkPlain-8         1000000   1072.4 ns/op   1064 B/op   11 allocs/op\nBenchmarkCompressed-8    1000000   1072.4 ns/op   1064 B/op   11 allocs/op\n",
		Good: "BenchmarkPlain-8         1000000   1072.4 ns/op   1064 B/op   11 allocs/op\nBenchmarkCompressed-8     800000   1511.9 ns/op   1320 B/op   13 allocs/op\n",
		Seen: []string{"routing"},
	}, findIdenticalFigures}
}

// enoughDigits is the least size of a time, in units of its last digit, at which two runs do
// not agree by chance.
const enoughDigits = 1000

// maxFixed limits the runs of one number of iterations: among more, as with -benchtime=1000x,
// two have the same time by chance.
const maxFixed = 20

func findIdenticalFigures(d *document, report reportFunc) {
	type key struct {
		iterations int
		value      float64
	}
	fixed := map[int]int{}
	for _, b := range d.benches {
		fixed[b.iterations] += b.runs
	}
	seen := map[key]*bench{}
	for _, b := range d.benches {
		ns, ok := b.value("ns/op")
		if !ok || !hasDigits(ns) || b.iterations == 0 || fixed[b.iterations] > maxFixed {
			continue
		}
		if b.repeated > 0 && b.iterations > 1 && b.runs <= maxFixed {
			report(b.line, fmt.Sprintf("%d of %s of %s equal the first in all figures and in the number of iterations", b.repeated, format.Count(b.runs-1, "further run"), b.name))
		}
		k := key{b.iterations, ns}
		if first := seen[k]; first == nil {
			seen[k] = b
		} else if first.name != b.name {
			report(b.line, fmt.Sprintf("%s and %s have the same time, %s ns/op, to the last digit", first.name, b.name, format.Grouped(ns, countDecimals(ns))))
		}
	}
	first := map[[3]float64]*load{}
	for _, l := range d.loads {
		k := [3]float64{l.rate.value, l.mean.value, l.requests.value}
		if base := first[k]; base == nil {
			first[k] = l
		} else if hasDigits(l.rate.value) && l.mean.isKnown() {
			report(l.line, fmt.Sprintf("this report and that of line %d have the same rate, mean latency and requests", base.line))
		}
	}
	for i, t := range d.tables {
		findEqualRows(t, t.measures(i), report)
	}
	findIdleSteps(d, report)
}

// hasDigits reports whether a figure has so many digits that it does not come twice.
func hasDigits(x float64) bool {
	for scale := 1.0; scale <= 1000; scale *= 10 {
		if y := x * scale; y == float64(int64(y)) {
			return y >= enoughDigits && int64(y)%10 != 0
		}
	}
	return true
}

func countDecimals(x float64) int {
	n := 0
	for scale := 1.0; n < 3 && x*scale != float64(int64(x*scale)); scale *= 10 {
		n++
	}
	return n
}

// findEqualRows finds rows of a table whose figures are all the same, with times among them.
func findEqualRows(t *table, all []measure, report reportFunc) {
	type row struct {
		values []float64
		timed  bool
	}
	rows := map[int]*row{}
	for _, m := range all {
		r := rows[m.line]
		if r == nil {
			r = &row{}
			rows[m.line] = r
		}
		r.values = append(r.values, m.value)
		r.timed = r.timed || (m.kind == timeKind || m.kind == rateKind) && m.raw >= enoughDigits && hasDigits(m.raw)
	}
	for i, a := range t.rows {
		for _, b := range t.rows[i+1 : min(len(t.rows), i+50)] {
			x, y := rows[a.line], rows[b.line]
			if x != nil && y != nil && x.timed && len(x.values) > 1 && slices.Equal(x.values, y.values) && len(a.cells) > 0 && len(b.cells) > 0 && a.cells[0] != b.cells[0] {
				report(b.line, fmt.Sprintf("the rows %s and %s have the same figures", quote(a.cells[0]), quote(b.cells[0])))
			}
		}
	}
}

// findIdleSteps finds sections that add a step to another and cost the same: of each
// contender as many bytes and allocations, and a time within 2 %.
func findIdleSteps(d *document, report reportFunc) {
	type figures map[string][3]float64 // s, B, allocations by contender
	byTable := make([]figures, len(d.tables))
	for i, t := range d.tables {
		byTable[i] = figures{}
		for _, m := range t.measures(i) {
			f := byTable[i][m.subject]
			switch m.kind {
			case timeKind:
				f[0] = m.value
			case byteKind:
				f[1] = m.value
			case allocKind:
				f[2] = m.value
			}
			byTable[i][m.subject] = f
		}
	}
	for i, t := range d.tables[:min(len(d.tables), 100)] {
		if !strings.HasPrefix(strings.ToLower(t.heading), "with ") {
			continue
		}
		for j, base := range d.tables[:min(len(d.tables), 100)] {
			same, compared := 0, 0
			for subject, a := range byTable[i] {
				b, ok := byTable[j][subject]
				if !ok || a[0] <= 0 || b[0] <= 0 || a[1] <= 0 || strings.Contains(subject, "overhead") || strings.Contains(subject, "diff") {
					continue
				}
				compared++
				if a[1] == b[1] && a[2] == b[2] && isNear(a[0], b[0], 0.02) {
					same++
				}
			}
			if j != i && compared > 1 && same == compared {
				report(t.line, fmt.Sprintf("%s costs each contender the bytes and allocations of %s, and its time within 2 %%: nothing shows that the step runs", quote(t.heading), quote(base.heading)))
				break
			}
		}
	}
}
