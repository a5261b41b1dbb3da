// Package table writes a comparison of benchmarks on base and head for a terminal. The last column
// has benchstat's result for the same values:
//
//	time        base     head     head/base                          benchstat
//	Parse       1.2 µs   1.5 µs   1.25       [1.22, 1.28]  slower    +25.00% (p=0.000 n=12)
package table

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/perf/benchmath"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report"
	"github.com/tarebench/tare/stats"
)

// WriteText writes one table for each metric, with a row for each benchmark, then remarks.
func WriteText(w io.Writer, r *tare.Result, st report.Style) error {
	r = report.LegibleAll(r)
	t := &page{r: r, style: st}
	t.writeHead()
	for _, m := range r.Metrics {
		if metric, _ := tare.MetricNamed(m); metric.Counted {
			t.writeWork(metric)
		} else {
			t.writeMetric(m)
		}
	}
	t.writeReported()
	t.writeOverMachines()
	t.writeTail()
	_, err := io.WriteString(w, report.WrapLines(t.b.String(), st.Width))
	return err
}

type page struct {
	r     *tare.Result // each workload is a benchmark
	style report.Style
	b     strings.Builder
}

func (t *page) writeHead() {
	fmt.Fprintln(&t.b, format.Paint(t.style.Bold, t.r.Study))
	if headline, figures := report.Headline(t.r); t.r.Answer != "" {
		fmt.Fprintln(&t.b, format.Paint(t.style.Bold, headline))
		if figures != "" {
			fmt.Fprintln(&t.b, figures)
		}
	}
	for _, id := range []string{benchstudy.Base, benchstudy.Head} {
		c, _ := t.r.Contender(id)
		fmt.Fprintf(&t.b, "  %s  %s, %s\n", id, c.Version, c.Go)
	}
}

type column struct {
	name    string
	isRight bool // aligned to the right
}

func comparisonColumns(metric string) []column {
	return []column{
		{name: metric}, {name: benchstudy.Base, isRight: true}, {name: benchstudy.Head, isRight: true},
		{name: "head/base", isRight: true}, {}, {}, // interval and verdict have no heading
	}
}

const verdictColumn = 5

type row struct {
	cells  []string
	colour func(string) string // nil for plain text
}

// verdict contains the cells that compare head with base, e.g. 1.23, [1.20, 1.26] and slower.
type verdict struct {
	ratio, interval, label string
	colour                 func(string) string // nil for plain text
}

func (t *page) writeRows(columns []column, rows []row) {
	width := make([]int, len(columns))
	var names []string
	for i, c := range columns {
		names, width[i] = append(names, c.name), utf8.RuneCountInString(c.name)
	}
	for _, r := range rows {
		for i, cell := range r.cells {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	writeLine := func(cells []string, colour func(string) string) {
		var b strings.Builder
		for i, cell := range cells {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == verdictColumn {
				cell = format.Paint(colour, cell)
			}
			if columns[i].isRight {
				cell = pad + cell
			} else {
				cell += pad
			}
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(cell)
		}
		fmt.Fprintln(&t.b, strings.TrimRight(b.String(), " "))
	}
	fmt.Fprintln(&t.b)
	writeLine(names, nil)
	for _, r := range rows {
		writeLine(r.cells, r.colour)
	}
}

func (t *page) writeMetric(name string) {
	m, _ := tare.MetricNamed(name)
	var rows []row
	for _, w := range t.r.Workloads {
		base, head := t.sideValues(w.ID, benchstudy.Base, m.Key), t.sideValues(w.ID, benchstudy.Head, m.Key)
		if len(base)+len(head) == 0 {
			continue
		}
		v := t.judgeRow(w.ID, name, base, head)
		if name == t.r.Metrics[0] && slices.Contains(t.idsWithNote(benchstudy.HeadTests()), w.ID) {
			v.label += ", head's tests"
		}
		row := t.newRow(w.ID, m.Unit, stats.Median(base), stats.Median(head), v)
		row.cells = append(row.cells, benchstatText(base, head))
		if t.r.Divided() {
			row.cells = append(row.cells, t.r.MeasuredBy(w.ID))
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		columns := append(comparisonColumns(name), column{name: "benchstat"})
		if t.r.Divided() {
			columns = append(columns, column{name: "measured on"})
		}
		t.writeRows(columns, rows)
	}
}

func (t *page) newRow(workload, unit string, base, head float64, v verdict) row {
	baseText, headText := formatPair(unit, base, head)
	return row{cells: []string{t.shortName(workload), baseText, headText, v.ratio, v.interval, v.label}, colour: v.colour}
}

// writeWork writes the table of a metric that is counted outside of rounds, such as instructions. It
// has all counted benchmarks, whether they are timed or not.
func (t *page) writeWork(m tare.Metric) {
	var rows []row
	for _, c := range t.r.Comparisons {
		if c.Metric != m.Name {
			continue
		}
		v := t.describeCounts(c)
		if slices.Contains(t.idsWithNote(benchstudy.SameCode()), c.Workload) {
			v.label += ", same code"
		}
		if slices.Contains(t.idsWithNote(benchstudy.NotTimed()), c.Workload) {
			v.label += ", not timed"
		}
		rows = append(rows, t.newRow(c.Workload, m.Unit, c.AgainstValue, c.Value, v))
	}
	if len(rows) > 0 {
		t.writeRows(comparisonColumns(m.Name), rows)
	}
}

func (t *page) describeCounts(c tare.Comparison) verdict {
	if c.Exact {
		return t.describeExact(c.AgainstValue, c.Value)
	}
	v := verdict{ratio: format.Counted(c.Ratio), interval: "[" + format.Counted(c.Low) + ", " + format.Counted(c.High) + "]"}
	switch {
	case c.Differs(0) == tare.NotShown:
		v.label, v.colour = "no difference", t.style.Dim
	case c.Ratio < 1:
		v.label, v.colour = "less work", t.style.Good
	default:
		v.label, v.colour = "more work", t.style.Bad
	}
	return v
}

// writeOverMachines writes the verdicts over machines, if each measured all benchmarks.
func (t *page) writeOverMachines() {
	if len(t.r.Machines) == 0 || t.r.Divided() {
		return
	}
	table := report.OverMachines(t.r)
	var columns []column
	for _, c := range table.Columns {
		columns = append(columns, column{name: c.Name, isRight: c.Right})
	}
	var rows []row
	for _, r := range table.Rows {
		var cells []string
		for _, f := range r.Cells {
			cells = append(cells, t.shortenNames(f.Text))
		}
		rows = append(rows, row{cells: cells})
	}
	t.writeRows(columns, rows)
	for _, line := range report.MachinesVerdicts(t.r) {
		fmt.Fprintf(&t.b, "%s\n", t.shortenNames(line))
	}
	fmt.Fprintf(&t.b, "each machine measured both sides in its own rounds; the tables above are of %s\n", t.r.Machines[0].Name)
}

// shortenNames replaces "head, " and the id of a benchmark by its short name.
func (t *page) shortenNames(text string) string {
	for _, w := range t.r.Workloads {
		text = strings.Replace(text, benchstudy.Head+", "+w.ID, t.shortName(w.ID), 1)
	}
	return text
}

// writeReported writes the tables of metrics from b.ReportMetric. They are not judged, because
// whether more is better is unknown.
func (t *page) writeReported() {
	rows := map[string][]row{} // by unit
	var units []string
	for _, w := range t.r.Workloads {
		for _, unit := range benchstudy.ReportedUnits(t.r, w.ID) {
			base, head := t.sideValues(w.ID, benchstudy.Base, tare.KeyReported+unit), t.sideValues(w.ID, benchstudy.Head, tare.KeyReported+unit)
			if len(base) == 0 || len(head) == 0 {
				continue
			}
			if rows[unit] == nil {
				units = append(units, unit)
			}
			ratio := "–"
			if stats.Median(base) != 0 {
				ratio = format.Ratio(stats.Median(head) / stats.Median(base))
			}
			row := t.newRow(w.ID, "", stats.Median(base), stats.Median(head), verdict{ratio: ratio, label: "not judged", colour: t.style.Dim})
			row.cells = append(row.cells, benchstatText(base, head))
			rows[unit] = append(rows[unit], row)
		}
	}
	for _, unit := range units {
		t.writeRows(append(comparisonColumns(unit), column{name: "benchstat"}), rows[unit])
	}
}

// sideValues returns the values of a side, one per round without errors.
func (t *page) sideValues(workload, contender, key string) []float64 {
	var out []float64
	for _, trial := range t.r.Trials {
		s := trial.Samples[workload]
		isValid := trial.Tau == 1 && trial.Error == nil && s["errors"] == 0 // 1: slices (timed pieces) of the planned length
		if v, ok := s[key]; ok && isValid && trial.Contender == contender {
			out = append(out, v)
		}
	}
	return out
}

// judgeRow returns the verdict on one benchmark by one metric. base and head are values by round. A
// void measurement has no ratio.
func (t *page) judgeRow(workload, metric string, base, head []float64) verdict {
	for _, id := range []string{benchstudy.Head, benchstudy.Base} {
		if f := t.r.VoidsMetric(id, workload, metric); len(f) > 0 {
			return verdict{ratio: "–", label: "void: " + f[0].Check, colour: t.style.Bad}
		}
	}
	isPrimary := metric == t.r.Metrics[0]
	if !isPrimary && isConstant(base) && isConstant(head) {
		return t.describeExact(base[0], head[0])
	}
	c, ok := tare.FindComparison(t.r.Comparisons, workload, benchstudy.Head, metric)
	if !ok {
		if m, _ := tare.MetricNamed(metric); m.IsCount() {
			return t.compareCounts(base, head)
		}
		return verdict{ratio: "–", label: "–"}
	}
	v := verdict{ratio: format.Ratio(c.Ratio)}
	if !c.Bounded() {
		v.label, v.colour = "too few rounds", t.style.Dim
		return v
	}
	v.interval = "[" + format.Ratio(c.Low) + ", " + format.Ratio(c.High) + "]"
	v.label, v.colour = t.verdictLabel(c)
	if isPrimary && slices.Contains(t.idsWithNote(benchstudy.SameCode()), workload) {
		v.label += ", same code"
	}
	return v
}

// verdictLabel returns the label of a comparison with an interval, and its style. Within the noise
// floor, head is not called faster or slower: base differs as much from its own copy, the control.
func (t *page) verdictLabel(c tare.Comparison) (label string, colour func(string) string) {
	floor := tare.NoiseFloor(t.r.Comparisons, c.Workload, c.Metric)
	differs := c.Differs(floor)
	isShown := differs != tare.NotShown && differs != tare.WithinNoise
	if effect := t.r.Plan.Until; !isShown && c.Below(effect) {
		return "differs by less than " + format.Percent(effect), t.style.Dim
	}
	switch differs {
	case tare.NotShown:
		return "not significant", t.style.Dim
	case tare.WithinNoise:
		return fmt.Sprintf("within the control's ±%.1f %%", 100*math.Expm1(floor)), t.style.Dim
	}
	less, more := "less", "more"
	if c.Metric == "time" {
		less, more = "faster", "slower"
	}
	if c.Ratio < 1 {
		return less, t.style.Good
	}
	return more, t.style.Bad
}

// compareCounts returns the verdict on counts that vary and have no ratio, because some are zero.
func (t *page) compareCounts(base, head []float64) verdict {
	sign, _, ok := stats.CompareCounts(base, head)
	switch {
	case !ok && min(len(base), len(head)) == 0:
		return verdict{ratio: "–", label: "–"}
	case !ok:
		return verdict{ratio: "–", label: "not significant", colour: t.style.Dim}
	case sign > 0:
		return verdict{ratio: "–", interval: "in every round", label: "more", colour: t.style.Bad}
	case sign < 0:
		return verdict{ratio: "–", interval: "in every round", label: "less", colour: t.style.Good}
	}
	return verdict{ratio: "1", interval: "in every round", label: "the same", colour: t.style.Dim}
}

// describeExact returns the verdict on values that were the same in every round.
func (t *page) describeExact(base, head float64) verdict {
	v := verdict{ratio: "–", interval: "exactly"}
	if base > 0 {
		v.ratio = format.Ratio(head / base)
	}
	number := strconv.FormatFloat(math.Abs(head-base), 'f', -1, 64)
	switch {
	case head == base:
		v.ratio, v.label, v.colour = "1", "the same", t.style.Dim
	case head < base:
		v.label, v.colour = number+" less", t.style.Good
	default:
		v.label, v.colour = number+" more", t.style.Bad
	}
	return v
}

// benchstatText returns benchstat's verdict on the same values, each row by itself. It is that of
// the U test of Mann and Whitney at 5 %.
func benchstatText(base, head []float64) string {
	if len(base) == 0 || len(head) == 0 {
		return ""
	}
	th := benchmath.DefaultThresholds
	a, b := benchmath.NewSample(slices.Clone(base), &th), benchmath.NewSample(slices.Clone(head), &th)
	c := benchmath.AssumeNothing.Compare(a, b)
	return c.FormatDelta(stats.Median(base), stats.Median(head)) + " (" + c.String() + ")"
}

func (t *page) writeTail() {
	for _, e := range t.r.Explanations {
		fmt.Fprintf(&t.b, "\nwhy %s\n", t.shortName(e.Workload))
		for _, line := range report.Reasons(e, 0) {
			fmt.Fprintf(&t.b, "  %s\n", line)
		}
	}
	t.writeSummary()
	var uncounted []tare.NotWeighed
	for _, f := range t.r.Findings {
		switch {
		case f.Workload != "" && f.Check == benchstudy.NotCounted().ID: // listed below, by reason
			uncounted = append(uncounted, tare.NotWeighed{What: f.Workload, Why: f.Message})
		case f.Workload != "" && slices.Contains([]string{benchstudy.SameCode().ID, benchstudy.HeadTests().ID, benchstudy.NotTimed().ID}, f.Check):
			// The summary has the number of these notes.
		default:
			t.writeFinding(f)
		}
	}
	t.writeList("not counted", uncounted)
	t.writeList("not measured", t.r.NotWeighed)
}

func (t *page) writeSummary() {
	r := t.r
	if r.Counter != nil {
		fmt.Fprintf(&t.b, "\ninstructions: counted by %s, in user space, the collector off; they are work, not time\n", *r.Counter)
	}
	fmt.Fprintf(&t.b, "\n%s in %.0f s, seed %s, %s, stopped: %s\n", format.Count(r.RoundsDone, "round"), r.Seconds, r.Seed, r.Plan.Isolation, r.Stopped)
	if widest := t.widestNoise(); widest > 0 {
		fmt.Fprintf(&t.b, "base against itself, over the same rounds: time within ±%.1f %% at worst%s; what is shown of time holds for all rows together\n", 100*math.Expm1(widest), t.describeOneBuild())
	}
	for _, v := range r.Verdicts {
		if v.Criterion != "" {
			fmt.Fprintf(&t.b, "%s: %s\n", v.Verdict, v.Sentence)
		}
	}
	for _, note := range []struct {
		check check.Check
		line  string // %s is the number of benchmarks
	}{
		{benchstudy.SameCode(), "same code: the machine code of %s is the same on both sides; what differs is data, where code or data lies, or nothing\n"},
		{benchstudy.NotTimed(), "not timed: %s, whose code and count are the same on both sides; --all times them\n"},
		{benchstudy.HeadTests(), "head's tests: base runs %s with the test files and testdata of head\n"},
	} {
		if n := len(t.idsWithNote(note.check)); n > 0 {
			fmt.Fprintf(&t.b, note.line, format.Count(n, "benchmark"))
		}
	}
}

// writeFinding writes a line such as "warn control, head Parse: …; advice".
func (t *page) writeFinding(f tare.Finding) {
	subject := strings.TrimSpace(strings.Join([]string{f.Contender, t.shortName(f.Workload)}, " "))
	line := fmt.Sprintf("%s %s: %s", f.Severity, f.Check, f.Message)
	if subject != "" {
		line = fmt.Sprintf("%s %s, %s: %s", f.Severity, f.Check, subject, f.Message)
	}
	if f.Advice != "" {
		line += "; " + f.Advice
	}
	fmt.Fprintln(&t.b, line)
}

func (t *page) writeList(heading string, skipped []tare.NotWeighed) {
	if len(skipped) == 0 {
		return
	}
	fmt.Fprintf(&t.b, "\n%s\n", heading)
	for _, line := range t.linesByReason(skipped) {
		fmt.Fprintf(&t.b, "  %s\n", line)
	}
}

func (t *page) idsWithNote(note check.Check) (ids []string) {
	for _, f := range t.r.Findings {
		if f.Check == note.ID && f.Workload != "" {
			ids = append(ids, f.Workload)
		}
	}
	return ids
}

const maxNames = 4

// linesByReason returns a line for each reason, e.g. "BenchmarkA, BenchmarkB: it is in head only".
func (t *page) linesByReason(skipped []tare.NotWeighed) (lines []string) {
	names := map[string][]string{}
	var reasons []string
	for _, n := range skipped {
		if names[n.Why] == nil {
			reasons = append(reasons, n.Why)
		}
		names[n.Why] = append(names[n.Why], t.shortName(strings.TrimPrefix(n.What, "workload ")))
	}
	for _, why := range reasons {
		all := names[why]
		if more := len(all) - maxNames; more > 1 {
			all = append(all[:maxNames:maxNames], fmt.Sprintf("%d more", more))
		}
		lines = append(lines, strings.Join(all, ", ")+": "+strings.ReplaceAll(why, "\n", " "))
	}
	return lines
}

// widestNoise returns the largest noise floor, as the logarithm of a ratio.
func (t *page) widestNoise() float64 {
	var widest float64
	for _, w := range t.r.Workloads {
		widest = max(widest, tare.NoiseFloor(t.r.Comparisons, w.ID, t.r.Metrics[0]))
	}
	return widest
}

func (t *page) describeOneBuild() string {
	var widest tare.Resolution
	for _, x := range t.r.Machine.Resolution {
		if x.Metric == t.r.Metrics[0] && x.HalfWidth > widest.HalfWidth {
			widest = x
		}
	}
	if widest.Within == 0 {
		return ""
	}
	return fmt.Sprintf(" (±%.1f %% within one build and process; the rest is where code is, and processes)", 100*widest.Within)
}

func isConstant(values []float64) bool {
	return len(values) > 0 && slices.Min(values) == slices.Max(values)
}

// formatPair formats two values in one unit: times in the unit of the larger one, other values
// without a unit. NaN becomes a dash.
func formatPair(unit string, base, head float64) (baseText, headText string) {
	suffix, divisor := "", 1.0
	if unit == "ns/op" {
		suffix, divisor = timeUnit(max(base, head))
		suffix = " " + suffix
	}
	formatOne := func(x float64) string {
		if math.IsNaN(x) {
			return "–"
		}
		x /= divisor
		decimals := 0
		if x != math.Trunc(x) { // four significant digits
			decimals = max(0, 3-int(math.Floor(math.Log10(math.Abs(x)))))
		}
		return strconv.FormatFloat(x, 'f', min(decimals, 6), 64) + suffix
	}
	return formatOne(base), formatOne(head)
}

// timeUnit returns the largest unit in which a time in ns is at least 1, and its length in ns.
func timeUnit(time float64) (name string, ns float64) {
	switch {
	case time >= 1e9:
		return "s", 1e9
	case time >= 1e6:
		return "ms", 1e6
	case time >= 1e3:
		return "µs", 1e3
	}
	return "ns", 1
}

func (t *page) shortName(id string) string { return report.BenchmarkName(t.r, id) }
