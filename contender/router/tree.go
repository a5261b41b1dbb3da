package router

import (
	"net/url"
	"slices"
	"strings"
)

// Responses of measured routers are compared with the correct route in this tree.

// node is a node of the tree of routes. Edges are segments: /users/{id} ends after the literal users and a
// parameter.
type node struct {
	next   map[string]*node  // not nil in the root
	parts  []partialNode     // longest literals first
	param  *node             // parameter, any text except ""; may be nil
	rest   map[string]*Route // catch-alls by method, for any text
	routes map[string]*Route // routes that end at this node, by method
}

// partialNode is after a segment such as v-{name}.json, with literals around a parameter.
type partialNode struct {
	before, after string // literals
	*node
}

func (p partialNode) matchSegment(text string) (string, bool) {
	rest, hasBefore := strings.CutPrefix(text, p.before)
	value, hasAfter := strings.CutSuffix(rest, p.after)
	return value, hasBefore && hasAfter && value != ""
}

func (n *node) partialNodeFor(s Segment) *node {
	for _, known := range n.parts {
		if known.before == s.Before && known.after == s.After {
			return known.node
		}
	}
	next := &node{}
	n.parts = append(n.parts, partialNode{before: s.Before, after: s.After, node: next})
	slices.SortStableFunc(n.parts, func(a, b partialNode) int { return len(b.before+b.after) - len(a.before+a.after) })
	return next
}

// addRoute adds a route to the tree below root n. Of two equal routes it keeps the first.
func (n *node) addRoute(r *Route) {
	current := n
	if n.next == nil {
		n.next = map[string]*node{} // marks the tree as built
	}
	for _, s := range r.Segments {
		if s.Rest {
			if current.rest == nil {
				current.rest = map[string]*Route{}
			}
			if current.rest[r.Method] == nil {
				current.rest[r.Method] = r
			}
			return
		}
		if s.Before+s.After != "" {
			current = current.partialNodeFor(s)
			continue
		}
		if s.Param {
			if current.param == nil {
				current.param = &node{}
			}
			current = current.param
			continue
		}
		if current.next == nil {
			current.next = map[string]*node{}
		}
		if current.next[s.Text] == nil {
			current.next[s.Text] = &node{}
		}
		current = current.next[s.Text]
	}
	if current.routes == nil {
		current.routes = map[string]*Route{}
	}
	if current.routes[r.Method] == nil {
		current.routes[r.Method] = r
	}
}

// findRoute returns the route for an escaped path, and the values of its parameters. It returns false if no
// route matches.
func (n *node) findRoute(method, path string) (*Route, []string, bool) {
	if r, ok := n.routes[method]; ok && path == "/" {
		return r, nil, true
	}
	texts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, text := range texts {
		var err error
		if texts[i], err = url.PathUnescape(text); err != nil {
			return nil, nil, false
		}
	}
	return n.matchTexts(method, texts, nil)
}

// matchTexts finds the route below n for the remaining segments. A literal precedes parameters with literals,
// then a parameter, and last a catch-all.
func (n *node) matchTexts(method string, texts, values []string) (*Route, []string, bool) {
	if len(texts) == 0 {
		r, ok := n.routes[method]
		return r, values, ok
	}
	if next := n.next[texts[0]]; next != nil {
		if r, v, ok := next.matchTexts(method, texts[1:], values); ok {
			return r, v, true
		}
	}
	for _, part := range n.parts {
		value, ok := part.matchSegment(texts[0])
		if !ok {
			continue
		}
		if r, v, ok := part.matchTexts(method, texts[1:], append(values, value)); ok {
			return r, v, true
		}
	}
	if n.param != nil && texts[0] != "" {
		if r, v, ok := n.param.matchTexts(method, texts[1:], append(values, texts[0])); ok {
			return r, v, true
		}
	}
	r, ok := n.rest[method]
	return r, append(values, strings.Join(texts, "/")), ok
}
