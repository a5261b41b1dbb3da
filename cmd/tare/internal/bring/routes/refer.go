package routes

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/format"
)

// mostRefs is how many references are followed from one path item on: they may
// lead to themselves.
const mostRefs = 20

// methodsOf are the methods of a path item, with those of the path item that its $ref
// leads to, as long as that is in the same document.
func (a *openAPI) methodsOf(name string, item mapping) (list []string) {
	var first field // reference
	for range mostRefs {
		own := slices.DeleteFunc(methods(), func(m string) bool {
			_, has := item.at[m]
			return !has || slices.Contains(list, m)
		})
		slices.SortFunc(own, func(x, y string) int { return item.at[x] - item.at[y] })
		list = append(list, own...)
		ref, more := item.field("$ref")
		if !more {
			return list
		}
		if first.key == nil {
			first = ref
		}
		var why string
		if item, why = a.follow(text(ref.value)); why != "" {
			a.leave(ref, name, why)
			return list
		}
	}
	a.leave(first, name, "leads in a circle")
	return list
}

// leave notes a reference that leads nowhere.
func (a *openAPI) leave(ref field, name, why string) {
	at, to := a.Of(ref.key), text(ref.value)
	a.d.Notes = append(a.d.Notes, fmt.Sprintf("%s:%d:%d: %s: its $ref (%s) %s; left out", a.d.Name, at.Line, at.Col,
		format.Line(name, 200), format.Line(to[:min(len(to), yamlfile.MaxRef)], 200), why))
}

// followed is the path item that a reference leads to, or why there is none.
type followed struct {
	item mapping
	why  string
}

// follow reads the path item that a JSON pointer in a URL's fragment leads to, once.
func (a *openAPI) follow(ref string) (item mapping, why string) {
	to, known := a.refs[ref]
	if !known {
		to.item, to.why = a.find(ref)
		a.refs[ref] = to
	}
	return to.item, to.why
}

// find looks for what a reference leads to.
func (a *openAPI) find(ref string) (item mapping, why string) {
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return mapping{}, "is in another document, and only this one is read"
	}
	n := a.root
	if len(ref) > yamlfile.MaxRef {
		return mapping{}, fmt.Sprintf("is longer than %d bytes", yamlfile.MaxRef)
	}
	for part := range strings.SplitSeq(pointer, "/") {
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		if n = a.below(n, yamlfile.PointerKey(part)); n == nil {
			return mapping{}, "is not in the document"
		}
	}
	item, ok = a.mapping(n)
	if !ok {
		return mapping{}, "is " + kind(n) + ", and no path item"
	}
	return item, ""
}

// below is what a mapping has under a key, or a list under a number; nil:
// nothing.
func (a *openAPI) below(n ast.Node, key string) ast.Node {
	if list, ok := a.resolve(n).(*ast.SequenceNode); ok {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(list.Values) {
			return list.Values[i]
		}
		return nil
	}
	m, _ := a.mapping(n)
	f, _ := m.field(key)
	return f.value
}
