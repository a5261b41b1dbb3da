package yamlfile

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Position counts from 1; columns are characters.
type Position struct{ Line, Col int }

// Positions knows where in its file each field is.
type Positions struct {
	format Format
	file   string
	lines  []string
	at     map[string]Position // by path, as in tare.FieldError
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
	return p.wrong(at, what, f.Hint)
}

// At is where the field at path is, and whether the file has it.
func (p *Positions) At(path string) (Position, bool) {
	at, ok := p.at[path]
	return at, ok
}

// Where is where the field at path is; the zero position, which counts as the
// beginning, where the file does not have it.
func (p *Positions) Where(path string) Position { return p.at[path] }

// Put remembers that the field at path is at n.
func (p *Positions) Put(path string, n ast.Node) { p.at[path] = p.Of(n) }

// wrong makes an error at a position inside the file.
func (p *Positions) wrong(at Position, what, hint string) error {
	line := min(max(at.Line, 1), len(p.lines))
	width := utf8.RuneCountInString(strings.TrimSuffix(p.lines[line-1], "\r"))
	return &Error{File: p.file, Line: line, Col: min(max(at.Col, 1), width+1), What: format.Line(what, 0), Hint: format.Line(hint, 0)}
}

// Of is where a node begins.
func (p *Positions) Of(n ast.Node) Position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return p.Of(m.Values[0].Key)
	}
	if v, ok := n.(*ast.MappingValueNode); ok {
		return p.Of(v.Key)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return Position{t.Position.Line, t.Position.Column}
	}
	return Position{1, 1}
}
