package yamlfile

import (
	"cmp"
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// level is an open flow collection ([…] or {…}), an entry of a list (- …) or a key (key: …).
type level struct {
	col     int        // column where the level starts
	kind    token.Type // MappingStart {, SequenceStart [, SequenceEntry -, MappingKey ?, or 0 for another key
	bytes   int        // bytes that the level adds to the paths of nodes
	isValue bool       // in a flow collection: this key is the value of the previous key
	nth     int        // number of the key in its mapping, from 0 (in a flow collection: since the last comma)
}

// nesting imitates the parser of the YAML library, to predict its costs. The parser makes a nested call for each
// level, and each node stores its path. For "a: {b: 1}" depth reaches 2, and the longest path is $.a.b.
type nesting struct {
	open  []level
	fixed int // open[:fixed] stay open to the end of the document, see openEntry
	depth int // nested parser calls for the levels in open, see isCall
	flow  int // number of flow collections in open
	path  int // bytes of the current path
	paths int // bytes of the paths of all tokens so far
	steps int // parser steps so far: n for the n-th key of a mapping
	docs  int // number of ended documents

	marks int            // number of tags (!name) and anchors (&name) directly before the token
	mark  token.Position // position of the first of them in its line
	last  token.Type     // type of the token before them
}

func maxPaths(size int) int { return 64<<20 + 16*size }

// checkNesting returns an error if the parser would nest too deeply, fill the memory, or take minutes. size is the
// bytes of the file.
func (p *Positions) checkNesting(tokens token.Tokens, size int) error {
	var n nesting
	for i := range tokens {
		n.addToken(tokens, i)
		switch pos := (Position{tokens[i].Position.Line, tokens[i].Position.Column}); {
		case max(n.depth, n.marks) > cmp.Or(p.format.MaxDepth, maxDepth):
			return p.newError(pos, "nested too deeply", "write fewer levels")
		case n.paths > maxPaths(size):
			return p.newError(pos, "too much below long keys", "write shorter keys, or fewer levels")
		case n.steps > maxSteps:
			return p.newError(pos, "too many keys in large mappings", "write fewer keys in one mapping")
		case n.docs > maxDocs:
			return p.newError(pos, fmt.Sprintf("more than %d documents in one file", maxDocs), fmt.Sprintf("write one %s per file", p.format.Noun))
		}
	}
	return nil
}

// Bytes that a level adds to a path, in addition to the text of a key.
const (
	keyBytes   = 3
	entryBytes = 8
)

// addToken updates n by the i-th token. Only brackets, dashes and keys change levels.
func (n *nesting) addToken(tokens token.Tokens, i int) {
	t := tokens[i]
	defer func() { n.paths += n.path + 1 }()
	isAnchorName := i > 0 && tokens[i-1].Type == token.AnchorType
	switch {
	case t.Type == token.TagType || t.Type == token.AnchorType:
		if n.marks++; n.marks == 1 || n.mark.Line != t.Position.Line {
			n.mark = *t.Position
		}
		return
	case t.Type == token.CommentType, t.Type == token.AliasType, isAnchorName && !isKey(tokens, i):
		return
	}
	l := level{col: t.Position.Column, kind: t.Type, bytes: entryBytes}
	if n.marks > 0 && n.mark.Line == t.Position.Line {
		l.col = n.mark.Column
	}
	switch t.Type {
	case token.DocumentHeaderType, token.DocumentEndType:
		*n = nesting{open: n.open[:0], paths: n.paths, steps: n.steps, docs: n.docs + 1}
		return
	case token.MappingStartType, token.SequenceStartType:
		n.pushLevel(l)
	case token.MappingEndType, token.SequenceEndType:
		if n.endEntry(); n.flow > 0 {
			n.popLevel()
		}
	case token.CollectEntryType:
		n.endEntry()
	case token.SequenceEntryType, token.MappingKeyType:
		n.openEntry(l)
	default:
		if isKey(tokens, i) {
			l.kind, l.bytes = 0, len(t.Value)+keyBytes
			n.openEntry(l)
		} else if last := len(n.open) - 1; last >= 0 && n.open[last].kind == token.MappingKeyType { // the text of ? key
			n.open[last].bytes += len(t.Value)
			n.path += len(t.Value)
		}
	}
	n.marks, n.last = 0, t.Type
}

func isKey(tokens token.Tokens, i int) bool {
	for _, t := range tokens[i+1:] {
		if t.Type != token.CommentType {
			return t.Type == token.MappingValueType
		}
	}
	return false
}

func (l level) isFlow() bool {
	return l.kind == token.MappingStartType || l.kind == token.SequenceStartType
}

// openEntry opens an entry or a key, and closes levels that end before it. After a tag, an anchor or an empty
// entry, the parser takes a key as the value. This holds in any column. In a block, all levels then stay open to
// the end of the document.
func (n *nesting) openEntry(l level) {
	isAfterEmpty := n.last == token.SequenceEntryType || n.last == token.MappingKeyType
	isValue := n.marks > 0 || l.kind != token.SequenceEntryType && isAfterEmpty
	switch {
	case n.flow > 0:
		l.isValue = isValue && n.last == token.MappingValueType
		if l.kind == 0 && !l.isValue {
			if last, ended := n.endEntry(); ended {
				l.nth = last.nth + 1
			}
		}
	case isValue && n.endsBefore(l):
		n.fixed = len(n.open)
	default:
		for n.endsBefore(l) {
			last := n.popLevel()
			isNextKey := last.col == l.col && last.kind != token.SequenceEntryType && l.kind != token.SequenceEntryType
			if isNextKey {
				l.nth = last.nth + 1
			}
		}
	}
	n.pushLevel(l)
}

// isCall reports whether the parser makes a nested call for a level.
func (n *nesting) isCall(l level) bool { return n.flow == 0 || l.isFlow() || l.isValue }

func (n *nesting) pushLevel(l level) {
	n.open = append(n.open, l)
	n.path += l.bytes
	n.steps += l.nth
	if l.isFlow() {
		n.flow++
	}
	if n.isCall(l) {
		n.depth++
	}
}

func (n *nesting) popLevel() level {
	last := len(n.open) - 1
	l := n.open[last]
	n.open = n.open[:last]
	n.path -= l.bytes
	if n.isCall(l) {
		n.depth--
	}
	if l.isFlow() {
		n.flow--
	}
	return l
}

// endEntry closes the open keys of the last flow collection. It returns the outermost key, and whether there was
// one.
func (n *nesting) endEntry() (key level, ended bool) {
	for n.flow > 0 && !n.open[len(n.open)-1].isFlow() {
		key, ended = n.popLevel(), true
	}
	return key, ended
}

// endsBefore reports whether the last open block level ends before l, judging by the columns. A list may begin in
// the column of its key.
func (n *nesting) endsBefore(l level) bool {
	if len(n.open) == n.fixed {
		return false
	}
	last := n.open[len(n.open)-1]
	isListOfKey := l.kind == token.SequenceEntryType && last.kind != l.kind
	return last.col > l.col || last.col == l.col && !isListOfKey
}
