package report

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

const (
	adoptionHeading = "What taking one in brings"
	noLicences      = "none" // where there is nothing to be licensed
)

func (p *page) adoption(r *tare.Result) {
	t := adoptions(r)
	if len(t.rows) == 0 {
		return
	}
	p.heading(strings.ToUpper(adoptionHeading))
	p.wrap(bodyIndent, bodyIndent, adoptionMeans(r), p.style.Dim)
	p.blank()
	for i, row := range t.rows { // lists are long: they stand beneath
		if licences := t.field(row, "licences"); licences != nothing && licences != noLicences {
			t.rows[i].notes = append([]string{"licences: " + licences}, row.notes...)
		}
	}
	t.without("is", "licences").print(p)
}

// adoption adds the table, and beneath it who is unmaintained.
func (s *sheet) adoption(r *tare.Result) {
	t := adoptions(r)
	s.block(plain(adoptionMeans(r)))
	s.table(t)
	var lines []string
	for _, row := range t.rows {
		for _, note := range row.notes {
			lines = append(lines, plain(row.who.Title()+", "+note))
		}
	}
	s.list(lines...)
}

// adopted reports whether anything is known of what taking a contender in
// brings.
func adopted(r *tare.Result) bool { return len(adoptions(r).rows) > 0 }

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
func adoptions(r *tare.Result) table {
	t := table{columns: []column{
		{name: "contender"}, {name: "is"}, {name: "modules", unit: "linked", right: true}, {name: "licences"}, {name: "released"},
		{name: "binary", unit: "B", right: true}, {name: "cold build", unit: "s", right: true},
		{name: "idle", unit: "MB resident", right: true}, {name: "first answer", unit: "ms after start", right: true},
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
			modules = grouped(float64(a.ModulesLinked), 0)
			if a.ModulesLinked == 0 {
				licences = or(licences, noLicences)
			}
		}
		is := cell{text: nothing}
		if c.Name != "" {
			is = coded(c.String())
		}
		line := row{who: c, cells: []cell{
			{text: name}, is, {text: modules}, {text: or(licences, nothing)}, {text: or(a.Released, nothing)},
			{text: ifKnown(float64(c.BinaryBytes), 0)}, {text: ifKnown(a.ColdBuildSeconds, 1)},
			{text: ifKnown(float64(a.IdleRSSBytes)/1e6, 1)}, {text: ifKnown(a.StartSeconds*1e3, 1)},
		}}
		if a.Unmaintained != "" {
			line.notes = append(line.notes, "unmaintained: "+a.Unmaintained)
		}
		t.rows = append(t.rows, line)
	}
	for _, c := range r.Contenders {
		if c.Role == tare.RoleBaseline || c.Role == tare.RoleContender {
			add(c)
		}
	}
	if c, ok := r.Contender(tare.NullID); ok && len(t.rows) > 0 {
		add(c)
		t.rows[len(t.rows)-1].apart = t.rows[len(t.rows)-1].who.ID == c.ID
	}
	return t
}

// ifKnown prints a figure of which zero means that it is not known.
func ifKnown(x float64, decimals int) string {
	if !(x > 0) {
		return nothing
	}
	return grouped(x, decimals)
}

// field is what a row says in the column of that name.
func (t table) field(r row, name string) string {
	i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
	if i < 0 || i >= len(r.cells) {
		return ""
	}
	return r.cells[i].text
}

// without is the table without the columns of these names.
func (t table) without(names ...string) table {
	out := table{rows: slices.Clone(t.rows)}
	for i := range out.rows {
		out.rows[i].cells = nil
	}
	for i, c := range t.columns {
		if slices.Contains(names, c.name) {
			continue
		}
		out.columns = append(out.columns, c)
		for j, r := range t.rows {
			out.rows[j].cells = append(out.rows[j].cells, r.cells[i])
		}
	}
	return out
}
