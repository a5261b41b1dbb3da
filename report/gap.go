package report

import (
	"fmt"

	"github.com/tarebench/tare"
)

const gapLines = 10 // parts, and functions, of a difference that are listed

// gap adds what makes the difference of a profile to the baseline's.
func (s *Section) gap(r *tare.Result, x tare.Profile) {
	if x.Gap == nil {
		return
	}
	s.space()
	s.say(Bold, differs(r, x))
	for _, half := range halves(x) {
		t := apportioned(r, x, half)
		if len(t.Rows) == 0 {
			s.say(Dim, half.none())
			continue
		}
		s.space()
		s.show("gap", half.kind+"s", t)
	}
}

const otherNames = "all others"

// differs says how far two profiles are apart.
func differs(r *tare.Result, x tare.Profile) string {
	s := gapScale(r, x, []float64{x.Gap.From, x.Gap.To})
	what := map[string]string{tare.ProfileCPU: "CPU time", tare.ProfileMem: "allocated memory"}[x.Of]
	return fmt.Sprintf("What makes the difference in %s of %s to %s on %s: %s against %s %s, %s.",
		or(what, x.Of), title(r, x.Contender), title(r, x.Gap.Against), x.Workload, s.print(x.Gap.To), s.print(x.Gap.From), s.unit, more100(x.Gap.To/x.Gap.From))
}

// more100 is a ratio as what is added to 1 or taken from it.
func more100(ratio float64) string {
	if !(ratio > 0) {
		return nothing
	}
	if ratio < 1 {
		return percent(1-ratio) + " less"
	}
	return percent(ratio-1) + " more"
}

// gapScale prints figures of a profile per operation.
func gapScale(r *tare.Result, x tare.Profile, values []float64) scale {
	unit := map[string]string{"nanoseconds": "ns/op", "bytes": "B/op"}[x.Unit]
	s := scaleFor(or(unit, x.Unit+"/op"), values)
	if x.Of == tare.ProfileMem {
		s.decimals = 0
	}
	if (&view{r: r, workload: x.Workload}).ofRequests() {
		s.unit = perRequest(s.unit)
	}
	return s
}

// half is one of the two ways in which a difference is told.
type half struct {
	kind  string // heads the column of names
	lines []tare.GapLine
}

const partKind = "part"

// none is said where there are no lines.
func (h half) none() string {
	return "No single " + h.kind + " is further apart than sampling alone shows."
}

func halves(x tare.Profile) []half {
	return []half{{partKind, x.Gap.Parts}, {"function", x.Gap.Functions}}
}

// apportioned is a table of what lines have of a difference.
func apportioned(r *tare.Result, x tare.Profile, of half) Table {
	s := gapScale(r, x, []float64{x.Gap.From, x.Gap.To})
	t := Table{Columns: []Column{
		{Name: "share", Unit: "%", Right: true}, {Name: title(r, x.Gap.Against), Unit: s.unit, Right: true},
		{Name: title(r, x.Contender), Unit: s.unit, Right: true}, {Name: of.kind},
	}}
	rest := tare.GapLine{From: x.Gap.From, To: x.Gap.To}
	add := func(l tare.GapLine, name Field) {
		share := nothing
		if whole := x.Gap.To - x.Gap.From; whole != 0 {
			share = fixed((l.To-l.From)/whole*100, 0)
		}
		t.Rows = append(t.Rows, Row{Cells: []Field{{Text: share}, {Text: s.print(max(l.From, 0))}, {Text: s.print(max(l.To, 0))}, name}})
	}
	for _, l := range of.lines[:min(len(of.lines), gapLines)] {
		add(l, coded(l.Name))
		rest.From, rest.To = rest.From-l.From, rest.To-l.To
	}
	if len(t.Rows) > 0 {
		add(rest, Field{Text: otherNames})
	}
	return t
}
