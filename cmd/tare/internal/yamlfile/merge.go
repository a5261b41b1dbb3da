package yamlfile

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// maxMerged limits the fields that the mappings of a file copy from others.
// In YAML, &base names a mapping and <<: *base copies its fields.
// A few copies of copies could otherwise expand without bound.
const maxMerged = 1_000_000

// mergeCounter is a visitor of [ast.Walk] that counts merged fields.
type mergeCounter struct {
	anchors map[string]ast.Node // values of anchors by name
	sizes   map[ast.Node]int    // number of fields of each mapping after merging
	total   int                 // number of merged fields so far
	excess  ast.Node            // key of the first merge beyond the limit; nil if absent
}

func (p *Positions) checkMerges(root ast.Node) error {
	m := &mergeCounter{anchors: findAnchors(root), sizes: map[ast.Node]int{}}
	if len(m.anchors) > 0 {
		ast.Walk(m, root)
	}
	if m.excess == nil {
		return nil
	}
	return p.newError(p.Of(m.excess), fmt.Sprintf("more than %d fields are merged", maxMerged), "merge fewer, or write them out")
}

func findAnchors(n ast.Node) map[string]ast.Node {
	a := anchorFinder{}
	ast.Walk(a, n)
	return a
}

type anchorFinder map[string]ast.Node

// Visit adds n if it is an anchor, such as &base {a: 1}.
func (a anchorFinder) Visit(n ast.Node) ast.Visitor {
	if x, ok := n.(*ast.AnchorNode); ok && x.Name != nil {
		a[x.Name.GetToken().Value] = x.Value
	}
	return a
}

// Visit counts the fields that n merges. It returns nil after the limit, to end the walk.
func (m *mergeCounter) Visit(n ast.Node) ast.Visitor {
	if entries, ok := n.(*ast.MappingNode); ok {
		for _, pair := range entries.Values {
			if _, merge := pair.Key.(*ast.MergeKeyNode); merge && m.excess == nil {
				if m.total += m.countFields(pair.Value, 0); m.total > maxMerged {
					m.excess = pair.Key
				}
			}
		}
	}
	if m.excess != nil {
		return nil
	}
	return m
}

// countFields returns the number of fields that a merge of n adds. depth is the number of aliases, lists and
// mappings around n.
func (m *mergeCounter) countFields(n ast.Node, depth int) (size int) {
	const maxAliases = 1000 // within each other
	switch x := n.(type) {
	case *ast.AnchorNode:
		return m.countFields(x.Value, depth)
	case *ast.TagNode:
		return m.countFields(x.Value, depth)
	case *ast.AliasNode:
		if depth > maxAliases {
			return maxMerged + 1
		}
		return m.countFields(m.anchors[x.Value.GetToken().Value], depth+1)
	case *ast.SequenceNode:
		for _, v := range x.Values {
			size = min(size+m.countFields(v, depth+1)+1, maxMerged+1)
		}
	case *ast.MappingNode:
		if known, ok := m.sizes[n]; ok {
			return known
		}
		m.sizes[n] = 0 // a mapping may merge itself
		for _, pair := range x.Values {
			if size++; pair.Key.Type() == ast.MergeKeyType {
				size = min(size+m.countFields(pair.Value, depth+1), maxMerged+1)
			}
		}
		m.sizes[n] = size
	}
	return size
}
