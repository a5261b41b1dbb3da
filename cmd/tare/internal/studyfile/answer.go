package studyfile

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
)

// readAnswer reads an answer to the question of the study: a text, or a mapping with a condition. The
// report prints the first answer whose condition holds.
func (r *reader) readAnswer(n ast.Node, path string) (a tare.Answer) {
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		r.Text(&a.Text, "")(n, path)
		r.Put(path+".text", n) // for errors in the text
		return a
	}
	r.Mapping(n, path, "a sentence in quotes, or {when: met, of: …, headline: …, figures: …}", map[string]yamlfile.Take{
		"when": func(n ast.Node, path string) {
			var s string
			r.Text(&s, "known: met, not met, inconclusive, void")(n, path)
			a.When = tare.Ruling(s)
		},
		"of":    r.Texts(&a.Of, "e.g. gin-new get/c10 cpu"),
		"ratio": r.Text(&a.Ratio, quoteRule),
		"to":    r.Text(&a.To, "name a workload"),
		"text":  r.Text(&a.Text, ""),

		"headline": r.Text(&a.Headline, ""),
		"figures":  r.Text(&a.Figures, ""),
	}, nil)
	return a
}
