package yamlfile

import (
	"cmp"
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// level is an open collection, or a key of one.
type level struct {
	col   int        // column of its start
	kind  token.Type // of a flow collection, an entry or a key
	bytes int        // that it adds to the paths of its nodes
	in    bool       // the value of the preceding key in the same flow collection
	nth   int        // number among the keys of its mapping, from 0; in a flow collection since the last comma
}

// nesting is the state of the parser at a token. Each node stores its complete path, and each
// level is a call.
type nesting struct {
	open  []level
	fixed int // number of levels of open that end with the document
	depth int // of open, without keys of flow mappings
	flow  int // flow collections among them
	path  int // bytes
	paths int // bytes of the paths of all tokens so far
	steps int // of the parser: the n-th key of a mapping takes n
	docs  int

	marks int            // tags and anchors in a row
	mark  token.Position // of the first of them in its line
	last  token.Type     // before them
}

// checkNesting rejects a document before parsing if its collections are nested too deeply, its
// paths would fill the memory, or its mappings would take minutes.
func (p *Positions) checkNesting(tokens token.Tokens, size int) error {
	var n nesting
	for i := range tokens {
		n.addToken(tokens, i)
		switch at := (Position{tokens[i].Position.Line, tokens[i].Position.Column}); {
		case max(n.depth, n.marks) > cmp.Or(p.format.MaxDepth, maxDepth):
			return p.newError(at, "nested too deeply", "write fewer levels")
		case n.paths > 64<<20+16*size:
			return p.newError(at, "too much below long keys", "write shorter keys, or fewer levels")
		case n.steps > maxSteps:
			return p.newError(at, "too many keys in large mappings", "write fewer keys in one mapping")
		case n.docs > maxDocs:
			return p.newError(at, fmt.Sprintf("more than %d documents in one file", maxDocs), fmt.Sprintf("write one %s per file", p.format.Noun))
		}
	}
	return nil
}

// addToken updates the state by the i-th token.
func (n *nesting) addToken(tokens token.Tokens, i int) {
	t := tokens[i]
	defer func() { n.paths += n.path + 1 }()
	name := i > 0 && tokens[i-1].Type == token.AnchorType
	switch {
	case t.Type == token.TagType || t.Type == token.AnchorType:
		if n.marks++; n.marks == 1 || n.mark.Line != t.Position.Line {
			n.mark = *t.Position
		}
		return
	case t.Type == token.CommentType, t.Type == token.AliasType, name && !isKey(tokens, i):
		return
	}
	l := level{col: t.Position.Column, kind: t.Type, bytes: 8}
	if n.marks > 0 && n.mark.Line == t.Position.Line {
		l.col = n.mark.Column
	}
	switch t.Type {
	case token.DocumentHeaderType, token.DocumentEndType:
		*n = nesting{open: n.open[:0], paths: n.paths, steps: n.steps, docs: n.docs + 1}
		return
	case token.MappingStartType, token.SequenceStartType:
		n.push(l)
	case token.MappingEndType, token.SequenceEndType:
		if n.endEntry(); n.flow > 0 {
			n.pop()
		}
	case token.CollectEntryType:
		n.endEntry()
	case token.SequenceEntryType, token.MappingKeyType:
		n.openEntry(l)
	default:
		if isKey(tokens, i) {
			l.kind, l.bytes = 0, len(t.Value)+3
			n.openEntry(l)
		} else if last := len(n.open) - 1; last >= 0 && n.open[last].kind == token.MappingKeyType { // ? key
			n.open[last].bytes += len(t.Value)
			n.path += len(t.Value)
		}
	}
	n.marks, n.last = 0, t.Type
}

// isKey reports whether a colon follows the i-th token.
func isKey(tokens token.Tokens, i int) bool {
	for i++; i < len(tokens) && tokens[i].Type == token.CommentType; i++ {
	}
	return i < len(tokens) && tokens[i].Type == token.MappingValueType
}

// isFlow reports whether a level is a flow collection.
func (l level) isFlow() bool {
	return l.kind == token.MappingStartType || l.kind == token.SequenceStartType
}

// openEntry opens an entry or a key and closes the levels that end before it. After a tag, an
// anchor or an empty entry the parser takes it for the value of that, whatever its column, and
// all levels stay open.
func (n *nesting) openEntry(l level) {
	value := n.marks > 0 || l.kind != token.SequenceEntryType && (n.last == token.SequenceEntryType || n.last == token.MappingKeyType)
	switch {
	case n.flow > 0:
		if l.in = value && n.last == token.MappingValueType; l.kind == 0 && !l.in {
			if last, ended := n.endEntry(); ended {
				l.nth = last.nth + 1
			}
		}
	case value && n.endsBefore(l):
		n.fixed = len(n.open)
	default:
		for n.endsBefore(l) {
			if last := n.pop(); last.col == l.col && last.kind != token.SequenceEntryType && l.kind != token.SequenceEntryType {
				l.nth = last.nth + 1
			}
		}
	}
	n.push(l)
}

func (n *nesting) push(l level) {
	n.open = append(n.open, l)
	n.path += l.bytes
	n.steps += l.nth
	if l.isFlow() {
		n.flow++
	}
	if n.flow == 0 || l.isFlow() || l.in {
		n.depth++
	}
}

func (n *nesting) pop() level {
	last := len(n.open) - 1
	l := n.open[last]
	n.open = n.open[:last]
	n.path -= l.bytes
	if n.flow == 0 || l.isFlow() || l.in {
		n.depth--
	}
	if l.isFlow() {
		n.flow--
	}
	return l
}

// endEntry closes the open key of a flow collection.
func (n *nesting) endEntry() (key level, ended bool) {
	for n.flow > 0 && !n.open[len(n.open)-1].isFlow() {
		key, ended = n.pop(), true
	}
	return key, ended
}

// endsBefore reports whether the last open block collection ends where l begins: its column is
// greater, or equal and l is not a list below a key.
func (n *nesting) endsBefore(l level) bool {
	if len(n.open) == n.fixed {
		return false
	}
	last := n.open[len(n.open)-1]
	return last.col > l.col || last.col == l.col && (l.kind != token.SequenceEntryType || last.kind == l.kind)
}
