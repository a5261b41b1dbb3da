package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const (
	decompositionHeading = "Who paid for what"
	causeLength          = 30 // characters of a cause in a terminal's table; a note has all of it
	barWidth             = 22 // columns of the longest bar
)

// addDecomposition adds a table per decomposition, with bars on a terminal. A decomposition splits the difference
// between two contenders into steps. Without steps, its sentence has the reason.
func (s *Section) addDecomposition(r *tare.Result) {
	if len(r.Decomposition) == 0 {
		return
	}
	s.addText(Dim, decompositionMeans)
	hasBars := false
	for _, d := range r.Decomposition {
		s.addSpace()
		s.addText(Bold, decompositionTitle(r, d))
		if len(d.Steps) == 0 {
			s.addText(Warned, d.Sentence)
			continue
		}
		s.addText(Plain, d.Sentence)
		s.addSpace()
		t := newShareTable(r, d)
		s.addOnly(forText, func() { s.addTable("", "", addBars(r, d, t)) })
		s.addOnly(forMarkdown, func() { s.addTable("", "", nameSteps(t)) })
		s.addOnly(forHTML, func() { s.addTable("steps", d.ID, t) })
		hasBars = true
	}
	if hasBars {
		s.addSpace()
		s.addOnly(forText, func() { s.addText(Dim, barsMean) })
	}
}

// addBars returns t for a terminal, with a last column of bars. Long causes become notes.
func addBars(r *tare.Result, d tare.Decomposition, t Table) Table {
	t = t.dropColumns() // a copy, because other formats use t too
	for i := range t.Rows {
		row := &t.Rows[i]
		if name := oneLine(row.Cells[0].Text); textWidth(name) > causeLength {
			if len(row.Notes) == 0 {
				row.Notes = []string{name}
			} else {
				row.Notes = append([]string{name + " (" + row.Notes[0] + ")"}, row.Notes[1:]...)
			}
			row.Cells[0].Text = format.Clip(name, causeLength)
		}
	}
	t.Columns = append(t.Columns, Column{Name: "added up"})
	bars := drawWaterfall(d)
	if factor, _ := unexplainedFactor(r, d); factor > 0 {
		bars = slices.Insert(bars, len(bars)-1, "") // the unexplained rest has no bar
	}
	for i, bar := range bars {
		t.Rows[i].Cells = append(t.Rows[i].Cells, Field{Text: bar})
	}
	return t
}

// nameSteps returns t with the notes of its rows in the first column.
func nameSteps(t Table) Table {
	t = t.dropColumns() // a copy
	for i, r := range t.Rows {
		if len(r.Notes) > 0 {
			t.Rows[i].Cells[0].Text += " (" + strings.Join(r.Notes, "; ") + ")"
		}
		t.Rows[i].Notes = nil
	}
	return t
}

const (
	decompositionMeans = "A difference taken apart: each step changes one thing, and its ratio is the figure of the contender it leads to over that of the one before it; all of them multiplied give the ratio of the whole, but for what is left unexplained. Ratios are medians over rounds, so they need not be the quotients of the medians printed next to them. A share is what a step adds, as a part of the whole difference; below 0 it takes away. Shares depend on the order of the steps: a cost that comes later is added to a larger figure."
	barsMean           = "Bars: █ is what a step adds to what stands before it, ░ what it takes away; dots lead up to it."
)

func decompositionTitle(r *tare.Result, d tare.Decomposition) string {
	scope := fmt.Sprintf("%s on %s, step by step from %s to %s", d.Metric, d.Workload, contenderTitle(r, d.Whole.From), contenderTitle(r, d.Whole.To))
	if d.Question == "" {
		return d.ID + ": " + scope
	}
	return d.ID + ": " + d.Question + " (" + scope + ")"
}

// newShareTable returns rows for the first contender, the steps, the unexplained rest and the total.
func newShareTable(r *tare.Result, d tare.Decomposition) Table {
	s := stepScale(r, d)
	level := d.Whole.Level // the level in the header
	if len(d.Steps) > 0 {
		level = d.Steps[0].Level // usually that of all steps
	}
	unit := "ratio [interval]"
	if level > 0 {
		unit = "ratio [" + formatLevel(level) + " interval]"
	}
	t := Table{Columns: []Column{
		{Name: "step"},
		{Name: d.Metric, Unit: s.unit, Right: true},
		{Name: "after / before", Unit: unit},
		{Name: "multiplied", Unit: "so far", Right: true},
		{Name: "share", Unit: "% [interval]"},
	}}
	start := Field{Text: s.formatValue(d.Whole.FromValue)}
	if len(r.VoidsMetric(d.Whole.From, d.Workload, d.Metric)) > 0 {
		start = struckField(start.Text)
	}
	t.Rows = append(t.Rows, Row{Cells: []Field{
		stepCell:    {Text: "start: " + contenderTitle(r, d.Whole.From)},
		valueCell:   start,
		ratioCell:   {Text: noValue},
		productCell: {Text: "1"},
		shareCell:   {Text: noValue},
	}})
	product := 1.0 // of the ratios so far
	for _, step := range d.Steps {
		product *= step.Ratio
		if isVoidStep(r, d, step) {
			product = 0 // unknown: later rows print no product
		}
		row := newStepRow(r, d, step, s, level)
		row.Cells[productCell].Text = format.Ratio(product)
		t.Rows = append(t.Rows, row)
	}
	if factor, share := unexplainedFactor(r, d); factor > 0 {
		t.Rows = append(t.Rows, Row{Cells: []Field{
			stepCell:    {Text: "left unexplained"},
			valueCell:   {Text: noValue},
			ratioCell:   {Text: format.Ratio(factor)},
			productCell: {Text: format.Ratio(product * factor)},
			shareCell:   {Text: share},
		}})
	}
	total := newStepRow(r, d, d.Whole, s, level)
	total.Cells[stepCell].Text, total.Apart = "the whole", true
	t.Rows = append(t.Rows, total)
	return t
}

func stepScale(r *tare.Result, d tare.Decomposition) scale {
	values := []float64{d.Whole.FromValue, d.Whole.ToValue}
	for _, step := range d.Steps {
		values = append(values, step.ToValue)
	}
	s := newScale(d.Whole.Unit, values)
	if (&view{r: r, workload: d.Workload}).hasRequests() {
		s.unit = requestUnit(s.unit)
	}
	return s
}

// Cells of a row of newShareTable.
const (
	stepCell = iota
	valueCell
	ratioCell
	productCell
	shareCell
)

// newStepRow returns the row of a step or of the total, without its product. An interval of this level
// needs no note, because the column's header has it.
func newStepRow(r *tare.Result, d tare.Decomposition, step tare.Cause, s scale, level float64) Row {
	value, share := s.formatValue(step.ToValue), Field{Text: noValue}
	switch {
	case step == d.Whole && hasShares(d):
		share.Text = "100"
	case hasShare(step):
		share.Text = formatShare(step.Share) + " [" + formatShare(step.ShareLow) + ", " + formatShare(step.ShareHigh) + "]"
	}
	row := Row{
		Cells: []Field{
			stepCell:    {Text: step.Cause},
			valueCell:   {Text: value},
			ratioCell:   {Text: format.Ratio(step.Ratio) + " " + formatInterval(step.Low, step.High)},
			productCell: {Text: noValue},
			shareCell:   share,
		},
		Notes: []string{contenderTitle(r, step.To) + " over " + contenderTitle(r, step.From)},
	}
	if hasInterval := step.Level > 0 && step.Low > 0; hasInterval && formatLevel(step.Level) != formatLevel(level) {
		row.Notes[0] += ", its interval at " + formatLevel(step.Level)
	}
	for _, id := range []string{step.From, step.To} {
		if voids := r.VoidsMetric(id, d.Workload, d.Metric); len(voids) > 0 {
			row.Cells[valueCell] = struckField(value)
			row.Cells[ratioCell] = struckField(format.Ratio(step.Ratio))
			row.Cells[shareCell] = Field{Text: noValue}
			row.Notes = append(row.Notes, contenderTitle(r, id)+" is void by "+voids[0].Check)
		}
	}
	return row
}

// hasShares reports whether the steps have shares. They need a significant total difference.
func hasShares(d tare.Decomposition) bool { return slices.ContainsFunc(d.Steps, hasShare) }

func hasShare(step tare.Cause) bool {
	return step.Share != 0 || step.ShareLow != 0 || step.ShareHigh != 0
}

func formatShare(share float64) string {
	text := strings.TrimSuffix(formatPercent(share), " %")
	if text == "-0" { // a small negative share
		return "0"
	}
	return text
}

// drawWaterfall returns bars for the first contender, each step, and the last contender. A step's bar reaches from
// the value before it to the value after it:
//
//	████████
//	········██████
//	·········░░░░░
//	█████████
func drawWaterfall(d tare.Decomposition) []string {
	longest := max(d.Whole.FromValue, d.Whole.ToValue)
	for _, step := range d.Steps {
		longest = max(longest, step.FromValue, step.ToValue)
	}
	columnOf := func(value float64) int {
		if !(longest > 0) || !(value > 0) || math.IsInf(longest, 1) {
			return 0
		}
		return min(int(math.Round(value/longest*barWidth)), barWidth)
	}
	bars := []string{strings.Repeat("█", columnOf(d.Whole.FromValue))}
	for _, step := range d.Steps {
		low, high := columnOf(min(step.FromValue, step.ToValue)), columnOf(max(step.FromValue, step.ToValue))
		mark := "█"
		if step.ToValue < step.FromValue {
			mark = "░"
		}
		if low == high && step.ToValue != step.FromValue {
			mark, high = "▏", low+1 // less than half a column is invisible
		}
		bars = append(bars, strings.Repeat("·", low)+strings.Repeat(mark, high-low))
	}
	return append(bars, strings.Repeat("█", columnOf(d.Whole.ToValue)))
}
