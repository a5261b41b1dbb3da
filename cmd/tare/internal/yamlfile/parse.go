// Package yamlfile reads the YAML files of tare's users. It is strict and reports the
// line and column of each error. The meaning of the fields is up to
// the packages of each format, such as studies and projects.
package yamlfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a file. Real ones are a few kilobytes and four levels deep.
const (
	MaxBytes = 256 << 10
	maxDepth = 64
	maxMarks = 8 << 20 // each a token of about 250 bytes
	maxEmpty = 100     // lines in a row: after a block text the lexer takes quadratic time for them
	maxDocs  = 100     // documents, of which one may have content: the parser takes quadratic time for them
	maxSteps = 1 << 28 // for the n-th key of a mapping the parser takes n: 23,170 keys in one, or 7,327 in each of ten

	// The lexer and the parser take quadratic time for other inputs, too.
	maxTime = 3 * time.Minute // a document of 8 MB took 4 s of a processor, 27 s on a busy machine
)

// Format describes a kind of file for messages, and its limits.
type Format struct {
	Noun  string // content of one file, e.g. study
	Begin string // advice for an empty file, e.g. begin with study: NAME

	MaxBytes int           // of a file; 0 means MaxBytes
	MaxDepth int           // of collections; 0 means 64
	MaxTime  time.Duration // of parsing; 0 means three minutes
}

// Open parses src, the text of the file name. The error is an *[Error]. The reader is never nil
// and can locate errors.
func Open(name string, src []byte, f Format) (*Reader, ast.Node, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	p := &Positions{format: f, file: name, lines: strings.Split(string(src), "\n"), at: map[string]Position{"": {1, 1}}}
	root, err := p.parseWithin(src)
	return &Reader{Positions: p}, root, err
}

// parseWithin returns the document of the file, or an error after the time limit. The YAML
// library cannot be stopped and then runs until tare ends.
func (p *Positions) parseWithin(src []byte) (ast.Node, error) {
	if err := p.checkText(src); err != nil {
		return nil, err
	}
	type parsed struct {
		root ast.Node
		err  error
	}
	done := make(chan parsed, 1)
	go func() {
		root, err := p.parseDocument(src)
		done <- parsed{root, err}
	}()
	limit := cmp.Or(p.format.MaxTime, maxTime)
	select {
	case d := <-done:
		return d.root, d.err
	case <-time.After(limit):
		return nil, p.newError(Position{1, 1}, fmt.Sprintf("parsing takes more than %v", limit), "describe less in one file")
	}
}

// parseDocument returns the only document of the file.
func (p *Positions) parseDocument(src []byte) (root ast.Node, err error) {
	defer func() {
		if recover() != nil { // a panic of the YAML library about this input
			root, err = nil, p.newError(Position{1, 1}, "this cannot be read as YAML", "")
		}
	}()
	tokens := lexer.Tokenize(string(src))
	if err := p.checkNesting(tokens, len(src)); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, p.syntaxError(err)
	}
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
			continue
		case doc.Body.Type() == ast.DirectiveType:
			return nil, p.newError(p.Of(doc.Body), "YAML directives are not used in "+p.format.Noun+" files", "leave the line out")
		case root != nil:
			return nil, p.newError(p.Of(doc.Body), "a second document in one file", "write one "+p.format.Noun+" per file")
		}
		root = doc.Body
	}
	if root == nil || root.Type() == ast.CommentType {
		return nil, p.newError(Position{1, 1}, "nothing in the file", p.format.Begin)
	}
	return root, p.checkMerges(root)
}

// checkText rejects invalid text before the YAML parser sees it.
func (p *Positions) checkText(src []byte) error {
	if most := cmp.Or(p.format.MaxBytes, MaxBytes); len(src) > most {
		return p.newError(Position{1, 1}, fmt.Sprintf("the file has %d bytes", len(src)), fmt.Sprintf("a %s file has at most %d", p.format.Noun, most))
	}
	at, marks, empty := Position{1, 0}, 0, 0
	for i, c := range string(src) {
		if at.Col++; c == '\n' {
			at.Line, at.Col = at.Line+1, 0
			empty++
		} else if c != ' ' && c != '\t' && c != '\r' {
			empty = -1
		}
		switch {
		case empty > maxEmpty:
			return p.newError(at, fmt.Sprintf("more than %d empty lines in a row", maxEmpty), "leave some out")
		case c == utf8.RuneError && !bytes.HasPrefix(src[i:], []byte("\ufffd")):
			return p.newError(at, "not UTF-8 text", "save the file as UTF-8")
		case c < ' ' && c != '\n' && c != '\t' && !bytes.HasPrefix(src[i:], []byte("\r\n")), c == 0x7f:
			return p.newError(at, fmt.Sprintf("control character %U", c), p.format.Noun+" files are plain text")
		case strings.ContainsRune("[]{},:-?&*!@`%\n", c):
			marks += 2
		case c == '"' || c == '\'': // two per token
			marks++
		}
		if marks > 2*maxMarks {
			return p.newError(at, fmt.Sprintf("more than %d commas, colons, brackets, texts and lines", maxMarks), "describe less in one file")
		}
	}
	return nil
}

// syntaxError converts the YAML library's error, whose type is internal, by its methods.
func (p *Positions) syntaxError(err error) error {
	var e interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &e) {
		return p.newError(Position{1, 1}, err.Error(), "")
	}
	at, message, rest := Position{1, 1}, e.GetMessage(), ""
	if t := e.GetToken(); t != nil && t.Position != nil {
		at = Position{t.Position.Line, t.Position.Column}
		if at.Line >= 1 && at.Line <= len(p.lines) {
			line := []rune(p.lines[at.Line-1])
			rest = string(line[min(max(at.Col-1, 0), len(line)):])
		}
	}
	if strings.HasPrefix(rest, "\t") {
		return p.newError(at, "a tab where the line begins", "indent with spaces")
	}
	return p.newError(at, message, syntaxHint(message, rest))
}

// syntaxHint returns a hint for errors that YAML's messages do not explain. rest is the line
// from the position of the error.
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
