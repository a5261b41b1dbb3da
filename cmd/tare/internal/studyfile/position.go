package studyfile

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
)

// position counts from 1.
type position struct{ line, col int }

// Positions knows where in its file each field of a study is.
type Positions struct {
	file  string
	lines []string
	at    map[string]position // by path, as in tare.FieldError
}

// Locate puts a *tare.FieldError at the position of its field or, where the
// file does not have it, of the nearest thing around it. Any other error is
// returned as it is.
func (p *Positions) Locate(err error) error {
	var f *tare.FieldError
	if !errors.As(err, &f) {
		return err
	}
	what := f.What
	at, ok := p.at[f.Path]
	if !ok && f.Path != "" {
		what = f.Path + ": " + what
	}
	for path := f.Path; !ok; {
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
		at, ok = p.at[path]
	}
	return p.fail(at, what, f.Hint)
}

// fail makes an error at a position inside the file.
func (p *Positions) fail(at position, what, hint string) error {
	line := min(max(at.line, 1), len(p.lines))
	width := utf8.RuneCountInString(strings.TrimSuffix(p.lines[line-1], "\r"))
	return &Error{File: p.file, Line: line, Col: min(max(at.col, 1), width+1), What: oneLine(what), Hint: oneLine(hint)}
}

// of is where a node begins.
func (p *Positions) of(n ast.Node) position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return p.of(m.Values[0].Key)
	}
	if v, ok := n.(*ast.MappingValueNode); ok {
		return p.of(v.Key)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return position{t.Position.Line, t.Position.Column}
	}
	return position{1, 1}
}
