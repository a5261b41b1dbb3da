package html

import (
	"embed"
	"html/template"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/plot"
	"github.com/tarebench/tare/report"
)

//go:embed templates/*.html
var templates embed.FS

//go:embed assets/page.css
var pageStyle string

//go:embed assets/page.js
var pageScript string

// styleText returns the text of the style element.
func styleText() string { return "\n" + pageStyle + plot.Style() }

// scriptText returns the text of the script element. The script is inside a function, so that it defines no global
// names.
func scriptText() string { return "\n'use strict';\n(() => {\n" + pageScript + "})();\n" }

// templateFuncs returns the functions that templates call.
func templateFuncs() template.FuncMap {
	return template.FuncMap{
		"class": func(m report.Mark) string {
			if m == report.Plain {
				return "plain"
			}
			return string(m)
		},
		"struck": func(m report.Mark) bool { return m == report.Struck },
		"code":   func(m report.Mark) bool { return m == report.Code },
		"row":    newRowContext,
		"breaks": func(text string) template.HTML { // a line may end after a slash
			return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(text), "/", "/<wbr>")) //nolint:gosec // escaped
		},
	}
}

// rowContext is a row with the properties of its table that templates need.
type rowContext struct {
	Line    line
	Heads   []report.Column // header of each field
	Plotted bool            // the table has a column of drawings
	Labels  bool            // fields are labelled with the names of their columns, for narrow screens
	Span    int             // number of columns
	Alone   bool            // the row has one field, which is a heading of the rows below
}

// newRowContext returns row l of g. It adds empty headers if the row has more fields than the table has columns.
func newRowContext(g *grid, l line) rowContext {
	context := rowContext{
		Line: l, Heads: g.Head, Plotted: g.Plot != nil, Labels: g.IsWide(), Span: g.Span(),
		Alone: len(l.Cells) == 1 && len(g.Head) > 1,
	}
	for missing := len(l.Cells) - len(g.Head); missing > 0; missing-- {
		context.Heads = append(slices.Clip(context.Heads), report.Column{}) // Clip: append must not write into g.Head
	}
	return context
}

// Head returns the header of field i.
func (p rowContext) Head(i int) report.Column { return p.Heads[i] }
