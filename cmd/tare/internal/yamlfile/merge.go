package yamlfile

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// mostMerged is how many fields mappings may take from others: a few aliases of one
// large mapping could otherwise stand for any number.
const mostMerged = 1_000_000

// merges counts the fields that the mappings of a document merge.
type merges struct {
	anchors map[string]ast.Node
	sizes   map[ast.Node]int // with what is merged into them
	total   int
	at      ast.Node // key of the merge that is too much; nil: none
}

// mergesFew refuses a document whose mappings merge too many fields.
func (p *Positions) mergesFew(root ast.Node) error {
	m := &merges{anchors: findAnchors(root), sizes: map[ast.Node]int{}}
	if len(m.anchors) > 0 {
		ast.Walk(m, root)
	}
	if m.at == nil {
		return nil
	}
	return p.wrong(p.Of(m.at), fmt.Sprintf("more than %d fields are merged", mostMerged), "merge fewer, or write them out")
}

// findAnchors returns the values of all anchors below n by name, for its aliases.
func findAnchors(n ast.Node) map[string]ast.Node {
	a := anchors{}
	ast.Walk(a, n)
	return a
}

type anchors map[string]ast.Node

// Visit is for [ast.Walk].
func (a anchors) Visit(n ast.Node) ast.Visitor {
	if x, ok := n.(*ast.AnchorNode); ok && x.Name != nil {
		a[x.Name.GetToken().Value] = x.Value
	}
	return a
}

// Visit is for [ast.Walk].
func (m *merges) Visit(n ast.Node) ast.Visitor {
	if entries, ok := n.(*ast.MappingNode); ok {
		for _, pair := range entries.Values {
			if _, merge := pair.Key.(*ast.MergeKeyNode); merge && m.at == nil {
				if m.total += m.size(pair.Value, 0); m.total > mostMerged {
					m.at = pair.Key
				}
			}
		}
	}
	if m.at != nil {
		return nil
	}
	return m
}

// size is how many fields a merge of n adds: those of a mapping, or of all mappings of
// a list. It stops counting where there are too many.
func (m *merges) size(n ast.Node, depth int) (size int) {
	const deepest = 1000 // of mappings that merge others
	switch x := n.(type) {
	case *ast.AnchorNode:
		return m.size(x.Value, depth)
	case *ast.TagNode:
		return m.size(x.Value, depth)
	case *ast.AliasNode:
		if depth > deepest {
			return mostMerged + 1
		}
		return m.size(m.anchors[x.Value.GetToken().Value], depth+1)
	case *ast.SequenceNode:
		for _, v := range x.Values {
			size = min(size+m.size(v, depth+1)+1, mostMerged+1)
		}
	case *ast.MappingNode:
		if known, ok := m.sizes[n]; ok {
			return known
		}
		m.sizes[n] = 0 // it may merge itself
		for _, pair := range x.Values {
			if size++; pair.Key.Type() == ast.MergeKeyType {
				size = min(size+m.size(pair.Value, depth+1), mostMerged+1)
			}
		}
		m.sizes[n] = size
	}
	return size
}
