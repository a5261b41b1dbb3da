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

// Format brief prints several studies on one screen: a few lines (a block) per study, with bars on one scale.

// Lines of a block: a headline and one to three bars.
const (
	minBlockLines = 2
	maxBlockLines = 4
)

// Lines of a terminal that the output may fill, and lines outside of blocks. The latter are title, scale, empty
// line, totals, path of the page, and a spare one.
const (
	screenLines = 45
	aroundLines = 9
)

// BlockLines returns how many lines study i of n may print on a terminal of 45 lines. i counts from 0. The result
// is at least 2, even if the output then does not fit.
func BlockLines(i, n int) int {
	const room = screenLines - aroundLines
	share := room*(i+1)/max(n, 1) - room*i/max(n, 1)
	return min(max(share, minBlockLines), maxBlockLines)
}

// Brief writes the scale of the bars and the block of a result. A block has the answer in a word, the study's
// name, the headline, and up to three ratios to the baseline. The error is the writer's.
//
//	                               ⅛×   ¼×   ½×   1×   2×   4×   8×
//	·    json-encode  The one criterion is not met
//	    jsoniter-fastest    0.55×            ◇●───│░               asked ≤ 0.50 ◇
func Brief(w io.Writer, r *tare.Result, s Style) error {
	a := newAxis(s.pageWidth())
	text := s.paintText(Dim, strings.Repeat(" ", a.start)+a.formatTicks()) + "\n" + formatBlock(r, s, a)
	return writeText(w, s, text)
}

// nextBrief writes the block of a further result, without the scale.
func nextBrief(w io.Writer, r *tare.Result, s Style) error {
	return writeText(w, s, formatBlock(r, s, newAxis(s.pageWidth())))
}

const (
	answerWidth = 4  // columns of the answer word, e.g. open
	nameWidth   = 12 // columns of the longest study names, e.g. json-encode
)

func formatBlock(r *tare.Result, s Style, a axis) string {
	lines := s.Lines
	if lines == 0 {
		lines = maxBlockLines
	}
	word, headline := answerWord(r)
	answer := fmt.Sprintf("%-*s ", answerWidth, word)
	name := fmt.Sprintf("%-*s ", nameWidth, oneLine(r.Study))
	start := textWidth(answer + name)
	indent := start
	if s.pageWidth() < narrow {
		indent = answerWidth // the headline continues below the name
	}
	p := &textPage{style: s, width: s.pageWidth()}
	wrapped := wrapWords(headline, s.pageWidth()-start, s.pageWidth()-indent) // widths of the first and the other lines
	for i, text := range wrapped {
		if i == 0 {
			p.writeLine(s.paintText(markOfWord(word), answer) + s.paintText(Bold, name) + text)
		} else {
			p.writeLine(strings.Repeat(" ", indent) + text)
		}
	}
	bars := selectBars(r)
	maxBarLines := max(lines-len(wrapped), 0) // a long headline leaves no room for bars
	bars = bars[:min(len(bars), maxBarLines, maxBlockLines-1)]
	labels := barLabels(bars, r)
	for i, c := range bars {
		p.writeLine(a.formatRow(r, c, labels[i], s))
	}
	return p.b.String()
}

// answerWord returns the answer to the study's question as one word, and the rest of the headline. The word is
// yes, no, part (partly), open (undecided), void (nothing counts), or · for none.
func answerWord(r *tare.Result) (word, rest string) {
	headline, _ := Headline(r)
	rest = strings.TrimSuffix(headline, ".")
	start, afterColon, hasColon := strings.Cut(rest, ": ")
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
	isWordOnly := start == "Yes" || start == "No" || start == "Partly" || start == "No answer"
	if hasColon && isWordOnly {
		rest = afterColon // the word is not repeated
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

// selectBars returns the comparisons with the baseline that the block can draw, the most important first. Those
// that the headline quotes come before those of unmet criteria. Without any, it returns those of the first
// workload.
func selectBars(r *tare.Result) (out []tare.Comparison) {
	base := r.Baseline()
	add := func(contender, workload, metric string) {
		if contender == base || len(r.VoidsMetric(contender, workload, metric)) > 0 {
			return
		}
		for _, c := range r.Comparisons {
			isNamed := c.Contender == contender && c.Workload == workload && c.Metric == metric && c.Against == base
			isDrawable := c.Ratio > 0 && (c.Bounded() || c.Exact)
			if isNamed && isDrawable && !slices.Contains(out, c) {
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
	for _, c := range v.ranked { // sorted by ratio
		add(c.ID, v.workload, v.leadingMetric())
	}
	return out
}

// barLabels returns a label per bar from contender, workload and metric: "chi, unmarshal, allocs". It omits the
// parts that all bars share, and the primary metric.
func barLabels(bars []tare.Comparison, r *tare.Result) (labels []string) {
	isShared := func(key func(tare.Comparison) string) bool {
		return !slices.ContainsFunc(bars, func(c tare.Comparison) bool { return key(c) != key(bars[0]) })
	}
	sameContender := isShared(func(c tare.Comparison) string { return c.Contender })
	sameWorkload := isShared(func(c tare.Comparison) string { return c.Workload })
	for _, c := range bars {
		var parts []string
		if !sameContender || sameWorkload {
			parts = append(parts, contenderTitle(r, c.Contender))
		}
		if !sameWorkload {
			parts = append(parts, differingPart(bars, c.Workload))
		}
		if c.Metric != primaryMetric(r) {
			parts = append(parts, c.Metric)
		}
		labels = append(labels, oneLine(strings.Join(parts, ", ")))
	}
	return labels
}

// differingPart returns the segments of a workload's name that not all bars share. Next to devices-50/fields,
// devices-50/unmarshal becomes unmarshal.
func differingPart(bars []tare.Comparison, workload string) string {
	segments := strings.Split(workload, "/")
	isInAll := func(segment string) bool {
		for _, c := range bars {
			if !slices.Contains(strings.Split(c.Workload, "/"), segment) {
				return false
			}
		}
		return true
	}
	differing := slices.DeleteFunc(slices.Clone(segments), isInAll)
	if len(differing) == 0 {
		return segments[len(segments)-1]
	}
	return strings.Join(differing, "/")
}

// Terminal widths, in columns, that change the layout.
const (
	narrowest = 58  // below: shortest labels and bars
	narrow    = 72  // below: no remarks, and headlines continue below the name
	wide      = 110 // from this width on: longest labels and bars
)

const (
	barIndent  = 4 // columns before the label of a bar
	ratioWidth = 6 // columns of the ratio before a bar, × included
)

// The axis reaches from 2^-axisDoublings to 2^axisDoublings, or ⅛× to 8×.
const axisDoublings = 3

// axis is the logarithmic scale of all bars. Its fields are terminal columns.
type axis struct {
	label    int  // columns of a label
	start    int  // columns before the axis
	doubling int  // columns of a factor of two
	remarks  bool // remarks fit to the right of the axis
}

func newAxis(width int) axis {
	a := axis{label: 18, doubling: 5, remarks: true}
	switch {
	case width < narrowest:
		a = axis{label: 12, doubling: 3}
	case width < narrow:
		a = axis{label: 15, doubling: 4}
	case width >= wide:
		a = axis{label: 30, doubling: 8, remarks: true}
	}
	const spaces = 1 + 2 // after the label, and after the ratio
	a.start = barIndent + a.label + ratioWidth + spaces
	return a
}

func (a axis) countCells() int { return 2*axisDoublings*a.doubling + 1 }

// columnOf returns the column of a ratio, from the start of the axis. A ratio off the axis gets a column outside
// of it.
func (a axis) columnOf(ratio float64) int {
	return int(math.Round((math.Log2(ratio) + axisDoublings) * float64(a.doubling)))
}

// formatTicks returns the line with the ratios at every factor of two.
func (a axis) formatTicks() string {
	line := []rune(strings.Repeat(" ", a.countCells()+2)) // the last tick extends beyond the axis
	for i, tick := range []string{"⅛×", "¼×", "½×", "1×", "2×", "4×", "8×"} {
		copy(line[i*a.doubling:], []rune(tick))
	}
	return strings.TrimRight(string(line), " ")
}

// formatRow draws a comparison. │ is the baseline, ● the ratio, ━ its interval, ░ the noise, and ◇ a limit. ○ is a
// ratio without a significant difference. ◀ and ▶ are ratios off the axis. Later marks replace earlier ones in a
// column. To the right is the limit, "inside the noise" or the interval.
func (a axis) formatRow(r *tare.Result, c tare.Comparison, label string, s Style) string {
	floor := tare.NoiseFloor(r.Comparisons, c.Workload, c.Metric) // difference of the baseline from itself
	differs := c.Exact || c.Differs(floor) == tare.Significant
	cells := []rune(strings.Repeat(" ", a.countCells()))
	drawRun := func(from, to int, mark rune) {
		for i := max(min(from, to), 0); i <= min(max(from, to), len(cells)-1); i++ {
			cells[i] = mark
		}
	}
	baselineColumn, ratioColumn := a.columnOf(1), a.columnOf(c.Ratio)
	noiseColumns := int(math.Round(floor / math.Ln2 * float64(a.doubling))) // floor is a natural logarithm
	if !c.Exact {
		drawRun(baselineColumn-noiseColumns, baselineColumn+noiseColumns, '░')
	}
	color := Dim
	if differs {
		color = Good
		if c.Ratio > 1 {
			color = Warned
		}
		drawRun(baselineColumn, ratioColumn, '─')
	}
	if c.Bounded() {
		drawRun(a.columnOf(c.Low), a.columnOf(c.High), '━')
	}
	drawRun(baselineColumn, baselineColumn, '│')
	limit, remark := findLimit(r, c)
	if limit > 0 {
		drawRun(a.columnOf(limit), a.columnOf(limit), '◇')
	}
	switch {
	case ratioColumn < 0:
		cells[0] = '◀'
	case ratioColumn >= len(cells):
		cells[len(cells)-1] = '▶'
	case differs:
		cells[ratioColumn] = '●'
	default:
		cells[ratioColumn] = '○'
	}
	label = format.Clip(label, a.label)
	drawing := strings.TrimRight(string(cells), " ")
	line := strings.Repeat(" ", barIndent) + label + strings.Repeat(" ", a.label+1-textWidth(label)) + fmt.Sprintf("%*s ", ratioWidth, format.Short(c.Ratio)+"×")
	low, high := format.Short(c.Low), format.Short(c.High)
	switch {
	case remark != "": // the limit
	case !differs:
		remark = "inside the noise"
	case c.Bounded() && low != high:
		remark = low + "–" + high
	}
	line += " " + s.paintText(color, drawing)
	if !a.remarks || remark == "" {
		return line
	}
	return line + strings.Repeat(" ", a.countCells()-textWidth(drawing)+1) + s.paintText(Dim, remark)
}

// findLimit returns the limit of a criterion for a comparison, else the smallest published ratio, with a remark.
// It returns 0 if there is neither.
func findLimit(r *tare.Result, c tare.Comparison) (limit float64, remark string) {
	named := listNamedRatios(r, c.Contender, c.Workload, c.Metric)
	for _, n := range named {
		if n.Asked != "" {
			return n.Value, "asked " + n.Asked + " " + format.Short(n.Value) + " ◇"
		}
	}
	if len(named) == 0 {
		return 0, ""
	}
	return named[0].Value, "published " + format.Short(named[0].Value) + " ◇"
}
