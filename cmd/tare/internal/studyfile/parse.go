// Package studyfile reads studies as users write them: YAML, strictly, with
// the line and column of everything that is wrong.
package studyfile

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/tarebench/tare"
)

// Limits of a study file. Real ones are a few kilobytes and four levels deep;
// the parser underneath needs quadratic time for absurd ones.
const (
	MaxBytes = 256 << 10
	maxDepth = 64
)

// Parse reads a study and validates it. name is the path of the file, for
// messages; relative paths in the study start at its directory. Every error
// is an *Error.
func Parse(name string, src []byte) (tare.Study, error) {
	s, _, err := Read(name, src)
	return s, err
}

// Read is Parse that also tells where each field is, for those who find
// something wrong with a study later.
func Read(name string, src []byte) (tare.Study, *Positions, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	p := &Positions{file: name, lines: strings.Split(string(src), "\n"), at: map[string]position{"": {1, 1}}}
	root, err := p.parse(src)
	if err != nil {
		return tare.Study{}, p, err
	}
	r := &reader{Positions: p}
	s := r.study(root)
	if r.err != nil {
		return tare.Study{}, p, r.err
	}
	s.Dir = filepath.Dir(name)
	err = s.Validate()
	if err == nil {
		err = measurable(s)
	}
	if err != nil {
		return tare.Study{}, p, p.Locate(err)
	}
	return s, p, nil
}

// parse returns the one document of the file.
func (p *Positions) parse(src []byte) (root ast.Node, err error) {
	if err := p.precheck(src); err != nil {
		return nil, err
	}
	defer func() {
		if recover() != nil { // in the YAML library; it is our input that made it
			root, err = nil, p.fail(position{1, 1}, "this cannot be read as YAML", "")
		}
	}()
	file, err := parser.ParseBytes(src, 0)
	if err != nil {
		return nil, p.syntax(err)
	}
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
			continue
		case doc.Body.Type() == ast.DirectiveType:
			return nil, p.fail(p.of(doc.Body), "YAML directives are not used in study files", "leave the line out")
		case root != nil:
			return nil, p.fail(p.of(doc.Body), "a second document in one file", "write one study per file")
		}
		root = doc.Body
	}
	if root == nil || root.Type() == ast.CommentType {
		return nil, p.fail(position{1, 1}, "nothing in the file", "begin with study: NAME")
	}
	return root, nil
}

// precheck refuses what no study file contains before a YAML parser sees it.
func (p *Positions) precheck(src []byte) error {
	if len(src) > MaxBytes {
		return p.fail(position{1, 1}, fmt.Sprintf("the file has %d bytes", len(src)), fmt.Sprintf("a study file has at most %d", MaxBytes))
	}
	at, depth := position{1, 0}, 0
	for i, c := range string(src) {
		if at.col++; c == '\n' {
			at.line, at.col = at.line+1, 0
		}
		switch {
		case c == utf8.RuneError && !bytes.HasPrefix(src[i:], []byte("\ufffd")):
			return p.fail(at, "not UTF-8 text", "save the file as UTF-8")
		case c < ' ' && c != '\n' && c != '\t' && !bytes.HasPrefix(src[i:], []byte("\r\n")), c == 0x7f:
			return p.fail(at, fmt.Sprintf("control character %U", c), "study files are plain text")
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return p.fail(at, "too many brackets are open", "close them")
			}
		case c == ']' || c == '}':
			depth = max(0, depth-1)
		}
	}
	return nil
}

// syntax turns the YAML library's error into ours. Its own type is internal;
// these are the methods it has.
func (p *Positions) syntax(err error) error {
	var e interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &e) {
		return p.fail(position{1, 1}, err.Error(), "")
	}
	at, message, rest := position{1, 1}, e.GetMessage(), ""
	if t := e.GetToken(); t != nil && t.Position != nil {
		at = position{t.Position.Line, t.Position.Column}
		if at.line >= 1 && at.line <= len(p.lines) {
			line := []rune(p.lines[at.line-1])
			rest = string(line[min(max(at.col-1, 0), len(line)):])
		}
	}
	if strings.HasPrefix(rest, "\t") {
		return p.fail(at, "a tab where the line begins", "indent with spaces")
	}
	return p.fail(at, message, syntaxHint(message, rest))
}

// syntaxHint knows the slips that YAML's own messages do not explain. rest is
// the line from where the parser stopped.
func syntaxHint(message, rest string) string {
	switch {
	case strings.HasPrefix(rest, ">="):
		return fmt.Sprintf(`put it in quotes: "%s"`, strings.TrimRight(rest, "} ,\r"))
	case strings.Contains(message, "tab character"):
		return "indent with spaces"
	case strings.HasPrefix(message, "mapping value is not allowed"):
		return "put a text with a colon in quotes"
	}
	return ""
}
