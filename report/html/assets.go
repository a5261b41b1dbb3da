package html

import (
	"embed"
	"html/template"
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

// styleText and scriptText are what stands between the tags. The script is one
// function, so that it leaves no names behind.
func styleText() string  { return "\n" + pageStyle + plot.Style() }
func scriptText() string { return "\n'use strict';\n(() => {\n" + pageScript + "})();\n" }

func functions() template.FuncMap {
	return template.FuncMap{
		"class": func(m report.Mark) string {
			if m == report.Plain {
				return "plain"
			}
			return string(m)
		},
		"struck": func(m report.Mark) bool { return m == report.Struck },
		"code":   func(m report.Mark) bool { return m == report.Code },
		"row":    newPlacing,
		"breaks": func(text string) template.HTML { // a line may end after a slash
			return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(text), "/", "/<wbr>")) //nolint:gosec // escaped
		},
	}
}

// placing is a row with what the templates must know of its table.
type placing struct {
	Line    line
	Heads   []report.Column // one for each field
	Plotted bool
	Labels  bool // fields carry the names of their columns, for narrow screens
	Span    int
	Alone   bool // its one field heads the rows beneath
}

func newPlacing(g *grid, l line) placing {
	p := placing{Line: l, Heads: g.Head, Plotted: g.Plot != nil, Labels: g.IsWide(), Span: g.Span(), Alone: len(l.Cells) == 1 && len(g.Head) > 1}
	for len(p.Heads) < len(l.Cells) {
		p.Heads = append(p.Heads[:len(p.Heads):len(p.Heads)], report.Column{})
	}
	return p
}

// Head is the head of column i.
func (p placing) Head(i int) report.Column { return p.Heads[i] }
