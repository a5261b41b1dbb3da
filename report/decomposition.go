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
	causeLength          = 30 // of a cause in a table for a terminal; beneath it stands all of it
	barWidth             = 22 // columns of the longest bar
)

func (s *Section) decomposition(r *tare.Result) {
	if len(r.Decomposition) == 0 {
		return
	}
	s.say(Dim, decompositionMeans)
	drawn := false
	for _, d := range r.Decomposition {
		s.space()
		s.say(Bold, posed(r, d))
		if len(d.Steps) == 0 {
			s.say(Warned, d.Sentence)
			continue
		}
		s.say(Plain, d.Sentence)
		s.space()
		t := shares(r, d)
		s.only(forText, func() { s.show("", "", withBars(r, d, t)) })
		s.only(forMarkdown|forHTML, func() { s.show("steps", d.ID, t) })
		s.only(forMarkdown, func() { s.list("", unlabelled(Plain, stepNotes(t)...)...) })
		drawn = true
	}
	if drawn {
		s.space()
		s.only(forText, func() { s.say(Dim, barsMean) })
	}
}

// withBars is the table of shares as a terminal shows it: long causes stand
// beneath their rows, and the last column is drawn.
func withBars(r *tare.Result, d tare.Decomposition, t Table) Table {
	t = t.without()
	for i := range t.Rows {
		row := &t.Rows[i]
		if name := oneLine(row.Cells[0].Text); columns(name) > causeLength {
			if len(row.Notes) > 0 {
				row.Notes = append([]string{name + " (" + row.Notes[0] + ")"}, row.Notes[1:]...)
			} else {
				row.Notes = []string{name}
			}
			row.Cells[0].Text = shortened(name, causeLength)
		}
	}
	t.Columns = append(t.Columns, Column{Name: "added up"})
	bars := waterfall(d)
	if left, _ := unexplained(r, d); left > 0 {
		bars = slices.Insert(bars, len(bars)-1, "")
	}
	for i, bar := range bars {
		t.Rows[i].Cells = append(t.Rows[i].Cells, Field{Text: bar})
	}
	return t
}

// stepNotes say between which contenders each step lies.
func stepNotes(t Table) []string {
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

// posed is what a decomposition asks, and of what.
func posed(r *tare.Result, d tare.Decomposition) string {
	of := fmt.Sprintf("%s on %s, step by step from %s to %s", d.Metric, d.Workload, title(r, d.Whole.From), title(r, d.Whole.To))
	if d.Question == "" {
		return d.ID + ": " + of
	}
	return d.ID + ": " + d.Question + " (" + of + ")"
}

// shares is the table of a decomposition: where it starts, its steps, the whole.
func shares(r *tare.Result, d tare.Decomposition) Table {
	s := stepScale(r, d)
	usual := d.Whole.Level
	if len(d.Steps) > 0 {
		usual = d.Steps[0].Level
	}
	unit := "ratio [interval]"
	if usual > 0 {
		unit = "ratio [" + level(usual) + " interval]"
	}
	t := Table{Columns: []Column{
		{Name: "step"}, {Name: d.Metric, Unit: s.unit, Right: true}, {Name: "after / before", Unit: unit}, {Name: "multiplied", Unit: "so far", Right: true}, {Name: "share", Unit: "% [interval]"},
	}}
	start := Field{Text: s.print(d.Whole.FromValue)}
	if len(r.VoidsMetric(d.Whole.From, d.Workload, d.Metric)) > 0 {
		start = crossed(start.Text)
	}
	t.Rows = append(t.Rows, Row{Cells: []Field{{Text: "start: " + title(r, d.Whole.From)}, start, {Text: nothing}, {Text: "1"}, {Text: nothing}}})
	product := 1.0
	for _, step := range d.Steps {
		product *= step.Ratio
		if voidStep(r, d, step) {
			product = 0 // and nothing after it has one
		}
		t.Rows = append(t.Rows, stepRow(r, d, step, s, usual))
		last := t.Rows[len(t.Rows)-1]
		last.Cells[3].Text = format.Ratio(product)
	}
	if left, share := unexplained(r, d); left > 0 {
		t.Rows = append(t.Rows, Row{Cells: []Field{{Text: "left unexplained"}, {Text: nothing}, {Text: format.Ratio(left)}, {Text: format.Ratio(product * left)}, {Text: share}}})
	}
	whole := stepRow(r, d, d.Whole, s, usual)
	whole.Cells[0].Text, whole.Apart = "the whole", true
	t.Rows = append(t.Rows, whole)
	return t
}

// stepScale fits the figures of a decomposition.
func stepScale(r *tare.Result, d tare.Decomposition) scale {
	values := []float64{d.Whole.FromValue, d.Whole.ToValue}
	for _, step := range d.Steps {
		values = append(values, step.ToValue)
	}
	s := scaleFor(d.Whole.Unit, values)
	if (&view{r: r, workload: d.Workload}).ofRequests() {
		s.unit = perRequest(s.unit)
	}
	return s
}

// stepRow is a step, struck where one of its ends is void.
func stepRow(r *tare.Result, d tare.Decomposition, step tare.Cause, s scale, usual float64) Row {
	value, change, share := Field{Text: s.print(step.ToValue)}, Field{Text: format.Ratio(step.Ratio) + " " + interval(step.Low, step.High)}, Field{Text: nothing}
	switch {
	case step == d.Whole && wasTold(d):
		share.Text = "100"
	case step.Share != 0 || step.ShareLow != 0 || step.ShareHigh != 0:
		share.Text = hundredths(step.Share) + " [" + hundredths(step.ShareLow) + ", " + hundredths(step.ShareHigh) + "]"
	}
	out := Row{Cells: []Field{{Text: step.Cause}, value, change, {Text: nothing}, share}, Notes: []string{title(r, step.To) + " over " + title(r, step.From)}}
	if step.Level > 0 && step.Low > 0 && level(step.Level) != level(usual) {
		out.Notes[0] += ", its interval at " + level(step.Level)
	}
	for _, id := range []string{step.From, step.To} {
		if fs := r.VoidsMetric(id, d.Workload, d.Metric); len(fs) > 0 {
			out.Cells[1], out.Cells[2], out.Cells[4] = crossed(value.Text), crossed(format.Ratio(step.Ratio)), Field{Text: nothing}
			out.Notes = append(out.Notes, title(r, id)+" is void by "+fs[0].Check)
		}
	}
	return out
}

// wasTold reports whether the whole was told from nothing, so that there are
// shares.
func wasTold(d tare.Decomposition) bool {
	return slices.ContainsFunc(d.Steps, func(c tare.Cause) bool { return c.Share != 0 || c.ShareLow != 0 || c.ShareHigh != 0 })
}

// hundredths prints a share as a percentage without its sign.
func hundredths(share float64) string {
	text := strings.TrimSuffix(percent(share), " %")
	if text == "-0" {
		return "0"
	}
	return text
}

// waterfall is a bar for the start of a decomposition, for each step where what
// it adds stands, and for the whole.
func waterfall(d tare.Decomposition) []string {
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
