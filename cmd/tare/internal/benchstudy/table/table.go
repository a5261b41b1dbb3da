// Package table writes a comparison of two sides of a user's benchmarks for a terminal, with
// benchstat's result for the same values in the last column.
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

// Text writes a comparison of two sides for a terminal: one table for each metric, a row for each
// benchmark, then remarks on them.
func Text(w io.Writer, r *tare.Result, st report.Style) error {
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

// page is a comparison that is being written.
type page struct {
	r     *tare.Result
	style report.Style
	b     strings.Builder
}

// writeHead writes the title, the headline with the line below it, and the sides.
func (t *page) writeHead() {
	fmt.Fprintln(&t.b, paint(t.style.Bold, t.r.Study))
	if headline, figures := report.Headline(t.r); t.r.Answer != "" {
		fmt.Fprintln(&t.b, paint(t.style.Bold, headline))
		if figures != "" {
			fmt.Fprintln(&t.b, figures)
		}
	}
	for _, id := range []string{benchstudy.Base, benchstudy.Head} {
		c, _ := t.r.Contender(id)
		fmt.Fprintf(&t.b, "  %s  %s, %s\n", id, c.Version, c.Go)
	}
}

// row is one benchmark in a table.
type row struct {
	cells  []string
	colour func(string) string // style of the verdict; nil for plain text
}

// writeRows writes rows below their header, in aligned columns. right has the columns that are aligned to
// the right, as numbers are.
func (t *page) writeRows(header []string, right []bool, rows []row) {
	width := make([]int, len(header))
	for _, cells := range append([][]string{header}, cellsOf(rows)...) {
		for i, c := range cells {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	line := func(cells []string, colour func(string) string) {
		var b strings.Builder
		for i, c := range cells {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i == verdictColumn {
				c = paint(colour, c)
			}
			if right[i] {
				c = pad + c
			} else {
				c += pad
			}
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(c)
		}
		fmt.Fprintln(&t.b, strings.TrimRight(b.String(), " "))
	}
	fmt.Fprintln(&t.b)
	line(header, nil)
	for _, r := range rows {
		line(r.cells, r.colour)
	}
}

// verdictColumn is the column that is printed in the row's colour.
const verdictColumn = 5

func cellsOf(rows []row) [][]string {
	var all [][]string
	for _, r := range rows {
		all = append(all, r.cells)
	}
	return all
}

// writeMetric writes the table of one metric.
func (t *page) writeMetric(name string) {
	m, _ := tare.MetricNamed(name)
	var rows []row
	for _, w := range t.r.Workloads {
		base, head := t.sideValues(w.ID, benchstudy.Base, m.Key), t.sideValues(w.ID, benchstudy.Head, m.Key)
		if len(base)+len(head) == 0 {
			continue
		}
		ratio, interval, word, colour := t.judgeRow(w.ID, name, base, head)
		if name == t.r.Metrics[0] && slices.Contains(t.idsWithNote(benchstudy.HeadTests()), w.ID) {
			word += ", head's tests"
		}
		b, h := formatPair(m.Unit, stats.Median(base), stats.Median(head))
		cells := []string{t.shortName(w.ID), b, h, ratio, interval, word, benchstatText(base, head)}
		if t.r.Divided() {
			cells = append(cells, t.r.MeasuredBy(w.ID))
		}
		rows = append(rows, row{cells, colour})
	}
	if len(rows) > 0 {
		header, right := []string{name, benchstudy.Base, benchstudy.Head, "head/base", "", "", "benchstat"}, []bool{false, true, true, true, false, false, false}
		if t.r.Divided() {
			header, right = append(header, "measured on"), append(right, false)
		}
		t.writeRows(header, right, rows)
	}
}

// writeWork writes the table of a metric that is counted outside of rounds. It has all counted
// benchmarks, whether they are timed or not.
func (t *page) writeWork(m tare.Metric) {
	var rows []row
	for _, c := range t.r.Comparisons {
		if c.Metric != m.Name {
			continue
		}
		ratio, interval, word, colour := t.describeCounts(c)
		if slices.Contains(t.idsWithNote(benchstudy.SameCode()), c.Workload) {
			word += ", same code"
		}
		if slices.Contains(t.idsWithNote(benchstudy.NotTimed()), c.Workload) {
			word += ", not timed"
		}
		b, h := formatPair(m.Unit, c.AgainstValue, c.Value)
		rows = append(rows, row{[]string{t.shortName(c.Workload), b, h, ratio, interval, word}, colour})
	}
	if len(rows) > 0 {
		t.writeRows([]string{m.Name, benchstudy.Base, benchstudy.Head, "head/base", "", ""}, []bool{false, true, true, true, false, false}, rows)
	}
}

// describeCounts returns the ratio of counts with its interval, and the verdict on it.
func (t *page) describeCounts(c tare.Comparison) (ratio, interval, word string, colour func(string) string) {
	if c.Exact {
		return t.describeExact(c.AgainstValue, c.Value)
	}
	ratio, interval = format.Counted(c.Ratio), "["+format.Counted(c.Low)+", "+format.Counted(c.High)+"]"
	switch {
	case c.Differs(0) == tare.NotShown:
		return ratio, interval, "no difference", t.style.Dim
	case c.Ratio < 1:
		return ratio, interval, "less work", t.style.Good
	}
	return ratio, interval, "more work", t.style.Bad
}

// writeOverMachines writes the verdicts over machines, if each of several machines measured all
// benchmarks. The tables above are then of the first machine.
func (t *page) writeOverMachines() {
	if len(t.r.Machines) == 0 || t.r.Divided() {
		return
	}
	table := report.OverMachines(t.r)
	var header []string
	var right []bool
	for _, c := range table.Columns {
		header, right = append(header, c.Name), append(right, c.Right)
	}
	var rows []row
	for _, r := range table.Rows {
		var cells []string
		for _, f := range r.Cells {
			cells = append(cells, t.shortenNames(f.Text))
		}
		rows = append(rows, row{cells: cells})
	}
	t.writeRows(header, right, rows)
	for _, line := range report.MachinesVerdicts(t.r) {
		fmt.Fprintf(&t.b, "%s\n", t.shortenNames(line))
	}
	fmt.Fprintf(&t.b, "each machine measured both sides in its own rounds; the tables above are of %s\n", t.r.Machines[0].Name)
}

// shortenNames replaces "head, " and the id of a benchmark by the benchmark's short name: all rows are
// about the head.
func (t *page) shortenNames(text string) string {
	for _, w := range t.r.Workloads {
		text = strings.Replace(text, benchstudy.Head+", "+w.ID, t.shortName(w.ID), 1)
	}
	return text
}

// writeReported writes the tables of metrics that benchmarks report by b.ReportMetric. They are not
// judged: whether more is better is unknown.
func (t *page) writeReported() {
	units := map[string][]row{}
	var order []string
	for _, w := range t.r.Workloads {
		for _, unit := range benchstudy.Reported(t.r, w.ID) {
			base, head := t.sideValues(w.ID, benchstudy.Base, tare.KeyReported+unit), t.sideValues(w.ID, benchstudy.Head, tare.KeyReported+unit)
			if len(base) == 0 || len(head) == 0 {
				continue
			}
			if units[unit] == nil {
				order = append(order, unit)
			}
			ratio := "–"
			if stats.Median(base) != 0 {
				ratio = format.Ratio(stats.Median(head) / stats.Median(base))
			}
			b, h := formatPair("", stats.Median(base), stats.Median(head))
			units[unit] = append(units[unit], row{[]string{t.shortName(w.ID), b, h, ratio, "", "not judged", benchstatText(base, head)}, t.style.Dim})
		}
	}
	for _, unit := range order {
		t.writeRows([]string{unit, benchstudy.Base, benchstudy.Head, "head/base", "", "", "benchstat"}, []bool{false, true, true, true, false, false, false}, units[unit])
	}
}

// sideValues returns the values of a side, one per round without errors.
func (t *page) sideValues(workload, contender, key string) []float64 {
	var out []float64
	for _, trial := range t.r.Trials {
		s := trial.Samples[workload]
		if v, ok := s[key]; ok && trial.Contender == contender && trial.Tau == 1 && trial.Error == nil && s["errors"] == 0 {
			out = append(out, v)
		}
	}
	return out
}

// judgeRow returns the ratio of one row with its interval, and the verdict on it.
func (t *page) judgeRow(workload, metric string, base, head []float64) (ratio, interval, word string, colour func(string) string) {
	for _, id := range []string{benchstudy.Head, benchstudy.Base} {
		if f := t.r.VoidsMetric(id, workload, metric); len(f) > 0 {
			return "–", "", "void: " + f[0].Check, t.style.Bad
		}
	}
	if metric != t.r.Metrics[0] && isConstant(base) && isConstant(head) && len(base) > 0 && len(head) > 0 {
		return t.describeExact(base[0], head[0])
	}
	i := slices.IndexFunc(t.r.Comparisons, func(c tare.Comparison) bool {
		return c.Workload == workload && c.Contender == benchstudy.Head && c.Metric == metric
	})
	if i < 0 {
		if m, _ := tare.MetricNamed(metric); m.IsCount() {
			return t.compareCounts(base, head)
		}
		return "–", "", "–", nil
	}
	c := t.r.Comparisons[i]
	ratio = format.Ratio(c.Ratio)
	if !c.Bounded() {
		return ratio, "", "too few rounds", t.style.Dim
	}
	interval = "[" + format.Ratio(c.Low) + ", " + format.Ratio(c.High) + "]"
	word, colour = t.verdictLabel(c)
	if metric == t.r.Metrics[0] && slices.Contains(t.idsWithNote(benchstudy.SameCode()), workload) {
		word += ", same code"
	}
	return ratio, interval, word, colour
}

// verdictLabel returns the label of a comparison that has an interval, and its style. A difference
// within the noise floor, which the control shows as well, is not called one.
func (t *page) verdictLabel(c tare.Comparison) (string, func(string) string) {
	less, more := "less", "more"
	if c.Metric == "time" {
		less, more = "faster", "slower"
	}
	floor := tare.NoiseFloor(t.r.Comparisons, c.Workload, c.Metric)
	switch c.Differs(floor) {
	case tare.NotShown, tare.WithinNoise:
		if effect := t.r.Plan.Until; c.Below(effect) {
			return "differs by less than " + format.Percent(effect), t.style.Dim
		}
	}
	switch c.Differs(floor) {
	case tare.NotShown:
		return "not significant", t.style.Dim
	case tare.WithinNoise:
		return fmt.Sprintf("within the control's ±%.1f %%", 100*math.Expm1(floor)), t.style.Dim
	}
	if c.Ratio < 1 {
		return less, t.style.Good
	}
	return more, t.style.Bad
}

// compareCounts compares counts that vary and have no interval of a ratio, because a side is zero in
// some round.
func (t *page) compareCounts(base, head []float64) (ratio, interval, word string, colour func(string) string) {
	sign, _, ok := stats.CompareCounts(base, head)
	switch {
	case !ok && min(len(base), len(head)) == 0:
		return "–", "", "–", nil
	case !ok:
		return "–", "", "not significant", t.style.Dim
	case sign > 0:
		return "–", "in every round", "more", t.style.Bad
	case sign < 0:
		return "–", "in every round", "less", t.style.Good
	}
	return "1", "in every round", "the same", t.style.Dim
}

// describeExact returns the difference of values that were the same in every round.
func (t *page) describeExact(base, head float64) (ratio, interval, word string, colour func(string) string) {
	ratio = "–"
	if base > 0 {
		ratio = format.Ratio(head / base)
	}
	number := strconv.FormatFloat(math.Abs(head-base), 'f', -1, 64)
	switch {
	case head == base:
		return "1", "exactly", "the same", t.style.Dim
	case head < base:
		return ratio, "exactly", number + " less", t.style.Good
	}
	return ratio, "exactly", number + " more", t.style.Bad
}

// benchstatText returns benchstat's verdict on the same values. benchstat compares them as two samples,
// by the U test of Mann and Whitney at 5 %, each row by itself.
func benchstatText(base, head []float64) string {
	if len(base) == 0 || len(head) == 0 {
		return ""
	}
	th := benchmath.DefaultThresholds
	a, b := benchmath.NewSample(slices.Clone(base), &th), benchmath.NewSample(slices.Clone(head), &th)
	c := benchmath.AssumeNothing.Compare(a, b)
	return c.FormatDelta(stats.Median(base), stats.Median(head)) + " (" + c.String() + ")"
}

// writeTail writes everything below the tables: causes of differences, a summary of the run, verdicts,
// findings, and the benchmarks that were not counted or not measured.
func (t *page) writeTail() {
	r := t.r
	for _, e := range r.Explanations {
		fmt.Fprintf(&t.b, "\nwhy %s\n", t.shortName(e.Workload))
		for _, line := range report.Reasons(e, 0) {
			fmt.Fprintf(&t.b, "  %s\n", line)
		}
	}
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
	if same := len(t.idsWithNote(benchstudy.SameCode())); same > 0 {
		fmt.Fprintf(&t.b, "same code: the machine code of %s is the same on both sides; what differs is data, where code or data lies, or nothing\n", format.Count(same, "benchmark"))
	}
	if untimed := len(t.idsWithNote(benchstudy.NotTimed())); untimed > 0 {
		fmt.Fprintf(&t.b, "not timed: %s, whose code and count are the same on both sides; --all times them\n", format.Count(untimed, "benchmark"))
	}
	if tests := len(t.idsWithNote(benchstudy.HeadTests())); tests > 0 {
		fmt.Fprintf(&t.b, "head's tests: base runs %s with the test files and testdata of head\n", format.Count(tests, "benchmark"))
	}
	for _, f := range r.Findings {
		if f.Workload != "" && slices.Contains([]string{benchstudy.SameCode().ID, benchstudy.HeadTests().ID, benchstudy.NotTimed().ID}, f.Check) {
			continue // counted above
		}
		if f.Check == benchstudy.NotCounted().ID && f.Workload != "" {
			continue // listed below, by reason
		}
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
	var uncounted []tare.NotWeighed
	for _, f := range r.Findings {
		if f.Check == benchstudy.NotCounted().ID && f.Workload != "" {
			uncounted = append(uncounted, tare.NotWeighed{What: f.Workload, Why: f.Message})
		}
	}
	t.writeList("not counted", uncounted)
	t.writeList("not measured", r.NotWeighed)
}

// writeList writes a heading and the skipped benchmarks, a line for each reason; nothing if left is
// empty.
func (t *page) writeList(heading string, left []tare.NotWeighed) {
	if len(left) == 0 {
		return
	}
	fmt.Fprintf(&t.b, "\n%s\n", heading)
	for _, line := range t.byReason(left) {
		fmt.Fprintf(&t.b, "  %s\n", line)
	}
}

// idsWithNote returns the ids of the workloads with a note.
func (t *page) idsWithNote(note check.Check) (ids []string) {
	for _, f := range t.r.Findings {
		if f.Check == note.ID && f.Workload != "" {
			ids = append(ids, f.Workload)
		}
	}
	return ids
}

// maxNames limits the benchmarks that are named for one reason.
const maxNames = 4

// byReason returns a line for each reason: the names of its benchmarks, and the reason.
func (t *page) byReason(left []tare.NotWeighed) (lines []string) {
	names := map[string][]string{}
	var reasons []string
	for _, n := range left {
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

// widestNoise returns the largest noise floor of the first metric, as the logarithm of a ratio.
func (t *page) widestNoise() float64 {
	var widest float64
	for _, w := range t.r.Workloads {
		widest = max(widest, tare.NoiseFloor(t.r.Comparisons, w.ID, t.r.Metrics[0]))
	}
	return widest
}

// describeOneBuild returns a clause about the part of the widest noise that a single build and process
// has; "" if it is unknown.
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

// isConstant reports whether there are values and all of them are equal.
func isConstant(values []float64) bool {
	return len(values) > 0 && slices.Min(values) == slices.Max(values)
}

// formatPair formats two values of a row in one unit: times in the unit of the larger one, other values
// without a unit. NaN, a missing value, becomes a dash.
func formatPair(unit string, base, head float64) (string, string) {
	divisor := 1.0
	if larger := max(base, head); unit == "ns/op" {
		for _, u := range []struct {
			name string
			ns   float64
		}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}} {
			if unit, divisor = u.name, u.ns; larger >= u.ns {
				break
			}
		}
	} else {
		unit = ""
	}
	print := func(x float64) string {
		if math.IsNaN(x) {
			return "–"
		}
		x /= divisor
		decimals := 0
		if x != math.Trunc(x) { // four significant digits
			decimals = max(0, 3-int(math.Floor(math.Log10(math.Abs(x)))))
		}
		return strings.TrimSpace(strconv.FormatFloat(x, 'f', min(decimals, 6), 64) + " " + unit)
	}
	return print(base), print(head)
}

// shortName returns the name of a benchmark or package within the module.
func (t *page) shortName(id string) string { return report.BenchmarkName(t.r, id) }

// paint applies f, a style's function, unless it is nil.
func paint(f func(string) string, text string) string {
	if f == nil || text == "" {
		return text
	}
	return f(text)
}
