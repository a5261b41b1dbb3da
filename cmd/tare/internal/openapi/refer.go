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
	maxRefs = 20   // followed from one node
	maxRef  = 4096 // bytes of one
)

// pathItems returns the path item of a path and those that its $ref leads to. If the $ref
// cannot be followed, it adds the path to d.Left.
func (d *Document) pathItems(f field) []*node {
	items := []*node{f.value}
	ref, refers := f.value.find("$ref")
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
			d.addLeft(f, next, why)
			return items
		}
		items = append(items, item)
	}
	if refers {
		d.addLeft(f, ref, "leads in a circle")
	}
	return items
}

// addLeft records a path item whose $ref cannot be followed.
func (d *Document) addLeft(path, ref field, why string) {
	d.Left = append(d.Left, Left{ref.at.Line, ref.at.Col, format.Line(path.name, 200), refWhy(ref.value, why)})
}

// refWhy returns the sentence about a reference that cannot be followed.
func refWhy(ref *node, why string) string {
	to := ref.scalar()
	return fmt.Sprintf("its $ref (%s) %s", format.Line(to[:min(len(to), maxRef)], 80), why)
}

// target is the node of a reference, or why there is none.
type target struct {
	node *node
	why  string
}

// follow returns the node for a JSON pointer in a URL fragment, or why there is none.
func (d *Document) follow(ref string) (*node, string) {
	to, known := d.refs[ref]
	if !known {
		to.node, to.why = d.findTarget(ref)
		d.refs[ref] = to
	}
	return to.node, to.why
}

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
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		if n = childNode(n, unescape.Replace(part)); n == nil {
			return nil, "is not in the document"
		}
	}
	return n, ""
}

// unescape decodes JSON pointers (RFC 6901, section 4).
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// childNode returns the value of a mapping by its name, or the item of a list by its number.
func childNode(n *node, name string) *node {
	if l := n.items(); l != nil {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(l) {
			return l[i].value
		}
		return nil
	}
	return n.get(name)
}

// resolve follows the references of n. It returns the last node, or why that cannot be read.
func (d *Document) resolve(n *node) (*node, string) {
	for range maxRefs {
		ref, ok := n.find("$ref")
		if !ok || ref.value.kind != text {
			return n, ""
		}
		next, why := d.follow(ref.value.text)
		if why != "" {
			return nil, refWhy(ref.value, why)
		}
		n = next
	}
	return nil, "its $ref leads in a circle"
}
