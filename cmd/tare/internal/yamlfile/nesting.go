package yamlfile

import (
	"cmp"

	"github.com/goccy/go-yaml/token"
)

// level is a collection that is open, or a key of one.
type level struct {
	col   int        // where it began
	kind  token.Type // of a flow collection, an entry or a key
	bytes int        // that it adds to the path of what is in it
}

// nesting is where the parser is in a document. Each node keeps its whole path there,
// and each level is a call.
type nesting struct {
	open  []level
	depth int // of open, keys of flow mappings not counted
	flow  int // flow collections among them
	path  int // bytes
	paths int // bytes of those of all tokens until here
	marks int // tags and anchors in a row
}

// flat refuses a document whose collections are nested too deeply, or whose paths
// would fill the memory, before it is parsed.
func (p *Positions) flat(tokens token.Tokens, size int) error {
	var n nesting
	for i := range tokens {
		n.take(tokens, i)
		switch at := (Position{tokens[i].Position.Line, tokens[i].Position.Column}); {
		case max(n.depth, n.marks) > cmp.Or(p.format.MaxDepth, maxDepth):
			return p.wrong(at, "nested too deeply", "write fewer levels")
		case n.paths > 64<<20+16*size:
			return p.wrong(at, "too much below long keys", "write shorter keys, or fewer levels")
		}
	}
	return nil
}

// take takes the i-th token.
func (n *nesting) take(tokens token.Tokens, i int) {
	t := tokens[i]
	if t.Type == token.TagType || t.Type == token.AnchorType {
		n.marks++
	} else if i == 0 || tokens[i-1].Type != token.AnchorType { // or its name
		n.marks = 0
	}
	defer func() { n.paths += n.path + 1 }()
	col, key := t.Position.Column, i+1 < len(tokens) && tokens[i+1].Type == token.MappingValueType
	switch t.Type {
	case token.DocumentHeaderType, token.DocumentEndType:
		*n = nesting{open: n.open[:0], paths: n.paths}
	case token.MappingStartType, token.SequenceStartType:
		n.push(level{col, t.Type, 8})
	case token.MappingEndType, token.SequenceEndType:
		if n.endEntry(); n.flow > 0 {
			n.pop()
		}
	case token.CollectEntryType:
		n.endEntry()
	case token.SequenceEntryType, token.MappingKeyType:
		n.leave(col, t.Type)
		n.push(level{col, t.Type, 8})
	default:
		if key {
			n.endEntry()
			n.leave(col, 0)
			n.push(level{col, 0, len(t.Value) + 3})
		} else if last := len(n.open) - 1; last >= 0 && n.open[last].kind == token.MappingKeyType { // ? key
			n.open[last].bytes += len(t.Value)
			n.path += len(t.Value)
		}
	}
}

// isFlow reports whether a level is a flow collection.
func (l level) isFlow() bool {
	return l.kind == token.MappingStartType || l.kind == token.SequenceStartType
}

func (n *nesting) push(l level) {
	n.open = append(n.open, l)
	n.path += l.bytes
	if l.isFlow() {
		n.flow++
	}
	if n.flow == 0 || l.isFlow() {
		n.depth++
	}
}

func (n *nesting) pop() {
	last := len(n.open) - 1
	l := n.open[last]
	n.open = n.open[:last]
	n.path -= l.bytes
	if n.flow == 0 || l.isFlow() {
		n.depth--
	}
	if l.isFlow() {
		n.flow--
	}
}

// endEntry leaves the key of a flow collection, if one is open.
func (n *nesting) endEntry() {
	for n.flow > 0 && !n.open[len(n.open)-1].isFlow() {
		n.pop()
	}
}

// leave leaves the block collections that end where something begins at a column: those
// behind it, and an entry of its own kind at the same one.
func (n *nesting) leave(col int, kind token.Type) {
	for n.flow == 0 && len(n.open) > 0 {
		last := n.open[len(n.open)-1]
		if last.col < col || last.col == col && last.kind != kind {
			return
		}
		n.pop()
	}
}
