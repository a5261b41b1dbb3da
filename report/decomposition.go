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

func (s *Section) addDecomposition(r *tare.Result) {
	if len(r.Decomposition) == 0 {
		return
	}
	s.addText(Dim, decompositionMeans)
	drawn := false
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
		s.addOnly(forMarkdown|forHTML, func() { s.addTable("steps", d.ID, t) })
		s.addOnly(forMarkdown, func() { s.addList("", unlabelledItems(Plain, listStepNotes(t)...)...) })
		drawn = true
	}
	if drawn {
		s.addSpace()
		s.addOnly(forText, func() { s.addText(Dim, barsMean) })
	}
}

// addBars returns t as a terminal shows it: with long causes as notes, and a last column of bars.
func addBars(r *tare.Result, d tare.Decomposition, t Table) Table {
	t = t.dropColumns()
	for i := range t.Rows {
		row := &t.Rows[i]
		if name := oneLine(row.Cells[0].Text); textWidth(name) > causeLength {
			if len(row.Notes) > 0 {
				row.Notes = append([]string{name + " (" + row.Notes[0] + ")"}, row.Notes[1:]...)
			} else {
				row.Notes = []string{name}
			}
			row.Cells[0].Text = truncateText(name, causeLength)
		}
	}
	t.Columns = append(t.Columns, Column{Name: "added up"})
	bars := drawWaterfall(d)
	if left, _ := unexplainedFactor(r, d); left > 0 {
		bars = slices.Insert(bars, len(bars)-1, "")
	}
	for i, bar := range bars {
		t.Rows[i].Cells = append(t.Rows[i].Cells, Field{Text: bar})
	}
	return t
}

// listStepNotes returns the contenders before and after each step, a line per row with notes.
func listStepNotes(t Table) []string {
	var lines []string
	for _, r := range t.Rows {
		if len(r.Notes) > 0 {
			lines = append(lines, r.Cells[0].Text+": "+strings.Join(r.Notes, "; "))
		}
	}
	return lines
}

const (
	decompositionMeans = "A difference taken apart: each step changes one thing, and its ratio is the figure of the contender it leads to over that of the one before it; all of them multiplied give the ratio of the whole, but for what is left unexplained. A share is what a step adds, as a part of the whole difference; below 0 it takes away. Shares depend on the order of the steps: a cost that comes later is added to a larger figure."
	barsMean           = "Bars: █ is what a step adds to what stands before it, ░ what it takes away; dots lead up to it."
)

// decompositionTitle returns the question of a decomposition with its metric, workload and contenders.
func decompositionTitle(r *tare.Result, d tare.Decomposition) string {
	of := fmt.Sprintf("%s on %s, step by step from %s to %s", d.Metric, d.Workload, contenderTitle(r, d.Whole.From), contenderTitle(r, d.Whole.To))
	if d.Question == "" {
		return d.ID + ": " + of
	}
	return d.ID + ": " + d.Question + " (" + of + ")"
}

// newShareTable returns the start of a decomposition, its steps, the unexplained rest and the total.
func newShareTable(r *tare.Result, d tare.Decomposition) Table {
	s := stepScale(r, d)
	usual := d.Whole.Level
	if len(d.Steps) > 0 {
		usual = d.Steps[0].Level
	}
	unit := "ratio [interval]"
	if usual > 0 {
		unit = "ratio [" + formatLevel(usual) + " interval]"
	}
	t := Table{Columns: []Column{
		{Name: "step"}, {Name: d.Metric, Unit: s.unit, Right: true}, {Name: "after / before", Unit: unit}, {Name: "multiplied", Unit: "so far", Right: true}, {Name: "share", Unit: "% [interval]"},
	}}
	start := Field{Text: s.formatValue(d.Whole.FromValue)}
	if len(r.VoidsMetric(d.Whole.From, d.Workload, d.Metric)) > 0 {
		start = struckField(start.Text)
	}
	t.Rows = append(t.Rows, Row{Cells: []Field{{Text: "start: " + contenderTitle(r, d.Whole.From)}, start, {Text: nothing}, {Text: "1"}, {Text: nothing}}})
	product := 1.0
	for _, step := range d.Steps {
		product *= step.Ratio
		if isVoidStep(r, d, step) {
			product = 0 // and nothing after it has one
		}
		t.Rows = append(t.Rows, newStepRow(r, d, step, s, usual))
		last := t.Rows[len(t.Rows)-1]
		last.Cells[3].Text = format.Ratio(product)
	}
	if left, share := unexplainedFactor(r, d); left > 0 {
		t.Rows = append(t.Rows, Row{Cells: []Field{{Text: "left unexplained"}, {Text: nothing}, {Text: format.Ratio(left)}, {Text: format.Ratio(product * left)}, {Text: share}}})
	}
	whole := newStepRow(r, d, d.Whole, s, usual)
	whole.Cells[0].Text, whole.Apart = "the whole", true
	t.Rows = append(t.Rows, whole)
	return t
}

// stepScale returns the scale of the values of a decomposition.
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

// newStepRow returns the row of a step, struck if one of its ends is void. usual is the level of intervals
// that needs no note.
func newStepRow(r *tare.Result, d tare.Decomposition, step tare.Cause, s scale, usual float64) Row {
	value, change, share := Field{Text: s.formatValue(step.ToValue)}, Field{Text: format.Ratio(step.Ratio) + " " + formatInterval(step.Low, step.High)}, Field{Text: nothing}
	switch {
	case step == d.Whole && hasShares(d):
		share.Text = "100"
	case step.Share != 0 || step.ShareLow != 0 || step.ShareHigh != 0:
		share.Text = formatShare(step.Share) + " [" + formatShare(step.ShareLow) + ", " + formatShare(step.ShareHigh) + "]"
	}
	out := Row{Cells: []Field{{Text: step.Cause}, value, change, {Text: nothing}, share}, Notes: []string{contenderTitle(r, step.To) + " over " + contenderTitle(r, step.From)}}
	if step.Level > 0 && step.Low > 0 && formatLevel(step.Level) != formatLevel(usual) {
		out.Notes[0] += ", its interval at " + formatLevel(step.Level)
	}
	for _, id := range []string{step.From, step.To} {
		if fs := r.VoidsMetric(id, d.Workload, d.Metric); len(fs) > 0 {
			out.Cells[1], out.Cells[2], out.Cells[4] = struckField(value.Text), struckField(format.Ratio(step.Ratio)), Field{Text: nothing}
			out.Notes = append(out.Notes, contenderTitle(r, id)+" is void by "+fs[0].Check)
		}
	}
	return out
}

// hasShares reports whether the total difference was significant, so that its steps have shares.
func hasShares(d tare.Decomposition) bool {
	return slices.ContainsFunc(d.Steps, func(c tare.Cause) bool { return c.Share != 0 || c.ShareLow != 0 || c.ShareHigh != 0 })
}

// formatShare prints a share as a percentage without the sign.
func formatShare(share float64) string {
	text := strings.TrimSuffix(formatPercent(share), " %")
	if text == "-0" {
		return "0"
	}
	return text
}

// drawWaterfall returns a bar for the start of a decomposition, for each step at the height where it adds, and
// for the total.
func drawWaterfall(d tare.Decomposition) []string {
	most := max(d.Whole.FromValue, d.Whole.ToValue)
	for _, step := range d.Steps {
		most = max(most, step.FromValue, step.ToValue)
	}
	at := func(x float64) int {
		if !(most > 0) || !(x > 0) || math.IsInf(most, 1) {
			return 0
		}
		return min(int(math.Round(x/most*barWidth)), barWidth)
	}
	bars := []string{strings.Repeat("█", at(d.Whole.FromValue))}
	for _, step := range d.Steps {
		low, high, mark := at(min(step.FromValue, step.ToValue)), at(max(step.FromValue, step.ToValue)), "█"
		if step.ToValue < step.FromValue {
			mark = "░"
		}
		if low == high && step.ToValue != step.FromValue {
			mark, high = "▏", low+1 // too thin to show to scale
		}
		bars = append(bars, strings.Repeat("·", low)+strings.Repeat(mark, high-low))
	}
	return append(bars, strings.Repeat("█", at(d.Whole.ToValue)))
}
