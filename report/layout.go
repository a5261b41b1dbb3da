package report

import (
	"strings"
	"unicode/utf8"
)

const (
	gap        = 2 // columns between two fields
	noteIndent = 4
	leastName  = 20              // characters of a name that are shown, whatever stands before it
	leastNamed = bodyIndent + 20 // columns that count as taken before a name
)

// table lays t out in the page's width. Columns that do not fit go into a
// second part beneath, which repeats the first column.
func (p *page) table(t Table) {
	t = t.legible()
	for _, r := range t.Rows {
		for i, c := range r.Cells {
			r.Cells[i] = p.style.visible(c)
		}
	}
	p.shorten(t)
	widths := t.widths()
	for from := 1; from < len(t.Columns); {
		to, used := from, bodyIndent+widths[0]
		for to < len(t.Columns) && (to == from || used+gap+widths[to] <= p.width) {
			used += gap + widths[to]
			to++
		}
		if from > 1 {
			p.blank()
		}
		p.part(t, widths, from, to)
		from = to
	}
}

// shorten fits names in the last column, of functions or what is known of them,
// into the page's width.
func (p *page) shorten(t Table) {
	last := len(t.Columns) - 1
	used := bodyIndent
	for _, w := range t.widths()[:last] {
		used += w + gap
	}
	room := max(p.width-max(used, leastNamed), leastName)
	for _, r := range t.Rows {
		switch {
		case last >= len(r.Cells) || r.Cells[last].Mark != Code:
		case t.Columns[last].Name == partKind:
			r.Cells[last].Text = shortened(r.Cells[last].Text, room)
		default:
			r.Cells[last].Text = shortFunction(r.Cells[last].Text, room)
		}
	}
}

func (t Table) widths() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = max(columns(c.Name), columns(c.Unit))
		for _, r := range t.Rows {
			if i < len(r.Cells) {
				widths[i] = max(widths[i], columns(r.Cells[i].Text))
			}
		}
	}
	return widths
}

// part prints the first column and columns from up to to.
func (p *page) part(t Table, widths []int, from, to int) {
	shown := []int{0}
	for i := from; i < to; i++ {
		shown = append(shown, i)
	}
	names, units := make([]Field, len(t.Columns)), make([]Field, len(t.Columns))
	for i, c := range t.Columns {
		names[i], units[i] = Field{c.Name, Bold}, Field{c.Unit, Dim}
	}
	fields := func(cells []Field) string { return p.fields(t, cells, widths, shown) }
	p.line(fields(names))
	if line := fields(units); line != "" {
		p.line(line)
	}
	for _, r := range t.Rows {
		if r.Apart {
			p.blank()
		}
		p.line(fields(r.Cells))
		if from > 1 {
			continue // notes were printed with the first part
		}
		for _, note := range r.Notes {
			p.wrap(noteIndent, noteIndent, note, Dim)
		}
	}
}

func (p *page) fields(t Table, cells []Field, widths, shown []int) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", bodyIndent))
	for n, i := range shown {
		if n > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		var c Field
		if i < len(cells) {
			c = cells[i]
		}
		pad := strings.Repeat(" ", widths[i]-columns(c.Text))
		if t.Columns[i].Right {
			b.WriteString(pad + p.style.paint(c.Mark, c.Text))
		} else {
			b.WriteString(p.style.paint(c.Mark, c.Text) + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// columns is how many columns of a terminal text takes. Every character
// printed here takes one.
func columns(text string) int { return utf8.RuneCountInString(text) }
