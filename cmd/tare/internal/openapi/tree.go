package openapi

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/lazyregexp"
)

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list
	mapping
)

// String describes a node of the kind in messages.
func (k kind) String() string {
	return [...]string{"empty", "a single value", "a single value", "text", "a list", "a mapping"}[k]
}

// node is a value of a document. An alias and its anchor are one node, which may therefore contain
// itself.
type node struct {
	kind   kind
	at     yamlfile.Position
	text   string         // scalar as in the document, so numbers keep their digits
	fields []field        // fields of a mapping, or items of a list, which have no names
	index  map[string]int // index in fields by name; nil for few fields
}

// field is an entry of a mapping, or an item of a list.
type field struct {
	name  string
	at    yamlfile.Position // position of the name
	value *node
}

// maxUnindexed is the number of fields of a mapping without an index.
const maxUnindexed = 8

// find returns the field with that name. n may be nil.
func (n *node) find(name string) (field, bool) {
	if n == nil || n.kind != mapping {
		return field{}, false
	}
	if n.index != nil {
		i, ok := n.index[name]
		if !ok {
			return field{}, false
		}
		return n.fields[i], true
	}
	for _, f := range n.fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// get returns the value of a field, or nil. n may be nil, so calls can be chained.
func (n *node) get(name string) *node {
	f, _ := n.find(name)
	return f.value
}

// items returns the items of a list, and nil for anything else.
func (n *node) items() []field {
	if n == nil || n.kind != list {
		return nil
	}
	return n.fields
}

// scalar returns the text of a scalar, "" for anything else.
func (n *node) scalar() string {
	if n == nil {
		return ""
	}
	return n.text
}

func (n *node) isTrue() bool {
	return n != nil && n.kind == boolean && strings.EqualFold(n.text, "true")
}

// listField returns the items of a field that is a list. Any other value but null is an error.
func (n *node) listField(name string) ([]field, error) {
	v := n.get(name)
	if v.isNull() || v.kind == list {
		return v.items(), nil
	}
	return nil, fmt.Errorf("%s is %s, not a list", name, v.kind)
}

// boolField returns the value of a boolean field, or unset if the field is missing or null.
func (n *node) boolField(name string, unset bool) (bool, error) {
	v := n.get(name)
	switch {
	case v.isNull():
		return unset, nil
	case v.kind == boolean:
		return v.isTrue(), nil
	}
	return false, fmt.Errorf("%s is %s, not true or false", name, v.kind)
}

// isNull reports whether n is missing or null.
func (n *node) isNull() bool { return n == nil || n.kind == null }

// addField adds a field unless its name is taken: the first one wins.
func (n *node) addField(f field) {
	if _, taken := n.find(f.name); taken {
		return
	}
	n.fields = append(n.fields, f)
	switch {
	case n.index != nil:
		n.index[f.name] = len(n.fields) - 1
	case len(n.fields) > maxUnindexed:
		n.index = make(map[string]int, 2*len(n.fields))
		for i, f := range n.fields {
			n.index[f.name] = i
		}
	}
}

type converter struct {
	reader  *yamlfile.Reader // knows the positions of nodes
	anchors map[string]*node // the last value so far by the name of its anchor
}

func (c *converter) convert(n ast.Node) *node {
	switch x := n.(type) {
	case *ast.AnchorNode:
		value := &node{}
		c.anchors[scalarText(x.Name)] = value // before the value is converted: it may contain an alias of itself
		*value = *c.convert(x.Value)
		return value
	case *ast.AliasNode:
		if known, ok := c.anchors[scalarText(x.Value)]; ok {
			return known
		}
	case *ast.TagNode:
		v := c.convert(x.Value)
		if x.Start != nil && x.Start.Value == "!!str" && (v.kind == boolean || v.kind == number) {
			v.kind = text
		}
		return v
	}
	if s, ok := joinColons(n); ok {
		return &node{at: c.reader.Of(n), kind: text, text: s}
	}
	out := &node{at: c.reader.Of(n), kind: kindOf(n)}
	switch x := n.(type) {
	case *ast.SequenceNode:
		for _, v := range x.Values {
			out.fields = append(out.fields, field{value: c.convert(v)})
		}
	case ast.MapNode:
		c.addFields(out, x)
	default:
		if out.kind != null {
			out.text = scalarText(n)
		}
	}
	return out
}

// joinColons returns the text of a scalar with colons. Inside a flow list such as [12:30, http://host],
// the library mistakes such a scalar for a mapping. The colon of a real one is followed by a space or
// comes after a quoted key (YAML 1.2.2, section 7.4.2).
func joinColons(n ast.Node) (string, bool) {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) == 1 {
		n = m.Values[0]
	}
	m, ok := n.(*ast.MappingValueNode)
	if !ok || m.Start == nil || m.Value == nil {
		return "", false
	}
	key, colon, value := m.Key.GetToken(), m.Start.Position, m.Value.GetToken()
	if v, ok := m.Value.(ast.MapNode); ok {
		if pairs := v.MapRange(); pairs.Next() {
			value = pairs.Key().GetToken()
		}
	}
	isQuoted := key.Type == token.SingleQuoteType || key.Type == token.DoubleQuoteType
	hasSpace := value.Position.Line != colon.Line || value.Position.Column != colon.Column+1
	if isQuoted || hasSpace {
		return "", false
	}
	after, ok := joinColons(m.Value)
	if !ok {
		if _, isScalar := m.Value.(ast.ScalarNode); !isScalar {
			return "", false
		}
		after = scalarText(m.Value)
	}
	return key.Value + ":" + after, true
}

// addFields adds the fields of a mapping, and of those that its merge keys (<<) name.
func (c *converter) addFields(out *node, m ast.MapNode) {
	var merged []*node
	for pairs := m.MapRange(); pairs.Next(); {
		key, value := pairs.Key(), c.convert(pairs.Value())
		if _, ok := key.(*ast.MergeKeyNode); ok {
			merged = append(merged, value)
			continue
		}
		out.addField(field{name: scalarText(key), at: c.reader.Of(key), value: value})
	}
	for _, value := range merged {
		for _, source := range append([]field{{value: value}}, value.items()...) {
			if source.value.kind == mapping {
				for _, f := range source.value.fields {
					out.addField(f)
				}
			}
		}
	}
}

func kindOf(n ast.Node) kind {
	switch x := n.(type) {
	case *ast.NullNode:
		return null
	case *ast.BoolNode:
		return boolean
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return number
	case *ast.SequenceNode:
		return list
	case ast.MapNode:
		return mapping
	case *ast.StringNode: // the library misses some numbers: 1e3, 20 digits
		if x.Token != nil && x.Token.Type == token.StringType && yamlNumber.MatchString(x.Value) {
			return number
		}
	}
	return text
}

// yamlNumber matches a decimal number (YAML 1.2.2, section 10.3.2), such as -1.5e3, .5 and 12.
var yamlNumber = lazyregexp.New(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

func scalarText(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.MappingKeyNode:
		return scalarText(n.Value)
	}
	if t := n.GetToken(); t != nil {
		return t.Value
	}
	return ""
}
