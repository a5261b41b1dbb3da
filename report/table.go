package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare"
)

// cell is one field of a table: its text and, apart from it, its paint.
type cell struct {
	text  string
	paint func(string) string
}

// column is the head of one column: what it holds and in which unit.
type column struct {
	name  string
	unit  string // second line of the head
	right bool   // figures stand to the right
}

// row is one line of a table with notes printed beneath it across all columns.
type row struct {
	cells []cell
	notes []string
	apart bool           // an empty line before it
	who   tare.Contender // whom it is about, where it is about one
}

type table struct {
	columns []column
	rows    []row
}

const (
	gap        = 2 // columns between two fields
	noteIndent = 4
)

// print lays the table out in the page's width. Columns that do not fit go
// into a second part beneath, which repeats the first column.
func (t table) print(p *page) {
	t = t.legible()
	widths := t.widths()
	for from := 1; from < len(t.columns); {
		to, used := from, bodyIndent+widths[0]
		for to < len(t.columns) && (to == from || used+gap+widths[to] <= p.width) {
			used += gap + widths[to]
			to++
		}
		if from > 1 {
			p.blank()
		}
		t.part(p, widths, from, to)
		from = to
	}
}

// legible is the table with what does not print named.
func (t table) legible() table {
	out := table{columns: slices.Clone(t.columns), rows: slices.Clone(t.rows)}
	for i, c := range out.columns {
		out.columns[i].name, out.columns[i].unit = oneLine(c.name), oneLine(c.unit)
	}
	for i, r := range out.rows {
		out.rows[i].cells = slices.Clone(r.cells)
		for j, c := range r.cells {
			out.rows[i].cells[j].text = oneLine(c.text)
		}
	}
	return out
}

func (t table) widths() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = max(columns(c.name), columns(c.unit))
		for _, r := range t.rows {
			if i < len(r.cells) {
				widths[i] = max(widths[i], columns(r.cells[i].text))
			}
		}
	}
	return widths
}

// part prints the first column and columns from up to to.
func (t table) part(p *page, widths []int, from, to int) {
	shown := []int{0}
	for i := from; i < to; i++ {
		shown = append(shown, i)
	}
	names, units := make([]cell, len(t.columns)), make([]cell, len(t.columns))
	for i, c := range t.columns {
		names[i], units[i] = cell{c.name, p.style.Bold}, cell{c.unit, p.style.Dim}
	}
	p.line(t.fields(names, widths, shown))
	if line := t.fields(units, widths, shown); line != "" {
		p.line(line)
	}
	for _, r := range t.rows {
		if r.apart {
			p.blank()
		}
		p.line(t.fields(r.cells, widths, shown))
		if from > 1 {
			continue // notes were printed with the first part
		}
		for _, note := range r.notes {
			p.wrap(noteIndent, noteIndent, note, p.style.Dim)
		}
	}
}

func (t table) fields(cells []cell, widths, shown []int) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", bodyIndent))
	for n, i := range shown {
		if n > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		var c cell
		if i < len(cells) {
			c = cells[i]
		}
		pad := strings.Repeat(" ", widths[i]-columns(c.text))
		if t.columns[i].right {
			b.WriteString(pad + paint(c.paint, c.text))
		} else {
			b.WriteString(paint(c.paint, c.text) + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// columns is how many columns of a terminal text takes. Every character
// printed here takes one.
func columns(text string) int { return utf8.RuneCountInString(text) }
