package router

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/contender/fixture"
)

// route is a parsed route, to which requests can be made.
type route struct {
	Written
	segments []segment
}

// segment is the part of a path between two slashes.
type segment struct {
	text  string // of a literal, or the name of the parameter
	param bool
	rest  bool // a catch-all: a parameter for all that is left of a path

	before, after string // literals next to a parameter
}

func splitPath(path string) ([]segment, error) {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return nil, errors.New("a path begins with a slash")
	}
	texts := strings.Split(rest, "/")
	segments := make([]segment, len(texts))
	for i, text := range texts {
		last := i == len(texts)-1
		inner, braces := strings.CutPrefix(text, "{")
		inner, closed := strings.CutSuffix(inner, "}")
		name, colon := strings.CutPrefix(text, ":")
		switch {
		case last && text == "{$}": // the notation of net/http
		case last && takesRest(text):
			segments[i] = segment{text: restName(text), param: true, rest: true}
		case takesRest(text):
			return nil, fmt.Errorf("%q: a wildcard may only be the last segment", text)
		case braces && closed && hasPattern(inner):
			return nil, fmt.Errorf("%q: not all routers can restrict a parameter by a pattern; write {%s}", text, inner[:strings.IndexByte(inner, ':')])
		case braces && closed && inner != "" && !strings.ContainsAny(inner, "{}:"):
			segments[i] = segment{text: inner, param: true}
		case colon && name != "" && !strings.ContainsAny(name, ":*{}?+<>()."):
			segments[i] = segment{text: name, param: true}
		case strings.ContainsAny(text, "{}"):
			if segments[i], ok = parsePart(text); !ok {
				return nil, fmt.Errorf("%q: a segment may hold one parameter and letters, digits, dots, dashes and underscores; a dot or a dash must follow the parameter, as in /files/v-{name}.json", text)
			}
		case strings.ContainsAny(text, ":*?#%\\+<>()| \t\r\n"):
			return nil, fmt.Errorf("%q: some routers read a character of it as syntax", text)
		case text == "." || text == "..":
			return nil, fmt.Errorf("%q: clients resolve it before they send a request", text)
		case text == "" && !last:
			return nil, errors.New("it has an empty segment")
		default:
			segments[i].text = text
		}
	}
	return segments, nil
}

// parsePart parses a segment with one parameter and literal text next to it. It allows only
// characters that all routers with such segments accept: one of them reads a letter after the
// parameter as part of its name.
func parsePart(text string) (segment, bool) {
	before, name, after, ok := fixture.Parameter(text)
	plain := func(r rune) bool {
		return r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	odd := strings.ContainsFunc(before+after, func(r rune) bool { return !plain(r) })
	ends := after == "" || after[0] == '.' || after[0] == '-'
	return segment{text: name, param: true, before: before, after: after}, ok && name != "" && !strings.ContainsAny(name, "{}:*?+.") && !odd && ends
}

// takesRest reports whether a segment at the end matches the rest of a path, in one of these
// notations: *, *path, {path...}, {path:.*}, {path:path}, {*path}, {path*}, {path+}, {+path},
// :path* or :path+.
func takesRest(text string) bool {
	inner, braces := strings.CutPrefix(text, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if braces && closed {
		name, pattern, limited := strings.Cut(inner, ":")
		if limited {
			return name != "" && slices.Contains([]string{".*", ".+", "*", "path"}, pattern)
		}
		return !strings.ContainsAny(inner, "{}") && (strings.HasSuffix(inner, "...") || strings.Trim(inner, "*+") != inner)
	}
	colon := strings.HasPrefix(text, ":") && strings.TrimRight(text, "*+") != text
	return (colon || strings.HasPrefix(text, "*")) && !strings.ContainsAny(strings.Trim(text, ":*+"), "{}:*?#%\\+<>()|. \t\r\n")
}

// restName returns the name of a catch-all that takesRest recognises.
func restName(text string) string {
	name := strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}"), ":")
	name, _, _ = strings.Cut(name, ":")
	return cmp.Or(strings.Trim(strings.TrimSuffix(name, "..."), "*+"), "rest")
}

// hasPattern reports whether the text between braces is a name and a pattern of the parameter:
// id:[0-9]+ or id:int.
func hasPattern(inner string) bool {
	name, pattern, ok := strings.Cut(inner, ":")
	return ok && name != "" && pattern != "" && !strings.ContainsAny(name, "{}") && strings.Count(pattern, "{") == strings.Count(pattern, "}")
}

// canOverlap reports whether there are paths that match both of two routes, one of which is a
// catch-all.
func canOverlap(x, y []segment) bool {
	for i := range min(len(x), len(y)) {
		a, b := x[i], y[i]
		switch {
		case a.rest || b.rest:
			return true
		case !a.param && !b.param && a.text != b.text:
			return false
		case a.param != b.param && (!a.param && a.text == "" || !b.param && b.text == ""): // a slash at the end is no parameter
			return false
		}
	}
	return false
}

// compareRoutes sorts a literal before the parameter of its place, and that before the catch-all.
func compareRoutes(a, b route) int {
	for i := range min(len(a.segments), len(b.segments)) {
		x, y := a.segments[i], b.segments[i]
		switch {
		case x.param != y.param && y.param:
			return -1
		case x.param != y.param:
			return 1
		case x.rest != y.rest && y.rest:
			return -1
		case x.rest != y.rest:
			return 1
		case x.param && (x.before != y.before || x.after != y.after): // the longer literals first
			return cmp.Or(len(y.before+y.after)-len(x.before+x.after), strings.Compare(x.before, y.before), strings.Compare(x.after, y.after))
		case !x.param && x.text != y.text:
			return strings.Compare(x.text, y.text)
		}
	}
	if d := cmp.Or(len(a.segments)-len(b.segments), strings.Compare(a.Method, b.Method)); d != 0 {
		return d
	}
	if a.Line > 0 && b.Line > 0 { // of a duplicate route the first one stays
		return cmp.Or(a.Line-b.Line, a.Col-b.Col)
	}
	return strings.Compare(a.Path, b.Path)
}

// routeNode is a node of the tree of routes, by segment.
type routeNode struct {
	name  string // of the parameter that leads here; "" if a literal does
	next  map[segment]*routeNode
	taken map[string]Written // by method, the route that ends here
}

// addPath follows a path through the tree and adds missing nodes. It returns the path with the
// parameter names of the tree, and the last node.
func (p *routeNode) addPath(segments []segment) (path string, end *routeNode) {
	used := map[string]bool{}
	for _, s := range segments {
		p = p.addNode(s, used)
		if s.param {
			path += "/" + s.withName(p.name)
		} else {
			path += "/" + s.text
		}
	}
	if p.taken == nil {
		p.taken = map[string]Written{}
	}
	return path, p
}

// addNode returns the node for one segment, and adds it if it is missing. It reuses no name of
// used.
func (p *routeNode) addNode(s segment, used map[string]bool) *routeNode {
	at := s
	if s.param {
		at.text = "" // one place, whatever it is called
	}
	next, ok := p.next[at]
	if !ok {
		next = &routeNode{}
		if s.param {
			next.name = unusedName(toName(s.text), used)
		}
		if p.next == nil {
			p.next = map[segment]*routeNode{}
		}
		p.next[at] = next
	}
	used[next.name] = true
	return next
}

// withName returns a parameter of that name in the notation of tables.
func (s segment) withName(name string) string {
	if s.rest {
		name += "..."
	}
	return s.before + "{" + name + "}" + s.after
}

// toName makes a name that every router accepts.
func toName(name string) string {
	w := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if c := w[0]; c >= '0' && c <= '9' || c == '_' {
		w = "p" + w
	}
	return w
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
