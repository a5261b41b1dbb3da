package report

import (
	"slices"

	"github.com/tarebench/tare"
)

const (
	scalingHeading = "How time grows with size"
)

// scalingMeans explains the exponents.
func scalingMeans(r *tare.Result) string {
	isLong := func(s tare.Scaling) bool { return s.By == "" || s.By == tare.ByBytes }
	if !slices.ContainsFunc(r.Scaling, func(s tare.Scaling) bool { return !isLong(s) }) {
		return "Time is taken to grow as bytes^exponent, and the exponent is fitted in every round. 1: twice the bytes take twice the time; 0: the size makes no difference."
	}
	return "Time is taken to grow as size^exponent, and the exponent is fitted in every round. Size is what it says beside each: bytes, members of a struct, or levels of structs in structs. " +
		"1: twice the size takes twice the time; 2: four times; 0: the size makes no difference."
}

func (s *Section) scaling(r *tare.Result) {
	if len(r.Scaling) == 0 {
		return
	}
	s.say(Dim, scalingMeans(r))
	s.list("", unlabelled(Dim, sizes(r)...)...)
	s.space()
	s.show("exponents", "exponents", exponents(r))
}

// fit is what a scaling is of, as a column's head says it.
func fit(s tare.Scaling) string {
	if s.By == tare.ByMembers || s.By == tare.ByLevels {
		return s.Op + " of " + s.Fixture + " by " + string(s.By)
	}
	return s.Op + " of " + s.Fixture
}

// fits are the different fits, with a scaling of each.
func fits(r *tare.Result) []tare.Scaling {
	var out []tare.Scaling
	for _, s := range r.Scaling {
		if !slices.ContainsFunc(out, func(o tare.Scaling) bool { return slices.Equal(o.Workloads, s.Workloads) }) {
			out = append(out, s)
		}
	}
	return out
}

// sizes say over which workloads each exponent is fitted.
func sizes(r *tare.Result) []string {
	var lines []string
	for _, s := range fits(r) {
		lines = append(lines, fit(s)+": over "+inWords(s.Workloads)+".")
	}
	return lines
}

// exponents is a row for every contender, and a column for every fit.
func exponents(r *tare.Result) Table {
	t := Table{Columns: []Column{{Name: "contender"}}}
	columns := fits(r)
	for _, f := range columns {
		unit := "exponent [interval]"
		if f.Level > 0 {
			unit = "exponent [" + level(f.Level) + " interval]"
		}
		t.Columns = append(t.Columns, Column{Name: fit(f), Unit: unit})
	}
	for _, c := range r.Contenders {
		line, any := Row{Cells: []Field{{Text: c.Title()}}}, false
		for _, f := range columns {
			i := slices.IndexFunc(r.Scaling, func(s tare.Scaling) bool {
				return s.Contender == c.ID && slices.Equal(s.Workloads, f.Workloads)
			})
			if i < 0 {
				line.Cells = append(line.Cells, Field{Text: nothing})
				continue
			}
			any = true
			line.Cells = append(line.Cells, exponent(r, r.Scaling[i]))
		}
		if any {
			t.Rows = append(t.Rows, line)
		}
	}
	return t
}

// exponent is one fit; struck where one of its workloads is void.
func exponent(r *tare.Result, s tare.Scaling) Field {
	void := slices.ContainsFunc(s.Workloads, func(w string) bool { return len(r.VoidsMetric(s.Contender, w, "time")) > 0 })
	switch text := fixed(s.Exponent, 2); {
	case void:
		return crossed(text)
	case s.Low == s.High:
		return Field{Text: text + " [no interval yet]"}
	default:
		return Field{Text: text + " [" + fixed(s.Low, 2) + ", " + fixed(s.High, 2) + "]"}
	}
}
