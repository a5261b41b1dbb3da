package html

import (
	"embed"
	"html/template"

	"strings"

	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/internal/plot"
	"github.com/tarebench/tare/report"
)

// The templates, the style sheet and the script of pages are files, which are embedded in the binary.

//go:embed templates/*.html
var templates embed.FS

//go:embed assets/page.css
var pageStyle string

//go:embed assets/page.js
var pageScript string

// styleText returns the text of the style element, without the spaces that only a reader of the source needs.
func styleText() string { return spaces.ReplaceAllString(pageStyle+plot.Style(), "$1$2") }

// spaces matches a separator of a style sheet with the spaces around it, or the space after the colon of a property:
// " { " (group 1 is "{") and the end of "color: " (group 2 is "r:"). It does not match a colon without a letter or
// hyphen before it, so that strings stay as they are.
var spaces = lazyregexp.New(`\s*([{};,])\s*|([a-z-]:) `)

// scriptText returns the text of the script element. The script is inside a function, so that it defines no global
// names.
func scriptText() string { return "\n'use strict';\n(() => {\n" + pageScript + "})();\n" }

// templateFuncs returns the functions that templates call.
func templateFuncs() template.FuncMap {
	return template.FuncMap{
		"keepUnits": format.KeepUnits,
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

// rowContext is a row of a table, with the properties of the table that templates need.
type rowContext struct {
	Line    line
	Plotted bool // the row has a drawing after its first field
	Span    int  // number of columns
	Alone   bool // the row has one field, which is a heading of the rows below
}

// newRowContext returns row l of table g.
func newRowContext(g *grid, l line) rowContext {
	isAlone := len(l.Cells) == 1 && len(g.Head) > 1
	return rowContext{Line: l, Plotted: g.Plot != nil && !isAlone, Span: g.Span(), Alone: isAlone}
}
