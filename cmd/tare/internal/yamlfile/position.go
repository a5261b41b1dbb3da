package yamlfile

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Position is a place in a file. Lines and characters count from 1.
type Position struct{ Line, Col int }

// Positions maps the fields of a file to their positions, for errors such as study.yaml:3:5: unknown key.
type Positions struct {
	format Format
	file   string
	lines  []string
	byPath map[string]Position // key: path of a field, e.g. contenders[0].id, as in tare.FieldError
}

// Error is an error at a position in a file.
type Error struct {
	File string
	Line int    // from 1
	Col  int    // from 1, in characters
	What string // the problem
	Hint string // how to correct it; "" for no hint
}

// Error returns one line: file:line:col: what; hint.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.What)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Locate converts a *tare.FieldError to an *[Error] at the position of its field. For a missing field it uses the
// enclosing field, and names the path. It returns other errors unchanged.
func (p *Positions) Locate(err error) error {
	var f *tare.FieldError
	if !errors.As(err, &f) {
		return err
	}
	what := f.What
	pos, ok := p.byPath[f.Path]
	if !ok && f.Path != "" {
		what = f.Path + ": " + what
	}
	for path := f.Path; !ok; { // ends at "" or before
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
		pos, ok = p.byPath[path]
	}
	return p.newError(pos, what, f.Hint)
}

// At returns the position of the field at path. It returns false if the file lacks the field.
func (p *Positions) At(path string) (Position, bool) {
	pos, ok := p.byPath[path]
	return pos, ok
}

// Where returns the position of the field at path. For a missing field it returns the zero position, which errors
// print as the start of the file.
func (p *Positions) Where(path string) Position { return p.byPath[path] }

// Put records n as the position of the field at path.
func (p *Positions) Put(path string, n ast.Node) { p.byPath[path] = p.Of(n) }

// newError returns an error at the position in the file that is nearest to pos.
func (p *Positions) newError(pos Position, what, hint string) error {
	line := min(max(pos.Line, 1), len(p.lines))
	width := utf8.RuneCountInString(strings.TrimSuffix(p.lines[line-1], "\r"))
	return &Error{
		File: p.file,
		Line: line,
		Col:  min(max(pos.Col, 1), width+1),
		What: format.Line(what, 0),
		Hint: format.Line(hint, 0),
	}
}

// Of returns the position of a node. A block mapping is at its first key.
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
