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
	maxRefs = 20   // that are followed from one node on
	maxRef  = 4096 // bytes of one
)

// pathItems returns the path item of a path and those that its $ref leads to. If the
// $ref leads nowhere, the path is added to d.Left.
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
			d.leave(f, next, why)
			return items
		}
		items = append(items, item)
	}
	if refers {
		d.leave(f, ref, "leads in a circle")
	}
	return items
}

// leave records a path item whose $ref leads nowhere.
func (d *Document) leave(path, ref field, why string) {
	d.Left = append(d.Left, Left{ref.at.Line, ref.at.Col, format.Line(path.name, 200), refWhy(ref.value, why)})
}

// refWhy returns the sentence about a reference that leads nowhere.
func refWhy(ref *node, why string) string {
	to := ref.scalar()
	return fmt.Sprintf("its $ref (%s) %s", format.Line(to[:min(len(to), maxRef)], 80), why)
}

// target is where a reference leads, or why it leads nowhere.
type target struct {
	node *node
	why  string
}

// follow returns what a JSON pointer in the fragment of a URL leads to, or why it leads
// nowhere.
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
		if n = child(n, unescape.Replace(part)); n == nil {
			return nil, "is not in the document"
		}
	}
	return n, ""
}

// unescape is that of JSON pointers (RFC 6901, section 4).
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// child returns the value of a mapping by its name, or the item of a list by its number.
func child(n *node, name string) *node {
	if l := n.items(); l != nil {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(l) {
			return l[i].value
		}
		return nil
	}
	return n.get(name)
}

// resolve follows the references of n, and returns the last node and why it cannot be
// read, if so.
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
