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

// The templates, the style sheet and the script of pages are embedded in the binary.

//go:embed templates/*.html
var templates embed.FS

//go:embed assets/page.css
var pageStyle string

//go:embed assets/page.js
var pageScript string

// styleText returns the text of the style element, without spaces for readers.
func styleText() string { return spaces.ReplaceAllString(pageStyle+plot.Style(), "$1$2") }

// spaces matches a separator of a style sheet with the spaces around it, e.g. " { " (group 1 is "{"). It also
// matches the end of "color: " (group 2 is "r:"). Other colons can be in strings, which must not change.
var spaces = lazyregexp.New(`\s*([{};,])\s*|([a-z-]:) `)

// scriptText returns the text of the script element. A function around it keeps names out of the global scope.
func scriptText() string { return "\n'use strict';\n(() => {\n" + pageScript + "})();\n" }

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

// rowContext is a row with the properties of its table that templates need.
type rowContext struct {
	Line    line
	Plotted bool // a drawing follows the first field
	Span    int  // number of columns
	Alone   bool // the only field is a heading of the rows below
}

func newRowContext(g *grid, l line) rowContext {
	isAlone := len(l.Cells) == 1 && len(g.Head) > 1
	return rowContext{Line: l, Plotted: g.Plot != nil && !isAlone, Span: g.Span(), Alone: isAlone}
}
