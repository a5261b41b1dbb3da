package report

import (
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Adopting a library has more costs than time, such as modules, licences, binary size and idle memory.

const (
	adoptionHeading = "What taking one in brings"
	noLicences      = "none" // the contender has no modules with licences
)

// addAdoption adds a table of these costs.
func (s *Section) addAdoption(r *tare.Result) {
	t := newAdoptionTable(r)
	if len(t.Rows) == 0 {
		return
	}
	s.addText(Dim, explainAdoption(r))
	s.addSpace()
	s.addOnly(forText, func() { s.addTable("", "", licencesAsNotes(t)) })
	s.addOnly(forMarkdown|forHTML, func() { s.addTable("", "", t) })
	s.addOnly(forMarkdown, func() {
		var lines []string
		for _, row := range t.Rows {
			for _, note := range row.Notes {
				lines = append(lines, contenderTitle(r, row.Who)+", "+note)
			}
		}
		s.addList("", unlabelledItems(Plain, lines...)...)
	})
}

// licencesAsNotes returns t for a terminal. Licences are long lists and become notes below the rows.
func licencesAsNotes(t Table) Table {
	out := t.dropColumns("is", "licences")
	for i, row := range t.Rows {
		if licences := t.cellText(row, "licences"); licences != noValue && licences != noLicences {
			out.Rows[i].Notes = append([]string{"licences: " + licences}, row.Notes...)
		}
	}
	return out
}

func explainAdoption(r *tare.Result) string {
	text := "Figures are of the contender's whole program, the harness included"
	if c, ok := r.Contender(tare.NullID); ok && hasAdoption(c) {
		text += "; " + tare.NullID + " is the one that does nothing"
	}
	return text + ". Modules are those of third parties, and a cold build compiled every one of them. " + noValue + " is not known."
}

func hasAdoption(c tare.Contender) bool {
	a := c.Adoption
	return c.BinaryBytes > 0 || a.ColdBuildSeconds > 0 || a.IdleRSSBytes > 0 || a.StartSeconds > 0 ||
		a.Released != "" || a.Unmaintained != "" || len(a.Licences) > 0
}

// newAdoptionTable returns a row for each contender with known costs. The reference program that does nothing
// comes last.
func newAdoptionTable(r *tare.Result) Table {
	t := Table{Columns: []Column{
		{Name: "contender"}, {Name: "is"}, {Name: "modules", Unit: "linked", Right: true}, {Name: "licences"}, {Name: "released"},
		{Name: "binary", Unit: "B", Right: true}, {Name: "cold build", Unit: "s", Right: true},
		{Name: "idle", Unit: "MB resident", Right: true}, {Name: "first answer", Unit: "ms after start", Right: true},
	}}
	isListed := func(c tare.Contender) bool { return hasAdoption(c) && len(voidsOfAll(r, c.ID)) == 0 }
	for _, c := range r.Contenders {
		if (c.Role == tare.RoleBaseline || c.Role == tare.RoleContender) && isListed(c) {
			t.Rows = append(t.Rows, newAdoptionRow(c))
		}
	}
	if c, ok := r.Contender(tare.NullID); ok && isListed(c) && len(t.Rows) > 0 {
		row := newAdoptionRow(c)
		row.Apart = true
		t.Rows = append(t.Rows, row)
	}
	return t
}

func newAdoptionRow(c tare.Contender) Row {
	a := c.Adoption
	name, identity := c.Title(), Field{Text: noValue}
	if c.Role == tare.RoleBaseline {
		name += " (baseline)"
	}
	if c.Name != "" {
		identity = codeField(c.String())
	}
	modules, licences := noValue, strings.Join(a.Licences, ", ")
	if c.BinaryBytes > 0 { // the number of modules comes from the binary
		modules = format.Grouped(float64(a.ModulesLinked), 0)
		if a.ModulesLinked == 0 {
			licences = orDefault(licences, noLicences)
		}
	}
	row := Row{Who: c.ID, Cells: []Field{
		{Text: name},
		identity,
		{Text: modules},
		{Text: orDefault(licences, noValue)},
		{Text: orDefault(a.Released, noValue)},
		{Text: formatKnown(float64(c.BinaryBytes), 0)},
		{Text: formatKnown(a.ColdBuildSeconds, 1)},
		{Text: formatKnown(float64(a.IdleRSSBytes)/1e6, 1)},
		{Text: formatKnown(a.StartSeconds*1e3, 1)},
	}}
	if a.Unmaintained != "" {
		row.Notes = append(row.Notes, "unmaintained: "+a.Unmaintained)
	}
	return row
}

// formatKnown prints x; 0 means unknown.
func formatKnown(x float64, decimals int) string {
	if !(x > 0) {
		return noValue
	}
	return format.Grouped(x, decimals)
}
