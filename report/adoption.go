package report

import (
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const (
	adoptionHeading = "What taking one in brings"
	noLicences      = "none" // where there is nothing to be licensed
)

func (s *Section) adoption(r *tare.Result) {
	t := adoptions(r)
	if len(t.Rows) == 0 {
		return
	}
	s.say(Dim, adoptionMeans(r))
	s.space()
	s.only(forText, func() { s.show("", "", licencesBeneath(t)) })
	s.only(forMarkdown|forHTML, func() { s.show("", "", t) })
	s.only(forMarkdown, func() {
		var lines []string
		for _, row := range t.Rows {
			for _, note := range row.Notes {
				lines = append(lines, title(r, row.Who)+", "+note)
			}
		}
		s.list("", unlabelled(Plain, lines...)...)
	})
}

// licencesBeneath is the table as a terminal shows it: lists of licences are
// long, so that they stand beneath their rows.
func licencesBeneath(t Table) Table {
	out := t.without("is", "licences")
	for i, row := range t.Rows {
		if licences := t.field(row, "licences"); licences != nothing && licences != noLicences {
			out.Rows[i].Notes = append([]string{"licences: " + licences}, row.Notes...)
		}
	}
	return out
}

func adoptionMeans(r *tare.Result) string {
	text := "Figures are of the contender's whole program, the harness included"
	if c, ok := r.Contender(tare.NullID); ok && recorded(c) {
		text += "; " + tare.NullID + " is the one that does nothing"
	}
	return text + ". Modules are those of third parties, and a cold build compiled every one of them. " + nothing + " is not known."
}

// recorded reports whether anything of a contender's adoption is known.
func recorded(c tare.Contender) bool {
	a := c.Adoption
	return c.BinaryBytes > 0 || a.ColdBuildSeconds > 0 || a.IdleRSSBytes > 0 || a.StartSeconds > 0 ||
		a.Released != "" || a.Unmaintained != "" || len(a.Licences) > 0
}

// adoptions is a row for every contender that is what it says it is, as far as
// anything is known of it. The last is the one that does nothing.
func adoptions(r *tare.Result) Table {
	t := Table{Columns: []Column{
		{Name: "contender"}, {Name: "is"}, {Name: "modules", Unit: "linked", Right: true}, {Name: "licences"}, {Name: "released"},
		{Name: "binary", Unit: "B", Right: true}, {Name: "cold build", Unit: "s", Right: true},
		{Name: "idle", Unit: "MB resident", Right: true}, {Name: "first answer", Unit: "ms after start", Right: true},
	}}
	add := func(c tare.Contender) {
		if !recorded(c) || len(wholly(r, c.ID)) > 0 {
			return
		}
		a := c.Adoption
		name, modules, licences := c.Title(), nothing, strings.Join(a.Licences, ", ")
		if c.Role == tare.RoleBaseline {
			name += " (baseline)"
		}
		if c.BinaryBytes > 0 { // what is linked stands in the binary
			modules = format.Grouped(float64(a.ModulesLinked), 0)
			if a.ModulesLinked == 0 {
				licences = or(licences, noLicences)
			}
		}
		is := Field{Text: nothing}
		if c.Name != "" {
			is = coded(c.String())
		}
		line := Row{Who: c.ID, Cells: []Field{
			{Text: name}, is, {Text: modules}, {Text: or(licences, nothing)}, {Text: or(a.Released, nothing)},
			{Text: ifKnown(float64(c.BinaryBytes), 0)}, {Text: ifKnown(a.ColdBuildSeconds, 1)},
			{Text: ifKnown(float64(a.IdleRSSBytes)/1e6, 1)}, {Text: ifKnown(a.StartSeconds*1e3, 1)},
		}}
		if a.Unmaintained != "" {
			line.Notes = append(line.Notes, "unmaintained: "+a.Unmaintained)
		}
		t.Rows = append(t.Rows, line)
	}
	for _, c := range r.Contenders {
		if c.Role == tare.RoleBaseline || c.Role == tare.RoleContender {
			add(c)
		}
	}
	if c, ok := r.Contender(tare.NullID); ok && len(t.Rows) > 0 {
		add(c)
		t.Rows[len(t.Rows)-1].Apart = t.Rows[len(t.Rows)-1].Who == c.ID
	}
	return t
}

// ifKnown prints a figure of which zero means that it is not known.
func ifKnown(x float64, decimals int) string {
	if !(x > 0) {
		return nothing
	}
	return format.Grouped(x, decimals)
}
