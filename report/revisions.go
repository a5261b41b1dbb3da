package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// kindGobench is the kind of studies of tare bench. Contenders are revisions of a repository, and workloads are Go
// benchmarks.
const kindGobench = "gobench"

// IsBench reports whether r compares the benchmarks of two revisions. Tables of such a report have benchmarks as
// rows, and no ranks or costs.
func IsBench(r *tare.Result) bool { return r.Kind == kindGobench && findRevision(r) != "" }

// BenchmarkName returns the id of a benchmark without its module: "BenchmarkParse/small". In another package of
// the module it is "scan.BenchmarkNext".
func BenchmarkName(r *tare.Result, id string) string {
	base, _ := r.Contender(r.Baseline()) // its name is the module path
	for _, separator := range []string{".", "/"} {
		if name, ok := strings.CutPrefix(id, base.Name+separator); ok {
			return name
		}
	}
	return id
}

// findRevision returns the only contender except the baseline, or "".
func findRevision(r *tare.Result) string {
	id := ""
	for _, c := range r.Contenders {
		if c.Role == tare.RoleContender {
			if id != "" {
				return ""
			}
			id = c.ID
		}
	}
	return id
}

// newBenchContest returns the first chart of a page: the benchmarks that differ between the revisions, the slowest
// first.
func newBenchContest(r *tare.Result) Contest {
	base, head := r.Baseline(), findRevision(r)
	c := Contest{Base: contenderTitle(r, base), Less: "faster", More: "slower", Order: "slowest first", Title: "What changed, slower before faster"}
	p := Panel{Name: contenderTitle(r, head)}
	void, slower, faster := 0, 0, 0
	var quiet []tare.Comparison // unchanged benchmarks
	for _, w := range r.Workloads {
		v := newView(r, w.ID)
		metric := v.leadingMetric()
		comparison, ok := v.findComparison(head, metric)
		if !ok && len(v.voidsMetric(head, metric)) == 0 {
			continue
		}
		contender, _ := r.Contender(head)
		line := v.newRivalLine(contender)
		switch line.Side {
		case "": // the row shows why
			void++
		case "same":
			quiet = append(quiet, comparison)
			continue
		case "more":
			slower++
		case "less":
			faster++
		}
		line.Work = len(p.Noise)
		p.Noise = append(p.Noise, noiseFactor(r, w.ID, metric))
		p.Rows = append(p.Rows, Rival{ID: w.ID, Name: BenchmarkName(r, w.ID), Note: benchNote(v, base, head), Lines: []RivalLine{line}})
	}
	slices.SortStableFunc(p.Rows, func(a, b Rival) int { return cmp.Compare(b.Lines[0].Ratio, a.Lines[0].Ratio) })
	if len(p.Rows) > maxRivals {
		p.Rest = p.Rows[maxRivals:]
		p.Rows = p.Rows[:maxRivals]
	}
	known := countNoun(len(quiet)+slower+faster, "benchmark")
	c.Headline = fmt.Sprintf("%d of %s changed: %d slower, %d faster", slower+faster, known, slower, faster)
	if slower+faster == 0 {
		c.Headline = "No change is shown in " + known
	}
	if void > 0 {
		c.Headline += fmt.Sprintf("; nothing is known of %d more", void)
	}
	c.Headline += "."
	c.Means = fmt.Sprintf("Time of one operation at %s, as a multiple of that at %s. Logarithmic axis; each row has the noise of its benchmark.", contenderTitle(r, head), c.Base)
	if len(p.Rows) > 0 {
		c.Panels = []Panel{p}
	}
	c.Quiet = countQuiet(r, quiet)
	return c
}

// benchNote returns the values of both revisions, and changed allocations: "1.20 µs → 980 ns, 12 → 9 allocs".
func benchNote(v *view, base, head string) string {
	formatOf := func(id string) string {
		x, ok := v.findValue(id, v.leadingMetric())
		if !ok {
			return noValue
		}
		return formatMedian(x)
	}
	note := formatOf(base) + " → " + formatOf(head)
	from, hasFrom := v.findValue(base, "allocs")
	to, hasTo := v.findValue(head, "allocs")
	if hasFrom && hasTo && from.Value != to.Value {
		note += fmt.Sprintf(", %s → %s allocs", format.Grouped(math.Round(from.Value), 0), format.Grouped(math.Round(to.Value), 0))
	}
	return note
}

// quietSizes returns the limits of the groups of countQuiet, as shares.
func quietSizes() []float64 { return []float64{0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, math.Inf(1)} }

const maxQuietNames = 6 // named benchmarks of a group

// countQuiet counts the unchanged benchmarks by the smallest change that would have shown. That change is rounded
// up to one of quietSizes.
func countQuiet(r *tare.Result, quiet []tare.Comparison) []Quiet {
	sizes := quietSizes()
	names := map[float64][]string{} // benchmarks by size
	for _, x := range quiet {
		i := slices.IndexFunc(sizes, func(size float64) bool { return smallestShown(r, x) <= size })
		if i >= 0 {
			names[sizes[i]] = append(names[sizes[i]], BenchmarkName(r, x.Workload))
		}
	}
	var out []Quiet
	for _, size := range sizes {
		n := len(names[size])
		if n == 0 {
			continue
		}
		group := Quiet{
			Size:  formatPercent(size),
			Count: n,
			Share: float64(n) / float64(len(quiet)),
			Names: strings.Join(names[size][:min(n, maxQuietNames)], ", "),
		}
		if math.IsInf(size, 1) {
			group.Size = "more than 50 %" // the previous limit
		}
		if n > maxQuietNames {
			group.Names += ", …"
		}
		out = append(out, group)
	}
	return out
}

// smallestShown returns the smallest change of a benchmark that would have shown, as a share. Four of five such
// studies would find it. Without that number, it is the interval's half width or the noise.
func smallestShown(r *tare.Result, x tare.Comparison) float64 {
	if x.Exact {
		return 0
	}
	shown := math.Expm1(max(x.HalfWidth(), tare.NoiseFloor(r.Comparisons, x.Workload, x.Metric)))
	for _, m := range r.Machine.Resolution {
		if m.Workload == x.Workload && m.Metric == x.Metric && m.Found > 0 {
			shown = m.Found
		}
	}
	return shown
}
