package router

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/tarebench/tare/contender/fixture"
)

// Routers disagree about unusual paths, such as a parameter whose value is the literal of another
// route. This file makes such paths for semantics tests.

// edgeSort is one sort of unusual paths.
type edgeSort struct {
	property string                   // row of the report's table of differences
	remark   string                   // what is unusual about the paths
	max      int                      // requests, spread evenly over the routes
	paths    func(p pattern) []string // paths of one route
}

// dotSegments is the row of paths with segments such as "..", which some clients and servers
// resolve. Without http.ServeMux, no answer to them is correct.
const dotSegments = userRow + "dot segments"

const (
	maxShadowedPaths = 256 // requests with the literal of another route
	maxOtherPaths    = 64  // requests of each other sort
	maxSiblings      = 3   // literals tried as the value of one parameter
)

// edgeSorts returns the sorts of unusual paths, the most common ones first.
func edgeSorts() []edgeSort {
	return []edgeSort{
		{shadowedRow, "a value is the literal of another route", maxShadowedPaths, pattern.shadowedPaths},
		{nearRow, "a value is like the literal of another route", maxOtherPaths, pattern.nearPaths},
		{userRow + "other case", "a value is the literal of another route in another case", maxOtherPaths, pattern.recasedValues},
		{userRow + "other case", "literals in another case", maxOtherPaths, pattern.recasedLiterals},
		{userRow + "end slash", "a slash more or less at the end", maxOtherPaths, pattern.otherEnd},
		{userRow + "empty value", "an empty value", maxOtherPaths, valuePaths("")},
		{userRow + "slash as %2F", "a value with an escaped slash", maxOtherPaths, valuePaths("a%2Fb")},
		{dotSegments, "a value is a dot segment", maxOtherPaths, valuePaths("..", ".", "%2e%2e")},
	}
}

// pattern is a route of which paths are made.
type pattern struct {
	method   string
	segments []segment
	siblings []map[string]*routeNode // by segment: literals of other routes in its place, and the nodes after them
}

func toPatterns(routes []fixture.Route) []pattern {
	root := &routeNode{}
	list := make([]pattern, 0, len(routes))
	for _, r := range routes {
		segments, err := splitPath(r.Path)
		if err != nil { // routes of tables have no errors
			continue
		}
		root.addPath(segments)
		list = append(list, pattern{method: r.Method, segments: segments})
	}
	literals := map[*routeNode]map[string]*routeNode{}
	for i, p := range list {
		node := root
		for _, s := range p.segments {
			if literals[node] == nil {
				literals[node] = node.literalChildren()
			}
			list[i].siblings = append(list[i].siblings, literals[node])
			node = node.findChild(s)
		}
	}
	return list
}

func (p *routeNode) literalChildren() map[string]*routeNode {
	list := map[string]*routeNode{}
	for s, next := range p.next {
		if !s.param && s.text != "" {
			list[s.text] = next
		}
	}
	return list
}

func (p *routeNode) findChild(s segment) *routeNode {
	if s.param {
		s.text = "" // see the keys of next
	}
	return p.next[s]
}

// chosenSiblings returns literals of other routes in place of segment i. Literals after which
// routes continue come first: a router may have to go back from them.
func (p pattern) chosenSiblings(i int) []string {
	var list []string
	for text := range p.siblings[i] {
		list = append(list, text)
	}
	continues := func(text string) int { return min(1, len(p.siblings[i][text].next)) } // 1 if routes continue
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(continues(b)-continues(a), strings.Compare(a, b))
	})
	return list[:min(len(list), maxSiblings)]
}

// paramIndexes returns the indexes of the segments that consist only of a parameter and are no
// catch-all.
func (p pattern) paramIndexes() []int {
	var list []int
	for i, s := range p.segments {
		if s.param && !s.rest && s.before+s.after == "" {
			list = append(list, i)
		}
	}
	return list
}

// fillTexts returns a path of the pattern. texts has the escaped texts of some segments by index.
// Other parameters have the value paramValue.
func (p pattern) fillTexts(texts map[int]string) string {
	var b strings.Builder
	for i, s := range p.segments {
		b.WriteByte('/')
		text, isReplaced := texts[i]
		switch {
		case isReplaced:
			b.WriteString(text)
		case s.param:
			b.WriteString(s.before + paramValue + s.after)
		default:
			b.WriteString(escapePath(s.text))
		}
	}
	return b.String()
}

func escapePath(text string) string { return (&url.URL{Path: text}).EscapedPath() }

// valuePaths returns a function for edgeSort.paths. It makes paths in which one parameter has one of
// values, which must be escaped.
func valuePaths(values ...string) func(pattern) []string {
	return func(p pattern) []string {
		var paths []string
		for _, i := range p.paramIndexes() {
			for _, v := range values {
				paths = append(paths, p.fillTexts(map[int]string{i: v}))
			}
		}
		return paths
	}
}

// shadowedPaths returns paths with the literal of another route: /users/latest for /users/{id}, if
// there is a route /users/latest/log. A second path has literals in place of later parameters, too.
func (p pattern) shadowedPaths() []string {
	var paths []string
	for _, i := range p.paramIndexes() {
		for _, text := range p.chosenSiblings(i) {
			texts := map[int]string{i: escapePath(text)}
			paths = append(paths, p.fillTexts(texts))
			node := p.siblings[i][text]
			for k := i + 1; k < len(p.segments) && node != nil; k++ {
				node = p.followLiteral(node, k, texts)
			}
			if len(texts) > 1 {
				paths = append(paths, p.fillTexts(texts))
			}
		}
	}
	return paths
}

// followLiteral returns the node after segment k, or nil. If the segment is a parameter, it follows
// the first literal there instead, and sets texts[k] to it.
func (p pattern) followLiteral(node *routeNode, k int, texts map[int]string) *routeNode {
	s := p.segments[k]
	if !s.param || s.rest || s.before+s.after != "" {
		return node.findChild(s)
	}
	literals := node.literalChildren()
	first := ""
	for text := range literals {
		if first == "" || text < first {
			first = text
		}
	}
	if first == "" {
		return node.findChild(s)
	}
	texts[k] = escapePath(first)
	return literals[first]
}

// nearPaths returns paths in which a parameter is almost the literal of another route: for latest,
// the values latests, lates and atest.
func (p pattern) nearPaths() []string {
	return p.siblingPaths(func(text string) []string {
		runes := []rune(text)
		values := []string{text + "s"}
		if n := len(runes); n > 1 {
			values = append(values, string(runes[:n-1]), string(runes[1:]))
		}
		return values
	})
}

// recasedValues returns paths in which a parameter is the literal of another route in the other
// case: LATEST for latest.
func (p pattern) recasedValues() []string {
	return p.siblingPaths(func(text string) []string {
		if other := swapCase(text); other != text {
			return []string{other}
		}
		return nil
	})
}

// siblingPaths returns paths in which a parameter has one of the values that change makes of another
// route's literal.
func (p pattern) siblingPaths(change func(text string) []string) []string {
	var paths []string
	for _, i := range p.paramIndexes() {
		for _, text := range p.chosenSiblings(i)[:min(1, len(p.siblings[i]))] { // the first, if there is one
			for _, v := range change(text) {
				paths = append(paths, p.fillTexts(map[int]string{i: escapePath(v)}))
			}
		}
	}
	return paths
}

func (p pattern) recasedLiterals() []string {
	texts := map[int]string{}
	for i, s := range p.segments {
		if other := swapCase(s.text); !s.param && other != s.text {
			texts[i] = escapePath(other)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return []string{p.fillTexts(texts)}
}

// otherEnd returns the path without the slash at its end, or with one if it has none. It returns nil
// for the root, and for catch-alls, which match the slash.
func (p pattern) otherEnd() []string {
	n := len(p.segments)
	path := p.fillTexts(nil)
	switch cut := strings.TrimSuffix(path, "/"); {
	case cut == "" || p.segments[n-1].rest:
		return nil
	case cut != path:
		return []string{cut}
	}
	return []string{path + "/"}
}

func swapCase(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, text)
}

// edgePaths returns requests for the routes with all sorts of unusual paths, spread evenly over the
// routes. If two sorts have the same path, the first has it.
func edgePaths(routes []fixture.Route) []question {
	var all []question
	patterns, seen := toPatterns(routes), map[string]bool{}
	for _, sort := range edgeSorts() {
		var list []question
		for _, p := range patterns {
			for _, path := range sort.paths(p) {
				if key := p.method + " " + path; !seen[key] {
					seen[key] = true
					list = append(list, question{HTTPRequest: newRequest(p.method, path), property: sort.property, remark: sort.remark})
				}
			}
		}
		n := min(len(list), sort.max)
		for i := range n {
			all = append(all, list[i*len(list)/n])
		}
	}
	return all
}
