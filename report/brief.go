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
	a := newAxis(s.width())
	text := s.paint(Dim, strings.Repeat(" ", a.at)+a.ticks()) + "\n" + block(r, s, a)
	return send(w, s, text)
}

// nextBrief writes the block of a further result, below the same scale.
func nextBrief(w io.Writer, r *tare.Result, s Style) error {
	return send(w, s, block(r, s, newAxis(s.width())))
}

// nameWidth is of the names of studies: json-encode, json-binary.
const nameWidth = 12

func block(r *tare.Result, s Style, a axis) string {
	lines := s.Lines
	if lines == 0 {
		lines = maxBlockLines
	}
	word, headline := answerWord(r)
	first := fmt.Sprintf("%-4s %-*s ", word, nameWidth, oneLine(r.Study))
	indent := columns(first)
	if s.width() < narrow {
		indent = 4 // a headline goes on below its name
	}
	p := &page{style: s, width: s.width()}
	wrapped := fold(headline, s.width()-columns(first), s.width()-indent)
	for i, text := range wrapped {
		switch {
		case i > 0:
			p.line(strings.Repeat(" ", indent) + text)
		default:
			p.line(s.paint(wordMark(word), first[:5]) + s.paint(Bold, first[5:]) + text)
		}
	}
	bars := barsOf(r)
	bars = bars[:min(len(bars), max(lines-len(wrapped), 1), maxBlockLines-1)]
	labels := barLabels(bars, r)
	for i, c := range bars {
		p.line(a.row(r, c, labels[i], s))
	}
	return p.b.String()
}

// answerWord returns the answer to the question in a word, and the rest of the headline:
// yes, no, part, open if it is undecided, void, or · if the question is none of yes and no.
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

func wordMark(word string) Mark {
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

// barsOf returns the comparisons that the block draws, the most important first: those
// that the headline and the line below it quote, those of criteria that are not met, and
// if there are none, the best of the first workload.
func barsOf(r *tare.Result) (out []tare.Comparison) {
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
	for _, v := range ruled(r) {
		if v.Verdict != tare.Met {
			add(v.Contender, v.Workload, v.Metric)
		}
	}
	if len(out) > 0 || len(r.Workloads) == 0 {
		return out
	}
	v := look(r, r.Workloads[0].ID, map[string]bool{})
	for _, c := range v.ranked {
		add(c.ID, v.workload, v.leading())
	}
	return out
}

// barLabels names bars by what differs between them, contender and part of the workload's
// name, and by the metric if it is not the primary one.
func barLabels(bars []tare.Comparison, r *tare.Result) (labels []string) {
	same := func(key func(tare.Comparison) string) bool {
		return !slices.ContainsFunc(bars, func(c tare.Comparison) bool { return key(c) != key(bars[0]) })
	}
	contender := same(func(c tare.Comparison) string { return c.Contender }) && len(bars) > 1
	workload := same(func(c tare.Comparison) string { return c.Workload })
	for _, c := range bars {
		var parts []string
		if !contender || workload {
			parts = append(parts, title(r, c.Contender))
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

// differingPart returns the segments of the name of a workload that not all bars have:
// unmarshal of devices-50/unmarshal beside devices-50/fields. It returns the last segment
// of a name that others continue.
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

// Widths of a terminal: below narrow a bar has no remark beside it and headlines wrap
// below names; from wide on, bars are longer.
const (
	narrow = 72
	wide   = 110
)

// axis is the scale of all bars: logarithmic, from ⅛× to 8×.
type axis struct {
	label, at, doubling int  // columns of a label, before the axis, and of a factor of two
	remarks             bool // whether there is room for them
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

func (a axis) cells() int { return 6*a.doubling + 1 }

// column returns where a ratio is drawn, which may be off the axis.
func (a axis) column(ratio float64) int {
	return int(math.Round((math.Log2(ratio) + 3) * float64(a.doubling)))
}

func (a axis) ticks() string {
	line := []rune(strings.Repeat(" ", a.cells()+2))
	for i, tick := range []string{"⅛×", "¼×", "½×", "1×", "2×", "4×", "8×"} {
		copy(line[i*a.doubling:], []rune(tick))
	}
	return strings.TrimRight(string(line), " ")
}

// row draws a comparison: a bar from the baseline │ to the ratio ● with its interval ━,
// the noise ░ on both sides of the baseline, and a limit ◇. A ratio inside the noise is ○.
func (a axis) row(r *tare.Result, c tare.Comparison, label string, s Style) string {
	floor := tare.NoiseFloor(r.Comparisons, c.Workload, c.Metric)
	differs := c.Exact || c.Differs(floor) == tare.Significant
	cells := []rune(strings.Repeat(" ", a.cells()))
	fill := func(from, to int, mark rune) {
		for i := max(min(from, to), 0); i <= min(max(from, to), len(cells)-1); i++ {
			cells[i] = mark
		}
	}
	one, at := a.column(1), a.column(c.Ratio)
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
		fill(a.column(c.Low), a.column(c.High), '━')
	}
	fill(one, one, '│')
	limit, remark := limitOf(r, c)
	if limit > 0 {
		fill(a.column(limit), a.column(limit), '◇')
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
	line := "    " + label + strings.Repeat(" ", a.label+1-columns(label)) + fmt.Sprintf("%6s ", format.Short(c.Ratio)+"×")
	switch {
	case !differs && remark == "":
		remark = "inside the noise"
	case remark == "" && c.Bounded() && format.Short(c.Low) != format.Short(c.High):
		remark = format.Short(c.Low) + "–" + format.Short(c.High)
	}
	if !a.remarks || remark == "" {
		return line + " " + s.paint(mark, drawing)
	}
	return line + " " + s.paint(mark, drawing) + strings.Repeat(" ", a.cells()-columns(drawing)+1) + s.paint(Dim, remark)
}

// limitOf returns the ratio that a criterion asks of a comparison, or that a claim
// published, and its remark. It returns 0 if there is none.
func limitOf(r *tare.Result, c tare.Comparison) (limit float64, remark string) {
	named := namedRatios(r, c.Contender, c.Workload, c.Metric)
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
