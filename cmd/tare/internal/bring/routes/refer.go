package routes

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// mostRefs is how many references are followed from one path item on: they may
// lead to themselves.
const mostRefs = 20

// referred are the entries of a path item, with those of the path item that its
// $ref leads to, as long as that is in the same document.
func (a *openAPI) referred(name string, own []field) []field {
	out := slices.Clone(own)
	at := 0
	for range mostRefs {
		i := slices.IndexFunc(out[at:], func(f field) bool { return f.name == "$ref" })
		if i < 0 {
			return out
		}
		ref := out[at+i]
		more, why := a.follow(text(ref.value))
		if why != "" {
			a.leave(ref, name, why)
			return out
		}
		at = len(out)
		for _, f := range more {
			if f.name == "$ref" || !slices.ContainsFunc(out, func(have field) bool { return have.name == f.name }) {
				out = append(out, f)
			}
		}
	}
	a.leave(out[slices.IndexFunc(out, func(f field) bool { return f.name == "$ref" })], name, "leads in a circle")
	return out
}

// leave notes a reference that leads nowhere.
func (a *openAPI) leave(ref field, name, why string) {
	at := a.Of(ref.key)
	a.d.Notes = append(a.d.Notes, fmt.Sprintf("%s:%d:%d: %s: its $ref (%s) %s; left out", a.d.Name, at.Line, at.Col, name, text(ref.value), why))
}

// follow are the entries of what a JSON pointer in a URL's fragment leads to, or
// why there are none.
func (a *openAPI) follow(ref string) (fields []field, why string) {
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, "is in another document, and only this one is read"
	}
	n := a.root
	for part := range strings.SplitSeq(pointer, "/") {
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		if n = a.below(n, strings.NewReplacer("~1", "/", "~0", "~").Replace(part)); n == nil {
			return nil, "is not in the document"
		}
	}
	fields, ok = a.fields(n)
	if !ok {
		return nil, "is " + kind(n) + ", and no path item"
	}
	return fields, ""
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
	fields, _ := a.fields(n)
	for _, f := range fields {
		if f.name == key {
			return f.value
		}
	}
	return nil
}
