package report

import "slices"

// Mark is how a text counts. Each format has a form of its own for it.
type Mark string

// Marks.
const (
	Plain  Mark = ""
	Struck Mark = "struck" // a figure that must not be used
	Bold   Mark = "bold"
	Dim    Mark = "dim"  // what can be skipped
	Good   Mark = "good" // met, holds
	Bad    Mark = "bad"  // not met, refuted, void
	Warned Mark = "warn" // inconclusive, warnings
	Code   Mark = "code" // a name to be read letter by letter

	heading Mark = "heading" // of another section

	address = "https://" // begins a mark that makes a link of a text
)

// Table is a table with its units in the head.
type Table struct {
	Columns []Column
	Rows    []Row
}

// Column is the head of one column: what it holds and in which unit.
type Column struct {
	Name, Unit string
	Right      bool // figures stand to the right
}

// Row is one line of a table with notes about all of it.
type Row struct {
	Who   string // id of the contender it is about, where it is about one
	Cells []Field
	Notes []string
	Apart bool // another sort than those above it
}

// Field is what stands in one column of a row.
type Field struct {
	Text string
	Mark Mark
}

// linked is a text that leads to an address, where documents have links.
func linked(text, url string) Field { return Field{text, Mark(url)} }

// crossed is a figure that must not be used.
func crossed(text string) Field { return Field{text, Struck} }

// coded is a name to be read letter by letter.
func coded(text string) Field { return Field{text, Code} }

// legible is the table with what does not print named.
func (t Table) legible() Table {
	out := Table{Columns: slices.Clone(t.Columns), Rows: slices.Clone(t.Rows)}
	for i, c := range out.Columns {
		out.Columns[i].Name, out.Columns[i].Unit = oneLine(c.Name), oneLine(c.Unit)
	}
	for i, r := range out.Rows {
		out.Rows[i].Notes, out.Rows[i].Cells = all(r.Notes, oneLine), slices.Clone(r.Cells)
		for j, c := range r.Cells {
			if c.Text = oneLine(c.Text); c.Text == "" {
				c.Mark = Plain
			}
			out.Rows[i].Cells[j] = c
		}
	}
	return out
}

// field is what a row says in the column of that name.
func (t Table) field(r Row, name string) string {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 || i >= len(r.Cells) {
		return ""
	}
	return r.Cells[i].Text
}

// without is the table without the columns of these names.
func (t Table) without(names ...string) Table {
	out := Table{Rows: slices.Clone(t.Rows)}
	for i := range out.Rows {
		out.Rows[i].Cells = nil
	}
	for i, c := range t.Columns {
		if slices.Contains(names, c.Name) {
			continue
		}
		out.Columns = append(out.Columns, c)
		for j, r := range t.Rows {
			out.Rows[j].Cells = append(out.Rows[j].Cells, r.Cells[i])
		}
	}
	return out
}
