package html

import (
	"embed"
	"html/template"
	"strings"

	"github.com/tarebench/tare/report"
)

//go:embed templates/*.html
var templates embed.FS

//go:embed assets/*.css assets/*.js
var assets embed.FS

// Files that make up the style and the script, in order.
func styles() []string { return []string{"page.css", "table.css", "draw.css", "print.css"} }
func scripts() []string {
	return []string{"page.js", "document.js", "filter.js", "sort.js", "compare.js", "zoom.js", "cost.js", "start.js"}
}

// joined is the text of some assets. They are compiled in, so that one that
// cannot be read is one that is not there.
func joined(names []string) string {
	var b strings.Builder
	for _, name := range names {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			panic("html: " + err.Error())
		}
		b.Write(text)
	}
	return b.String()
}

// styleText and scriptText are what stands between the tags. The script is one
// function, so that it leaves no names behind.
func styleText() string  { return "\n" + joined(styles()) }
func scriptText() string { return "\n'use strict';\n(() => {\n" + joined(scripts()) + "})();\n" }

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
		"row":    placed,
	}
}

// placing is a row with what the templates must know of its table.
type placing struct {
	Line    line
	Right   []bool // of each column
	Plotted bool
	Span    int
	On      []string
	Alone   bool // its one field heads the rows beneath
}

func placed(g *grid, l line) placing {
	p := placing{Line: l, Plotted: g.Plot != nil, Span: g.Span(), On: g.On, Alone: len(l.Cells) == 1 && len(g.Head) > 1}
	for _, c := range g.Head {
		p.Right = append(p.Right, c.Right)
	}
	for len(p.Right) < len(l.Cells) {
		p.Right = append(p.Right, false)
	}
	return p
}

// About is the workload that column i is about; empty where it is about none.
func (p placing) About(i int) string { return about(p.On, i) }

// About is the workload that column i is about; empty where it is about none.
func (g *grid) About(i int) string { return about(g.On, i) }

func about(on []string, i int) string {
	if i < len(on) {
		return on[i]
	}
	return ""
}
