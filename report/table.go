package report

import "slices"

// Mark is the meaning of a text, such as bad or code. Each format shows it in its own way.
type Mark string

// The marks. A mark can also be a link's address, which begins with address.
const (
	Plain  Mark = ""
	Struck Mark = "struck" // a crossed-out number; do not use it
	Bold   Mark = "bold"
	Dim    Mark = "dim"  // explanations
	Good   Mark = "good" // met, holds
	Bad    Mark = "bad"  // not met, refuted, void
	Warned Mark = "warn" // inconclusive, warnings
	Code   Mark = "code" // a name to read letter by letter

	heading Mark = "heading" // name of another section

	address = "https://" // start of a link's address
)

// Table is a table of a report. A row can have fewer cells than columns.
type Table struct {
	Columns []Column
	Rows    []Row
}

// Column is the header of one column.
type Column struct {
	Name, Unit string
	Right      bool // aligned right
}

// Row is one line of a table with notes about all of it.
type Row struct {
	Who   string // id of the row's contender; may be ""
	Cells []Field
	Notes []string // printed below the row
	Apart bool     // the row begins a group
}

// Field is one cell of a row.
type Field struct {
	Text string
	Mark Mark
}

// linkField returns text that links to url, in formats with links.
func linkField(text, url string) Field { return Field{text, Mark(url)} }

// struckField returns a number that must not be used.
func struckField(text string) Field { return Field{text, Struck} }

// codeField returns a name to read letter by letter.
func codeField(text string) Field { return Field{text, Code} }

// makeLegible returns a copy without unprintable characters.
func (t Table) makeLegible() Table {
	out := Table{Columns: slices.Clone(t.Columns), Rows: slices.Clone(t.Rows)}
	for i, c := range out.Columns {
		out.Columns[i].Name, out.Columns[i].Unit = oneLine(c.Name), oneLine(c.Unit)
	}
	for i, r := range out.Rows {
		out.Rows[i].Notes, out.Rows[i].Cells = mapTexts(r.Notes, oneLine), slices.Clone(r.Cells)
		for j, c := range r.Cells {
			if c.Text = oneLine(c.Text); c.Text == "" {
				c.Mark = Plain
			}
			out.Rows[i].Cells[j] = c
		}
	}
	return out
}

// cellText returns the text of row r in the column name, or "".
func (t Table) cellText(r Row, name string) string {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 || i >= len(r.Cells) {
		return ""
	}
	return r.Cells[i].Text
}

// dropColumns returns a copy without the columns names.
func (t Table) dropColumns(names ...string) Table {
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
