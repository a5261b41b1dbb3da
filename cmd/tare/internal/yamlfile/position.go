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

// Positions maps the fields of a file to their positions.
type Positions struct {
	format Format
	file   string
	lines  []string
	at     map[string]Position // by path, as in tare.FieldError
}

// Locate returns a *tare.FieldError as an error at the position of its field or, if the file
// does not have it, of the nearest enclosing field. It returns other errors unchanged.
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
	return p.newError(at, what, f.Hint)
}

// At returns the position of the field at path, and whether the file has it.
func (p *Positions) At(path string) (Position, bool) {
	at, ok := p.at[path]
	return at, ok
}

// Where returns the position of the field at path. If the file does not have it, it returns the
// zero position, which means the beginning.
func (p *Positions) Where(path string) Position { return p.at[path] }

// Put records n as the position of the field at path.
func (p *Positions) Put(path string, n ast.Node) { p.at[path] = p.Of(n) }

// newError returns an error at a position, clamped to the file.
func (p *Positions) newError(at Position, what, hint string) error {
	line := min(max(at.Line, 1), len(p.lines))
	width := utf8.RuneCountInString(strings.TrimSuffix(p.lines[line-1], "\r"))
	return &Error{File: p.file, Line: line, Col: min(max(at.Col, 1), width+1), What: format.Line(what, 0), Hint: format.Line(hint, 0)}
}

// Of returns the position of a node.
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
