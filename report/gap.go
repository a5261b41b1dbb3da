package report

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// A gap is the difference between the profiles of a contender and the baseline, by parts of the program and by
// functions.

const gapLines = 10 // parts, and functions, in a list

// addGap adds a sentence about the gap of x and a table per split.
func (s *Section) addGap(r *tare.Result, x tare.Profile) {
	if x.Gap == nil {
		return
	}
	s.addSpace()
	s.addText(Bold, describeGap(r, x))
	for _, split := range gapSplits(x) {
		t := newGapTable(r, x, split)
		if len(t.Rows) == 0 {
			s.addText(Dim, split.noLinesText())
			continue
		}
		s.addSpace()
		s.addTable("gap", split.kind+"s", t)
	}
}

const otherNames = "all others" // name of the last row, the rest

// describeGap returns a sentence about a gap: "What makes the difference in CPU time of chi to mux on static: 510
// against 480 ns/op, 6.2 % more."
func describeGap(r *tare.Result, x tare.Profile) string {
	s := gapScale(r, x, []float64{x.Gap.From, x.Gap.To})
	quantity := map[string]string{tare.ProfileCPU: "CPU time", tare.ProfileMem: "allocated memory"}[x.Of]
	return fmt.Sprintf("What makes the difference in %s of %s to %s on %s: %s against %s %s, %s.",
		orDefault(quantity, x.Of), contenderTitle(r, x.Contender), contenderTitle(r, x.Gap.Against), x.Workload,
		s.formatValue(x.Gap.To), s.formatValue(x.Gap.From), s.unit, formatChange(x.Gap.To/x.Gap.From))
}

// formatChange prints a ratio as a percentage: 1.062 is "6.2 % more".
func formatChange(ratio float64) string {
	if !(ratio > 0) {
		return noValue
	}
	if ratio < 1 {
		return formatPercent(1-ratio) + " less"
	}
	return formatPercent(ratio-1) + " more"
}

func gapScale(r *tare.Result, x tare.Profile, values []float64) scale {
	unit := map[string]string{"nanoseconds": "ns/op", "bytes": "B/op"}[x.Unit]
	s := newScale(orDefault(unit, x.Unit+"/op"), values)
	if x.Of == tare.ProfileMem {
		s.decimals = 0
	}
	if (&view{r: r, workload: x.Workload}).hasRequests() {
		s.unit = requestUnit(s.unit)
	}
	return s
}

type gapSplit struct {
	kind  string // part or function
	lines []tare.GapLine
}

const partKind = "part"

// noLinesText replaces the table of a split without lines.
func (g gapSplit) noLinesText() string {
	return "No single " + g.kind + " is further apart than sampling alone shows."
}

// gapSplits returns both splits of x; x.Gap is not nil.
func gapSplits(x tare.Profile) []gapSplit {
	return []gapSplit{{partKind, x.Gap.Parts}, {"function", x.Gap.Functions}}
}

// newGapTable returns a row per line of a split, with its share, and a row for the rest.
func newGapTable(r *tare.Result, x tare.Profile, split gapSplit) Table {
	s := gapScale(r, x, []float64{x.Gap.From, x.Gap.To})
	t := Table{Columns: []Column{
		{Name: "share", Unit: "%", Right: true},
		{Name: contenderTitle(r, x.Gap.Against), Unit: s.unit, Right: true},
		{Name: contenderTitle(r, x.Contender), Unit: s.unit, Right: true},
		{Name: split.kind},
	}}
	rest := tare.GapLine{From: x.Gap.From, To: x.Gap.To}
	add := func(l tare.GapLine, name Field) {
		share := noValue
		if total := x.Gap.To - x.Gap.From; total != 0 {
			share = format.Fixed((l.To-l.From)/total*100, 0)
		}
		t.Rows = append(t.Rows, Row{Cells: []Field{{Text: share}, {Text: s.formatValue(max(l.From, 0))}, {Text: s.formatValue(max(l.To, 0))}, name}})
	}
	for _, l := range split.lines[:min(len(split.lines), gapLines)] {
		add(l, codeField(l.Name))
		rest.From, rest.To = rest.From-l.From, rest.To-l.To
	}
	if len(t.Rows) > 0 {
		add(rest, Field{Text: otherNames})
	}
	return t
}
