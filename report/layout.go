package report

import (
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare/internal/format"
)

// This file lays out tables on a terminal. The constants are terminal columns.
const (
	columnGap    = 2               // between two fields
	noteIndent   = 4               // before a note
	minName      = 20              // least width of a function's name
	minNameStart = bodyIndent + 20 // least start of such a name
)

// writeTable prints t in the width of the page. Columns that do not fit go into parts below. Each part
// repeats the first column.
func (p *textPage) writeTable(t Table) {
	t = t.makeLegible()
	for _, r := range t.Rows {
		for i, c := range r.Cells {
			r.Cells[i] = p.style.showMark(c)
		}
	}
	p.shortenNames(t)
	widths := t.columnWidths()
	for from := 1; from < len(t.Columns); { // each part has the columns [from, to)
		to, used := from+1, bodyIndent+widths[0]+columnGap+widths[from]
		for to < len(t.Columns) && used+columnGap+widths[to] <= p.width {
			used += columnGap + widths[to]
			to++
		}
		if from > 1 {
			p.writeBlank()
		}
		p.writeColumns(t, widths, from, to)
		from = to
	}
}

// shortenNames cuts names of functions in the last column to the width of the page.
func (p *textPage) shortenNames(t Table) {
	last := len(t.Columns) - 1
	used := bodyIndent
	for _, w := range t.columnWidths()[:last] {
		used += w + columnGap
	}
	room := max(p.width-max(used, minNameStart), minName)
	for _, r := range t.Rows {
		switch {
		case last >= len(r.Cells) || r.Cells[last].Mark != Code: // not a name
		case t.Columns[last].Name == partKind:
			r.Cells[last].Text = format.Clip(r.Cells[last].Text, room)
		default:
			r.Cells[last].Text = shortenFunction(r.Cells[last].Text, room)
		}
	}
}

func (t Table) columnWidths() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = max(textWidth(c.Name), textWidth(c.Unit))
		for _, r := range t.Rows {
			if i < len(r.Cells) {
				widths[i] = max(widths[i], textWidth(r.Cells[i].Text))
			}
		}
	}
	return widths
}

// writeColumns prints the first column and the columns in [from, to). Notes come with the first part.
func (p *textPage) writeColumns(t Table, widths []int, from, to int) {
	shown := []int{0}
	for i := from; i < to; i++ {
		shown = append(shown, i)
	}
	names, units := make([]Field, len(t.Columns)), make([]Field, len(t.Columns))
	for i, c := range t.Columns {
		names[i], units[i] = Field{c.Name, Bold}, Field{c.Unit, Dim}
	}
	formatLine := func(cells []Field) string { return p.formatCells(t, cells, widths, shown) }
	p.writeLine(formatLine(names))
	if line := formatLine(units); line != "" {
		p.writeLine(line)
	}
	for _, r := range t.Rows {
		if r.Apart {
			p.writeBlank()
		}
		p.writeLine(formatLine(r.Cells))
		if isFirstPart := from == 1; !isFirstPart {
			continue
		}
		for _, note := range r.Notes {
			p.writeWrapped(noteIndent, noteIndent, note, Dim)
		}
	}
}

// formatCells returns a line with the painted, aligned cells of the columns shown (indexes).
func (p *textPage) formatCells(t Table, cells []Field, widths, shown []int) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", bodyIndent))
	for n, i := range shown {
		if n > 0 {
			b.WriteString(strings.Repeat(" ", columnGap))
		}
		var c Field
		if i < len(cells) {
			c = cells[i]
		}
		pad := strings.Repeat(" ", widths[i]-textWidth(c.Text))
		if t.Columns[i].Right {
			b.WriteString(pad + p.style.paintText(c.Mark, c.Text))
		} else {
			b.WriteString(p.style.paintText(c.Mark, c.Text) + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// textWidth returns the terminal columns of text. Every printed character takes one.
func textWidth(text string) int { return utf8.RuneCountInString(text) }
