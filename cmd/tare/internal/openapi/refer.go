package openapi

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/format"
)

// Bounds of references, which may lead to themselves.
const (
	maxRefs = 20   // references followed from one node
	maxRef  = 4096 // bytes of a reference
)

// pathItems returns a path item and those that its $ref leads to.
func (d *Document) pathItems(f field) []*node {
	items := []*node{f.value}
	ref, hasRef := f.value.find("$ref")
	for range maxRefs {
		next, ok := items[len(items)-1].find("$ref")
		if !ok {
			return items
		}
		item, why := d.follow(next.value.scalar())
		if why == "" && item.kind != mapping {
			why = "is " + item.kind.String() + ", and no path item"
		}
		if why != "" {
			d.addSkipped(f, next, why)
			return items
		}
		items = append(items, item)
	}
	if hasRef { // more than maxRefs references
		d.addSkipped(f, ref, "leads in a circle")
	}
	return items
}

func (d *Document) addSkipped(path, ref field, why string) {
	const maxPath = 200 // characters in a message
	d.Skipped = append(d.Skipped, Skipped{Line: ref.at.Line, Col: ref.at.Col, Path: format.Line(path.name, maxPath), Why: describeRef(ref.value, why)})
}

func describeRef(ref *node, why string) string {
	text := ref.scalar()
	return fmt.Sprintf("its $ref (%s) %s", format.Line(text[:min(len(text), maxRef)], 80), why)
}

// target is the node of a reference, or why there is no target.
type target struct {
	node *node
	why  string // "" if there is a node
}

// follow returns the node of a reference, or why there is none. It looks each reference up once.
func (d *Document) follow(ref string) (*node, string) {
	t, ok := d.refs[ref]
	if !ok {
		t.node, t.why = d.findTarget(ref)
		d.refs[ref] = t
	}
	return t.node, t.why
}

// findTarget returns the node of a reference, which is a JSON pointer in the fragment of a URL.
func (d *Document) findTarget(ref string) (n *node, why string) {
	fragment, ok := strings.CutPrefix(ref, "#")
	switch {
	case !ok:
		return nil, "is in another document, and only this one is read"
	case len(ref) > maxRef:
		return nil, fmt.Sprintf("is longer than %d bytes", maxRef)
	case fragment == "":
		return d.root, ""
	case fragment[0] != '/':
		return nil, "is not a pointer, such as #/components/schemas/User"
	}
	n = d.root
	for part := range strings.SplitSeq(fragment[1:], "/") {
		if decoded, err := url.PathUnescape(part); err == nil {
			part = decoded
		}
		if n = childNode(n, unescape.Replace(part)); n == nil {
			return nil, "is not in the document"
		}
	}
	return n, ""
}

// unescape decodes a part of a JSON pointer (RFC 6901, section 4).
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// childNode returns a value of a mapping or an item of a list.
func childNode(n *node, name string) *node {
	if items := n.items(); items != nil {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(items) {
			return items[i].value
		}
		return nil
	}
	return n.get(name)
}

// resolve follows the $ref of n, and of the node that it leads to, and so on. It returns the last node,
// or why a reference cannot be followed.
func (d *Document) resolve(n *node) (*node, string) {
	for range maxRefs {
		ref, ok := n.find("$ref")
		if !ok || ref.value.kind != text {
			return n, ""
		}
		next, why := d.follow(ref.value.text)
		if why != "" {
			return nil, describeRef(ref.value, why)
		}
		n = next
	}
	return nil, "its $ref leads in a circle"
}
