package router

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/tarebench/tare/contender/fixture"
)

// edgeSort is a sort of odd paths: on the user's own routes, routers treat them differently.
type edgeSort struct {
	property string // row of the table that people read
	remark   string // what is odd about the path
	max      int    // of them that are sent, spread evenly over the routes
	paths    func(p pattern) []string
}

// dotSegments is the row of paths with dot segments. Without net/http there is no reference for
// them: clients and servers resolve them, each in its way.
const dotSegments = userRow + "dot segments"

const (
	maxShadowed = 256 // paths that may reach another route, or none
	maxOdd      = 64  // of each other sort
	maxSiblings = 3   // literals that are tried in the place of one parameter
)

// edgeSorts returns the sorts of odd paths, the most common ones first.
func edgeSorts() []edgeSort {
	return []edgeSort{
		{shadowedRow, "a value is the literal of another route", maxShadowed, pattern.shadowedPaths},
		{nearRow, "a value is like the literal of another route", maxOdd, pattern.nearPaths},
		{userRow + "other case", "a value is the literal of another route in another case", maxOdd, pattern.recasedValues},
		{userRow + "other case", "literals in another case", maxOdd, pattern.recasedLiterals},
		{userRow + "end slash", "a slash more or less at the end", maxOdd, pattern.otherEnd},
		{userRow + "empty value", "an empty value", maxOdd, valuePaths("")},
		{userRow + "slash as %2F", "a value with an escaped slash", maxOdd, valuePaths("a%2Fb")},
		{dotSegments, "a value is a dot segment", maxOdd, valuePaths("..", ".", "%2e%2e")},
	}
}

// pattern is a route as what requests for it are made of.
type pattern struct {
	method   string
	segments []segment
	siblings []map[string]*routeNode // by segment: literals of other routes in the place of its parameter
}

// toPatterns returns the routes of a table as patterns.
func toPatterns(routes []fixture.Route) []pattern {
	root, list := &routeNode{}, make([]pattern, 0, len(routes))
	for _, r := range routes {
		segments, err := splitPath(r.Path)
		if err != nil { // no table has it
			continue
		}
		root.addPath(segments)
		list = append(list, pattern{method: r.Method, segments: segments})
	}
	literals := map[*routeNode]map[string]*routeNode{}
	for i, p := range list {
		at := root
		for _, s := range p.segments {
			if literals[at] == nil {
				literals[at] = at.literalChildren()
			}
			list[i].siblings = append(list[i].siblings, literals[at])
			at = at.childOf(s)
		}
	}
	return list
}

// literalChildren returns the nodes after each literal of this place.
func (p *routeNode) literalChildren() map[string]*routeNode {
	list := map[string]*routeNode{}
	for s, next := range p.next {
		if !s.param && s.text != "" {
			list[s.text] = next
		}
	}
	return list
}

// childOf returns the node after a segment, or nil if no route has it.
func (p *routeNode) childOf(s segment) *routeNode {
	if s.param {
		s.text = ""
	}
	return p.next[s]
}

// chosenSiblings returns a few literals next to the parameter of a segment. Those after which
// routes continue come first: a router that follows them has to come back.
func (p pattern) chosenSiblings(i int) []string {
	var list []string
	for text := range p.siblings[i] {
		list = append(list, text)
	}
	goesOn := func(text string) int { return min(1, len(p.siblings[i][text].next)) }
	slices.SortFunc(list, func(a, b string) int {
		if d := goesOn(b) - goesOn(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return list[:min(len(list), maxSiblings)]
}

// paramIndexes returns the segments that are entirely parameters, and no catch-alls.
func (p pattern) paramIndexes() []int {
	var list []int
	for i, s := range p.segments {
		if s.param && !s.rest && s.before+s.after == "" {
			list = append(list, i)
		}
	}
	return list
}

// fillTexts returns a path of the pattern with some segments replaced by escaped text.
func (p pattern) fillTexts(texts map[int]string) string {
	var b strings.Builder
	for i, s := range p.segments {
		b.WriteByte('/')
		text, replaced := texts[i]
		switch {
		case replaced:
			b.WriteString(text)
		case s.param:
			b.WriteString(s.before + "4711" + s.after)
		default:
			b.WriteString(escapePath(s.text))
		}
	}
	return b.String()
}

func escapePath(text string) string { return (&url.URL{Path: text}).EscapedPath() }

// valuePaths gives each parameter each of some values, in their escaped form.
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

// shadowedPaths gives parameters the literals of other routes: one by itself, and with it those
// with which these routes continue.
func (p pattern) shadowedPaths() []string {
	var paths []string
	for _, i := range p.paramIndexes() {
		for _, text := range p.chosenSiblings(i) {
			texts := map[int]string{i: escapePath(text)}
			paths = append(paths, p.fillTexts(texts))
			at := p.siblings[i][text]
			for k := i + 1; k < len(p.segments) && at != nil; k++ {
				at = p.followLiteral(at, k, texts)
			}
			if len(texts) > 1 {
				paths = append(paths, p.fillTexts(texts))
			}
		}
	}
	return paths
}

// followLiteral returns the node after segment k of a place, and takes the first literal there as
// the value of a parameter.
func (p pattern) followLiteral(at *routeNode, k int, texts map[int]string) *routeNode {
	s := p.segments[k]
	if !s.param || s.rest || s.before+s.after != "" {
		return at.childOf(s)
	}
	literals := at.literalChildren()
	first := ""
	for text := range literals {
		if first == "" || text < first {
			first = text
		}
	}
	if first == "" {
		return at.childOf(s)
	}
	texts[k] = escapePath(first)
	return literals[first]
}

// nearPaths gives parameters a prefix, a suffix and an extension of the literal of another route.
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

// recasedValues gives parameters the literal of another route in another case.
func (p pattern) recasedValues() []string {
	return p.siblingPaths(func(text string) []string {
		if other := swapCase(text); other != text {
			return []string{other}
		}
		return nil
	})
}

// siblingPaths gives each parameter the values that change makes of the first literal next to it.
func (p pattern) siblingPaths(change func(text string) []string) []string {
	var paths []string
	for _, i := range p.paramIndexes() {
		for _, text := range p.chosenSiblings(i)[:min(1, len(p.siblings[i]))] {
			for _, v := range change(text) {
				paths = append(paths, p.fillTexts(map[int]string{i: escapePath(v)}))
			}
		}
	}
	return paths
}

// recasedLiterals writes the literals of the pattern in another case.
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

// otherEnd removes the slash at the end, or adds one. A catch-all matches a slash itself.
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

// swapCase makes small letters of capitals, and the reverse.
func swapCase(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, text)
}

// oddPaths requests from every route of a table paths that clients send and routers read
// differently. It repeats no path.
func oddPaths(routes []fixture.Route) []question {
	var all []question
	list, seen := toPatterns(routes), map[string]bool{}
	for _, sort := range edgeSorts() {
		var own []question
		for _, p := range list {
			for _, path := range sort.paths(p) {
				if key := p.method + " " + path; !seen[key] {
					seen[key] = true
					own = append(own, question{HTTPRequest: newRequest(p.method, path), property: sort.property, remark: sort.remark})
				}
			}
		}
		n := min(len(own), sort.max)
		for i := range n {
			all = append(all, own[i*len(own)/n])
		}
	}
	return all
}
