package html

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tarebench/tare/report"
)

// To keep pages small, cells do not repeat properties of their column. CSS classes of the table align columns. On
// narrow screens style rules print the column's name before each field. Rows and fields have no closing tags,
// which HTML allows.

func (g *grid) Classes() string {
	classes := []string{"t"}
	if g.Key != "" {
		classes = append(classes, g.Key)
	}
	if g.Plot != nil {
		classes = append(classes, "drawn")
	}
	if g.IsWide() {
		classes = append(classes, "wide", g.labels)
	}
	for i, c := range g.Head {
		if c.Right {
			classes = append(classes, "r"+strconv.Itoa(g.findPosition(i)))
		}
	}
	return strings.Join(classes, " ")
}

// findPosition returns the position of a column in a row, from 1. column is an index in Head.
func (g *grid) findPosition(column int) int {
	if g.Plot != nil && column > 0 {
		return column + 2 // a drawing is after the first field
	}
	return column + 1
}

// labelColumns gives each wide table a CSS class for the names of its columns, and returns the rules. Tables with
// the same columns share a class.
func labelColumns(tables []*grid) string {
	var rules strings.Builder
	var known []string // results of formatLabels, for the classes l1, l2, …
	for _, g := range tables {
		if !g.IsWide() {
			continue
		}
		names := g.formatLabels()
		i := slices.Index(known, names)
		if isNew := i < 0; isNew {
			i = len(known)
			known = append(known, names)
			rules.WriteString(strings.ReplaceAll(names, "&", ".l"+strconv.Itoa(i+1)))
		}
		g.labels = "l" + strconv.Itoa(i+1)
	}
	if rules.Len() == 0 {
		return ""
	}
	return "@media screen and (max-width: 760px) {\n" + rules.String() + "}\n"
}

// formatLabels returns the rules that print column names, with & for the class.
func (g *grid) formatLabels() string {
	var b strings.Builder
	for i, c := range g.Head {
		if i > 0 {
			fmt.Fprintf(&b, "& td:nth-child(%d)::before{content:%s}\n", g.findPosition(i), quoteCSS(report.Legible(c.Name)+": "))
		}
	}
	return b.String()
}

// quoteCSS returns text as a string of a style sheet. It escapes every character that could end the string or the
// style element.
func quoteCSS(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune(" .,:;+-/%()÷×†", c) {
			b.WriteRune(c)
			continue
		}
		fmt.Fprintf(&b, `\%X `, c)
	}
	b.WriteByte('"')
	return b.String()
}
