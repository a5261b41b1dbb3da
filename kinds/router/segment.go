package router

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/contender/fixture"
)

// This file parses paths of routes and sorts routes. For example, /users/:id and /users/{id} have
// the literal users and the parameter id.

type route struct {
	Written
	segments []segment
}

// segment is the part of a path between two slashes: a literal (users), a parameter ({id}) or a
// catch-all ({path...}).
type segment struct {
	text  string // literal, or name of the parameter
	param bool
	rest  bool // a catch-all: matches the rest of a path

	before, after string // literals around a parameter: v- and .json of v-{name}.json
}

// splitPath parses a path in the user's notation, in which a parameter is {id} or :id. It returns
// an error if some routers or all clients cannot support the path. A case accepts what the cases
// before it have not rejected.
func splitPath(path string) ([]segment, error) {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return nil, errors.New("a path begins with a slash")
	}
	texts := strings.Split(rest, "/")
	segments := make([]segment, len(texts))
	for i, text := range texts {
		isLast := i == len(texts)-1
		inner, inBraces := cutBraces(text)
		name, hasColon := strings.CutPrefix(text, ":")
		switch {
		case isLast && text == "{$}": // net/http's notation of a slash at the end: the segment is ""
		case isLast && isCatchAll(text):
			segments[i] = segment{text: restName(text), param: true, rest: true}
		case isCatchAll(text):
			return nil, fmt.Errorf("%q: a wildcard may only be the last segment", text)
		case inBraces && hasPattern(inner): // {id:[0-9]+}
			return nil, fmt.Errorf("%q: not all routers can restrict a parameter by a pattern; write {%s}", text, inner[:strings.IndexByte(inner, ':')])
		case inBraces && inner != "" && !strings.ContainsAny(inner, "{}:"): // {id}
			segments[i] = segment{text: inner, param: true}
		case hasColon && name != "" && !strings.ContainsAny(name, ":*{}?+<>()."): // :id
			segments[i] = segment{text: name, param: true}
		case strings.ContainsAny(text, "{}"): // v-{name}.json
			if segments[i], ok = parsePart(text); !ok {
				return nil, fmt.Errorf("%q: a segment may hold one parameter and letters, digits, dots, dashes and underscores; a dot or a dash must follow the parameter, as in /files/v-{name}.json", text)
			}
		case strings.ContainsAny(text, ":*?#%\\+<>()| \t\r\n"):
			return nil, fmt.Errorf("%q: some routers read a character of it as syntax", text)
		case text == "." || text == "..":
			return nil, fmt.Errorf("%q: clients resolve it before they send a request", text)
		case text == "" && !isLast:
			return nil, errors.New("it has an empty segment")
		default:
			segments[i].text = text
		}
	}
	return segments, nil
}

func cutBraces(text string) (inner string, ok bool) {
	inner, hasOpen := strings.CutPrefix(text, "{")
	inner, hasClose := strings.CutSuffix(inner, "}")
	return inner, hasOpen && hasClose
}

// parsePart parses a segment with one parameter and literal text, such as v-{name}.json. Only a dot
// or a dash may follow: some routers take a letter for a part of the name.
func parsePart(text string) (segment, bool) {
	before, name, after, ok := fixture.Parameter(text)
	isUnusual := func(r rune) bool {
		isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		isDigit := r >= '0' && r <= '9'
		return !isLetter && !isDigit && r != '.' && r != '-' && r != '_'
	}
	isValidName := name != "" && !strings.ContainsAny(name, "{}:*?+.")
	isUsual := !strings.ContainsFunc(before+after, isUnusual)
	endsName := after == "" || after[0] == '.' || after[0] == '-'
	return segment{text: name, param: true, before: before, after: after}, ok && isValidName && isUsual && endsName
}

// isCatchAll reports whether a segment is a catch-all in one of these notations: *, *path,
// {path...}, {path:.*}, {path:path}, {*path}, {path*}, {path+}, {+path}, :path* or :path+.
func isCatchAll(text string) bool {
	if inner, ok := cutBraces(text); ok { // {path:.*}, {path...} or {path*}
		name, pattern, hasPattern := strings.Cut(inner, ":")
		if hasPattern {
			return name != "" && slices.Contains([]string{".*", ".+", "*", "path"}, pattern)
		}
		hasMark := strings.HasSuffix(inner, "...") || strings.Trim(inner, "*+") != inner
		return hasMark && !strings.ContainsAny(inner, "{}")
	}
	hasColon := strings.HasPrefix(text, ":") && strings.TrimRight(text, "*+") != text // :path*
	isPlainName := !strings.ContainsAny(strings.Trim(text, ":*+"), "{}:*?#%\\+<>()|. \t\r\n")
	return (hasColon || strings.HasPrefix(text, "*")) && isPlainName
}

// restName returns the name of a catch-all: path for {path...} or :path*, and rest for *.
func restName(text string) string {
	name := strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}"), ":")
	name, _, _ = strings.Cut(name, ":")
	return cmp.Or(strings.Trim(strings.TrimSuffix(name, "..."), "*+"), "rest")
}

// hasPattern reports whether the text between braces is a name and a pattern, as in id:[0-9]+.
func hasPattern(inner string) bool {
	name, pattern, ok := strings.Cut(inner, ":")
	isBalanced := strings.Count(pattern, "{") == strings.Count(pattern, "}")
	return ok && name != "" && pattern != "" && !strings.ContainsAny(name, "{}") && isBalanced
}

// canOverlap reports whether any path matches both of two routes. x or y must have a catch-all.
func canOverlap(x, y []segment) bool {
	for i := range min(len(x), len(y)) {
		a, b := x[i], y[i]
		switch {
		case a.rest || b.rest: // all segments before the catch-all can match
			return true
		case !a.param && !b.param && a.text != b.text:
			return false
		case !a.param && b.param && a.text == "", a.param && !b.param && b.text == "": // a parameter does not match "" after the last slash
			return false
		}
	}
	return false
}

// compareRoutes defines the order of routes in a table: literals before parameters before
// catch-alls, then shorter paths first.
func compareRoutes(a, b route) int {
	for i := range min(len(a.segments), len(b.segments)) {
		x, y := a.segments[i], b.segments[i]
		switch {
		case !x.param && y.param:
			return -1
		case x.param && !y.param:
			return 1
		case !x.rest && y.rest:
			return -1
		case x.rest && !y.rest:
			return 1
		case x.param && (x.before != y.before || x.after != y.after): // the longer literals first
			return cmp.Or(len(y.before+y.after)-len(x.before+x.after), strings.Compare(x.before, y.before), strings.Compare(x.after, y.after))
		case !x.param && x.text != y.text:
			return strings.Compare(x.text, y.text)
		}
	}
	if order := cmp.Or(len(a.segments)-len(b.segments), strings.Compare(a.Method, b.Method)); order != 0 {
		return order
	}
	if a.Line > 0 && b.Line > 0 { // the first of duplicates stays
		return cmp.Or(a.Line-b.Line, a.Col-b.Col)
	}
	return strings.Compare(a.Path, b.Path)
}

// routeNode is a node of the tree of routes. Each edge of the tree is a segment.
type routeNode struct {
	name  string                 // name of the parameter that leads to the node, or ""
	next  map[segment]*routeNode // parameters have no text: their names do not count
	taken map[string]Written     // routes that end at this segment, by method
}

// addPath adds missing nodes from p, the root of the tree. It returns the last node, and the path
// with the names that parameters have in the tree.
func (p *routeNode) addPath(segments []segment) (path string, end *routeNode) {
	used := map[string]bool{} // names of parameters
	end = p
	for _, s := range segments {
		end = end.addNode(s, used)
		if s.param {
			path += "/" + s.withName(end.name)
		} else {
			path += "/" + s.text
		}
	}
	if end.taken == nil {
		end.taken = map[string]Written{}
	}
	return path, end
}

// addNode returns the node after a segment, and adds it if it is missing. The name of a new
// parameter must not be in used.
func (p *routeNode) addNode(s segment, used map[string]bool) *routeNode {
	key := s
	if s.param {
		key.text = ""
	}
	next, ok := p.next[key]
	if !ok {
		next = &routeNode{}
		if s.param {
			next.name = unusedName(toName(s.text), used)
		}
		if p.next == nil {
			p.next = map[segment]*routeNode{}
		}
		p.next[key] = next
	}
	used[next.name] = true
	return next
}

func (s segment) withName(name string) string {
	if s.rest {
		name += "..."
	}
	return s.before + "{" + name + "}" + s.after
}

// toName returns name as every router accepts it: of letters, digits and underscores, with a letter
// first.
func toName(name string) string {
	result := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if c := result[0]; c >= '0' && c <= '9' || c == '_' {
		result = "p" + result
	}
	return result
}

func unusedName(name string, used map[string]bool) string {
	if !used[name] {
		return name
	}
	for i := 2; ; i++ {
		if n := fmt.Sprintf("%s%d", name, i); !used[n] {
			return n
		}
	}
}
