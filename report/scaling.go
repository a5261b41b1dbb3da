package report

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// A scaling is an exponent: time ~ size^exponent, fitted over workloads of different sizes.

const scalingHeading = "How time grows with size"

func explainScaling(r *tare.Result) string {
	isByShape := func(s tare.Scaling) bool { return s.By != "" && s.By != tare.ByBytes } // members or levels
	if !slices.ContainsFunc(r.Scaling, isByShape) {
		return "Time is taken to grow as bytes^exponent, and the exponent is fitted in every round. 1: twice the bytes take twice the time; 0: the size makes no difference."
	}
	return "Time is taken to grow as size^exponent, and the exponent is fitted in every round. Size is what it says next to each: bytes, members of a struct, or levels of structs in structs. " +
		"1: twice the size takes twice the time; 2: four times; 0: the size makes no difference."
}

func (s *Section) addScaling(r *tare.Result) {
	if len(r.Scaling) == 0 {
		return
	}
	s.addText(Dim, explainScaling(r))
	s.addList("", unlabelledItems(Dim, describeFits(r)...)...)
	s.addSpace()
	s.addTable("exponents", "exponents", newExponentTable(r))
}

// fitName returns the name of a scaling: "marshal of devices by members".
func fitName(s tare.Scaling) string {
	if s.By == tare.ByMembers || s.By == tare.ByLevels {
		return s.Op + " of " + s.Fixture + " by " + string(s.By)
	}
	return s.Op + " of " + s.Fixture
}

// listFits returns one scaling per set of workloads.
func listFits(r *tare.Result) []tare.Scaling {
	var out []tare.Scaling
	for _, s := range r.Scaling {
		if !slices.ContainsFunc(out, func(o tare.Scaling) bool { return slices.Equal(o.Workloads, s.Workloads) }) {
			out = append(out, s)
		}
	}
	return out
}

func describeFits(r *tare.Result) []string {
	var lines []string
	for _, s := range listFits(r) {
		lines = append(lines, fitName(s)+": over "+joinNames(s.Workloads)+".")
	}
	return lines
}

// newExponentTable returns a row per contender and a column per set of workloads.
func newExponentTable(r *tare.Result) Table {
	t := Table{Columns: []Column{{Name: "contender"}}}
	columns := listFits(r)
	for _, f := range columns {
		unit := "exponent [interval]"
		if f.Level > 0 {
			unit = "exponent [" + formatLevel(f.Level) + " interval]"
		}
		t.Columns = append(t.Columns, Column{Name: fitName(f), Unit: unit})
	}
	for _, c := range r.Contenders {
		row := Row{Cells: []Field{{Text: c.Title()}}}
		hasFit := false
		for _, f := range columns {
			i := slices.IndexFunc(r.Scaling, func(s tare.Scaling) bool {
				return s.Contender == c.ID && slices.Equal(s.Workloads, f.Workloads)
			})
			if i < 0 {
				row.Cells = append(row.Cells, Field{Text: noValue})
				continue
			}
			hasFit = true
			row.Cells = append(row.Cells, newExponentField(r, r.Scaling[i]))
		}
		if hasFit {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// newExponentField returns an exponent with its interval, struck if a workload is void.
func newExponentField(r *tare.Result, s tare.Scaling) Field {
	void := slices.ContainsFunc(s.Workloads, func(w string) bool { return len(r.VoidsMetric(s.Contender, w, "time")) > 0 })
	switch text := format.Fixed(s.Exponent, 2); {
	case void:
		return struckField(text)
	case s.Low == s.High:
		return Field{Text: text + " [no interval yet]"}
	default:
		return Field{Text: text + " [" + format.Fixed(s.Low, 2) + ", " + format.Fixed(s.High, 2) + "]"}
	}
}
