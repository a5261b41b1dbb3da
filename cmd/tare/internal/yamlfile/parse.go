// Package yamlfile reads the YAML files of tare's users. It rejects unknown keys and wrong types, with the line
// and column. Packages such as studyfile and project define the fields.
//
// [Open] checks the text before the YAML library parses it. For some inputs the library takes quadratic time or
// unbounded memory. A [Reader] then decodes the nodes.
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

// Limits of a file. Real files have a few kilobytes and four levels.
const (
	MaxBytes = 256 << 10
	maxDepth = 64      // levels of nested collections
	maxMarks = 8 << 20 // tokens; the lexer takes about 250 bytes for each
	maxEmpty = 100     // empty lines in a row; after a block text they take quadratic time
	maxDocs  = 100     // documents; they take quadratic time, and only one may have content
	// maxSteps limits the steps of the parser, which takes n for the n-th key of a mapping. It allows 23,170 keys
	// in one mapping, or 7,327 in each of ten.
	maxSteps = 1 << 28

	// maxTime limits the time for other quadratic inputs. A document of 8 MB took 4 s, and 27 s on a busy machine.
	maxTime = 3 * time.Minute
)

// Format describes a kind of file, and its limits.
type Format struct {
	Noun  string // content of a file in errors, e.g. study
	Begin string // advice for an empty file, e.g. begin with study: NAME

	MaxBytes int           // bytes of a file; 0 means the constant MaxBytes
	MaxDepth int           // nested collections; 0 means 64
	MaxTime  time.Duration // time for parsing; 0 means three minutes
}

// Open parses src and returns a reader and the root of the document. name is the file name in errors. An error is
// an *[Error]. The reader is never nil and can locate other errors.
func Open(name string, src []byte, f Format) (*Reader, ast.Node, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	p := &Positions{
		format: f,
		file:   name,
		lines:  strings.Split(string(src), "\n"),
		byPath: map[string]Position{"": {1, 1}},
	}
	root, err := p.parseWithin(src)
	return &Reader{Positions: p}, root, err
}

// parseWithin returns the root of the document. The YAML library cannot be stopped: after the time limit its
// goroutine continues.
func (p *Positions) parseWithin(src []byte) (ast.Node, error) {
	if err := p.checkText(src); err != nil {
		return nil, err
	}
	type document struct {
		root ast.Node
		err  error
	}
	done := make(chan document, 1)
	go func() {
		root, err := p.parseDocument(src)
		done <- document{root, err}
	}()
	limit := cmp.Or(p.format.MaxTime, maxTime)
	select {
	case d := <-done:
		return d.root, d.err
	case <-time.After(limit):
		return nil, p.newError(Position{1, 1}, fmt.Sprintf("parsing takes more than %v", limit), "describe less in one file")
	}
}

func (p *Positions) parseDocument(src []byte) (root ast.Node, err error) {
	defer func() {
		if recover() != nil { // the YAML library panics for some inputs
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

// checkText rejects a text that is invalid, or too costly for the YAML library.
func (p *Positions) checkText(src []byte) error {
	if limit := cmp.Or(p.format.MaxBytes, MaxBytes); len(src) > limit {
		return p.newError(Position{1, 1}, fmt.Sprintf("the file has %d bytes", len(src)), fmt.Sprintf("a %s file has at most %d", p.format.Noun, limit))
	}
	// marks counts half tokens: 2 for a character that is a token, 1 for a quote. empty counts the empty lines
	// before this one; -1 means that it has content.
	pos, marks, empty := Position{1, 0}, 0, 0
	for i, c := range string(src) {
		if pos.Col++; c == '\n' {
			pos.Line, pos.Col = pos.Line+1, 0
			empty++
		} else if c != ' ' && c != '\t' && c != '\r' {
			empty = -1
		}
		isInvalid := c == utf8.RuneError && !bytes.HasPrefix(src[i:], []byte("\ufffd")) // not U+FFFD itself
		isLineEnd := c == '\n' || bytes.HasPrefix(src[i:], []byte("\r\n"))
		isControl := c == 0x7f || c < ' ' && c != '\t' && !isLineEnd
		switch {
		case empty > maxEmpty:
			return p.newError(pos, fmt.Sprintf("more than %d empty lines in a row", maxEmpty), "leave some out")
		case isInvalid:
			return p.newError(pos, "not UTF-8 text", "save the file as UTF-8")
		case isControl:
			return p.newError(pos, fmt.Sprintf("control character %U", c), p.format.Noun+" files are plain text")
		case strings.ContainsRune("[]{},:-?&*!@`%\n", c):
			marks += 2
		case c == '"' || c == '\'':
			marks++
		}
		if marks > 2*maxMarks {
			return p.newError(pos, fmt.Sprintf("more than %d commas, colons, brackets, texts and lines", maxMarks), "describe less in one file")
		}
	}
	return nil
}

// syntaxError converts an error of the YAML library to an *[Error] at the position of its token. The library
// does not export the type of the error, only its methods.
func (p *Positions) syntaxError(err error) error {
	var e interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &e) {
		return p.newError(Position{1, 1}, err.Error(), "")
	}
	pos, message, rest := Position{1, 1}, e.GetMessage(), "" // rest: the line from pos on
	if t := e.GetToken(); t != nil && t.Position != nil {
		pos = Position{t.Position.Line, t.Position.Column}
		if pos.Line >= 1 && pos.Line <= len(p.lines) {
			line := []rune(p.lines[pos.Line-1])
			rest = string(line[min(max(pos.Col-1, 0), len(line)):])
		}
	}
	if strings.HasPrefix(rest, "\t") {
		return p.newError(pos, "a tab where the line begins", "indent with spaces")
	}
	return p.newError(pos, message, syntaxHint(message, rest))
}

// syntaxHint returns a hint for a message of the YAML library that does not explain itself,
// else "". rest is the line from the position of the error.
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
