package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Lines of the block of a study: its headline and a bar at least, three bars at most.
const (
	minBlockLines = 2
	maxBlockLines = 4
)

// screenLines is the number of lines that the blocks of several studies end in, with
// aroundBlocks before and after them.
const (
	screenLines  = 45
	aroundBlocks = 6
)

// BlockLines returns how many lines the block of each of n studies may have, for all of
// them to end in 45 lines.
func BlockLines(n int) int {
	return min(max((screenLines-aroundBlocks)/max(n, 1), minBlockLines), maxBlockLines)
}

// Brief writes the scale of the bars and the block of a result: its answer, name and
// headline, and a bar for each of up to three ratios that the headline quotes or a
// criterion that is not met is about. The error is the writer's.
func Brief(w io.Writer, r *tare.Result, s Style) error {
	a := newAxis(s.pageWidth())
	text := s.paintText(Dim, strings.Repeat(" ", a.at)+a.formatTicks()) + "\n" + formatBlock(r, s, a)
	return writeText(w, s, text)
}

// nextBrief writes the block of a further result, below the same scale.
func nextBrief(w io.Writer, r *tare.Result, s Style) error {
	return writeText(w, s, formatBlock(r, s, newAxis(s.pageWidth())))
}

// nameWidth is the width of the longest names of studies in columns: json-encode, json-binary.
const nameWidth = 12

func formatBlock(r *tare.Result, s Style, a axis) string {
	lines := s.Lines
	if lines == 0 {
		lines = maxBlockLines
	}
	word, headline := answerWord(r)
	first := fmt.Sprintf("%-4s %-*s ", word, nameWidth, oneLine(r.Study))
	indent := textWidth(first)
	if s.pageWidth() < narrow {
		indent = 4 // a headline continues below its name
	}
	p := &page{style: s, width: s.pageWidth()}
	wrapped := wrapWords(headline, s.pageWidth()-textWidth(first), s.pageWidth()-indent)
	for i, text := range wrapped {
		switch {
		case i > 0:
			p.writeLine(strings.Repeat(" ", indent) + text)
		default:
			p.writeLine(s.paintText(markOfWord(word), first[:5]) + s.paintText(Bold, first[5:]) + text)
		}
	}
	bars := selectBars(r)
	bars = bars[:min(len(bars), max(lines-len(wrapped), 1), maxBlockLines-1)]
	labels := barLabels(bars, r)
	for i, c := range bars {
		p.writeLine(a.formatRow(r, c, labels[i], s))
	}
	return p.b.String()
}

// answerWord returns the answer to the question as one word, and the rest of the headline: yes, no, part, open
// if it is undecided, void, or · if the question has no yes or no.
func answerWord(r *tare.Result) (word, rest string) {
	headline, _ := Headline(r)
	rest = strings.TrimSuffix(headline, ".")
	start, after, cut := strings.Cut(rest, ": ")
	switch {
	case r.Answer == "":
		return "·", rest
	case strings.HasPrefix(rest, "No answer"):
		word = "open"
		if strings.HasSuffix(rest, "void") || strings.HasSuffix(rest, "measured") {
			word = "void"
		}
	case strings.HasPrefix(rest, "Yes"):
		word = "yes"
	case strings.HasPrefix(rest, "Partly"):
		word = "part"
	case strings.HasPrefix(rest, "No ") || strings.HasPrefix(rest, "No:") || strings.HasPrefix(rest, "No,"):
		word = "no"
	default:
		return "·", rest
	}
	if cut && (start == "Yes" || start == "No" || start == "Partly" || start == "No answer") {
		rest = after
	}
	return word, rest
}

func markOfWord(word string) Mark {
	switch word {
	case "yes":
		return Good
	case "no", "void":
		return Bad
	case "part", "open":
		return Warned
	}
	return Dim
}

// selectBars returns the comparisons that the block draws, the most important first: those that the headline
// and the line below it quote, then those of criteria that are not met. If there are none, it returns those of
// the first workload, best first.
func selectBars(r *tare.Result) (out []tare.Comparison) {
	base := r.Baseline()
	add := func(contender, workload, metric string) {
		if contender == base {
			return
		}
		for _, c := range r.Comparisons {
			if c.Contender == contender && c.Workload == workload && c.Metric == metric && c.Against == base && c.Ratio > 0 && (c.Bounded() || c.Exact) && len(r.VoidsMetric(contender, workload, metric)) == 0 &&
				!slices.ContainsFunc(out, func(o tare.Comparison) bool { return o == c }) {
				out = append(out, c)
			}
		}
	}
	for _, q := range r.Quotes {
		add(q.Contender, q.Workload, q.Metric)
	}
	for _, v := range listRulings(r) {
		if v.Verdict != tare.Met {
			add(v.Contender, v.Workload, v.Metric)
		}
	}
	if len(out) > 0 || len(r.Workloads) == 0 {
		return out
	}
	v := newView(r, r.Workloads[0].ID)
	for _, c := range v.ranked {
		add(c.ID, v.workload, v.leadingMetric())
	}
	return out
}

// barLabels returns labels with the parts that differ between the bars, contender and part of the workload's
// name, and the metric unless it is the primary one.
func barLabels(bars []tare.Comparison, r *tare.Result) (labels []string) {
	same := func(key func(tare.Comparison) string) bool {
		return !slices.ContainsFunc(bars, func(c tare.Comparison) bool { return key(c) != key(bars[0]) })
	}
	contender := same(func(c tare.Comparison) string { return c.Contender }) && len(bars) > 1
	workload := same(func(c tare.Comparison) string { return c.Workload })
	for _, c := range bars {
		var parts []string
		if !contender || workload {
			parts = append(parts, contenderTitle(r, c.Contender))
		}
		if !workload {
			parts = append(parts, differingPart(bars, c.Workload))
		}
		if c.Metric != primaryMetric(r) {
			parts = append(parts, c.Metric)
		}
		labels = append(labels, oneLine(strings.Join(parts, ", ")))
	}
	return labels
}

// differingPart returns the segments of a workload's name that not all bars share: unmarshal for
// devices-50/unmarshal next to devices-50/fields. It returns the last segment if all are shared.
func differingPart(bars []tare.Comparison, workload string) string {
	segments := strings.Split(workload, "/")
	differing := slices.DeleteFunc(slices.Clone(segments), func(s string) bool {
		return !slices.ContainsFunc(bars, func(c tare.Comparison) bool { return !slices.Contains(strings.Split(c.Workload, "/"), s) })
	})
	if len(differing) == 0 {
		return segments[len(segments)-1]
	}
	return strings.Join(differing, "/")
}

// Widths of a terminal: below narrow a bar has no remark and headlines wrap
// below names; from wide on, bars are longer.
const (
	narrow = 72
	wide   = 110
)

// axis is the scale of all bars: logarithmic, from ⅛× to 8×.
type axis struct {
	label, at, doubling int  // columns of a label, before the axis, and of a factor of two
	remarks             bool // there is room for remarks
}

func newAxis(width int) axis {
	a := axis{label: 18, doubling: 5, remarks: true}
	switch {
	case width < narrow:
		a.label, a.doubling, a.remarks = 15, 4, false
		if width < 58 {
			a.label, a.doubling = 12, 3
		}
	case width >= wide:
		a.label, a.doubling = 30, 8
	}
	a.at = 4 + a.label + 1 + 7 + 1
	return a
}

func (a axis) countCells() int { return 6*a.doubling + 1 }

// columnOf returns the column of a ratio, which may be off the axis.
func (a axis) columnOf(ratio float64) int {
	return int(math.Round((math.Log2(ratio) + 3) * float64(a.doubling)))
}

func (a axis) formatTicks() string {
	line := []rune(strings.Repeat(" ", a.countCells()+2))
	for i, tick := range []string{"⅛×", "¼×", "½×", "1×", "2×", "4×", "8×"} {
		copy(line[i*a.doubling:], []rune(tick))
	}
	return strings.TrimRight(string(line), " ")
}

// formatRow draws a comparison: a bar from the baseline │ to the ratio ● with its interval ━, the noise ░ on
// both sides of the baseline, and a limit ◇. It draws a ratio inside the noise as ○.
func (a axis) formatRow(r *tare.Result, c tare.Comparison, label string, s Style) string {
	floor := tare.NoiseFloor(r.Comparisons, c.Workload, c.Metric)
	differs := c.Exact || c.Differs(floor) == tare.Significant
	cells := []rune(strings.Repeat(" ", a.countCells()))
	fill := func(from, to int, mark rune) {
		for i := max(min(from, to), 0); i <= min(max(from, to), len(cells)-1); i++ {
			cells[i] = mark
		}
	}
	one, at := a.columnOf(1), a.columnOf(c.Ratio)
	noise := int(math.Round(floor / math.Ln2 * float64(a.doubling)))
	if !c.Exact {
		fill(one-noise, one+noise, '░')
	}
	mark := Dim
	if differs {
		mark = Good
		if c.Ratio > 1 {
			mark = Warned
		}
		fill(one, at, '─')
	}
	if c.Bounded() {
		fill(a.columnOf(c.Low), a.columnOf(c.High), '━')
	}
	fill(one, one, '│')
	limit, remark := findLimit(r, c)
	if limit > 0 {
		fill(a.columnOf(limit), a.columnOf(limit), '◇')
	}
	switch {
	case at < 0:
		cells[0] = '◀'
	case at >= len(cells):
		cells[len(cells)-1] = '▶'
	case differs:
		cells[at] = '●'
	default:
		cells[at] = '○'
	}
	if n := []rune(label); len(n) > a.label {
		label = string(n[:a.label-1]) + "…"
	}
	drawing := strings.TrimRight(string(cells), " ")
	line := "    " + label + strings.Repeat(" ", a.label+1-textWidth(label)) + fmt.Sprintf("%6s ", format.Short(c.Ratio)+"×")
	switch {
	case !differs && remark == "":
		remark = "inside the noise"
	case remark == "" && c.Bounded() && format.Short(c.Low) != format.Short(c.High):
		remark = format.Short(c.Low) + "–" + format.Short(c.High)
	}
	if !a.remarks || remark == "" {
		return line + " " + s.paintText(mark, drawing)
	}
	return line + " " + s.paintText(mark, drawing) + strings.Repeat(" ", a.countCells()-textWidth(drawing)+1) + s.paintText(Dim, remark)
}

// findLimit returns the limit that a criterion sets for a comparison, or the ratio that a claim published, and
// its remark. It returns 0 if there is neither.
func findLimit(r *tare.Result, c tare.Comparison) (limit float64, remark string) {
	named := listNamedRatios(r, c.Contender, c.Workload, c.Metric)
	for _, n := range named {
		if n.Asked != "" {
			return n.Value, "asked " + n.Asked + " " + format.Short(n.Value) + " ◇"
		}
	}
	for _, n := range named {
		return n.Value, "published " + format.Short(n.Value) + " ◇"
	}
	return 0, ""
}
