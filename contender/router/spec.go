package router

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/contender/fixture"
)

// Spec defines the router to build: the routes, and the middleware around their handlers.
type Spec struct {
	// Routes lists every route once. If a literal competes with a parameter, it comes first, for routers that
	// take the first match.
	Routes []Route

	// Layers is the middleware of all routes, the outermost first.
	Layers []Layer

	calls *int64
	tree  *node // tree of the routes; empty before Answer
}

// Route is one entry of the table.
type Route struct {
	Index    int // from zero
	Method   string
	Segments []Segment // segments of the path; none for /
	Params   []string  // in the order of the path
	Rest     string    // last parameter if it is a catch-all, else ""

	reply   []byte   // index of the route
	labels  []string // text before each value, such as " id="
	scratch *[]byte  // shared by all routes
	slash   bool     // the catch-all's value begins with a slash
}

// Segment is the part of a path between two slashes.
type Segment struct {
	Text  string // literal, not escaped, or parameter; "" if the path ends in a slash
	Param bool
	Rest  bool // a catch-all: a parameter that matches the rest of a path

	Before, After string // literals around a parameter in its segment, as in /files/v-{name}.json
}

// ColonPath returns a path such as /users/:id, with a catch-all as in /files/*path.
func (r *Route) ColonPath() string { return r.formatPath(":", "", "*"+r.Rest) }

// BracePath returns a path such as /users/{id}, with a catch-all as in /files/{path...}.
func (r *Route) BracePath() string { return r.formatPath("{", "}", "{"+r.Rest+"...}") }

// ColonPathEnding returns [Route.ColonPath] with rest as the catch-all.
func (r *Route) ColonPathEnding(rest string) string { return r.formatPath(":", "", rest) }

// BracePathEnding returns [Route.BracePath] with rest as the catch-all.
func (r *Route) BracePathEnding(rest string) string { return r.formatPath("{", "}", rest) }

// formatPath returns the path with before and after around each parameter. rest replaces the catch-all.
func (r *Route) formatPath(before, after, rest string) string {
	if len(r.Segments) == 0 {
		return "/"
	}
	var b strings.Builder
	for _, s := range r.Segments {
		b.WriteByte('/')
		switch {
		case s.Rest:
			b.WriteString(rest)
		case s.Param:
			b.WriteString(s.Before + before + s.Text + after + s.After)
		default:
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// CallRest sets the name of the catch-all, for routers in which all have one name, such as *. Other routes
// stay.
func (r *Route) CallRest(name string) {
	if r.Rest != "" {
		last := len(r.Params) - 1
		r.Params = append(r.Params[:last:last], name) // other copies of the route keep their names
	}
}

// SlashedRest is for routers whose catch-all value starts with a slash. Reply then omits it.
func (r *Route) SlashedRest() { r.slash = r.Rest != "" }

// Reply writes the index of the route, and name=value for each parameter. param returns the value that the
// router found. Reply calls Write once and does not allocate. Requests must not overlap.
func (r *Route) Reply(w io.Writer, param func(name string) string) {
	if len(r.Params) == 0 {
		_, _ = w.Write(r.reply) // the client reports a wrong response
		return
	}
	b := append((*r.scratch)[:0], r.reply...)
	for i, name := range r.Params {
		value := param(name)
		if r.slash && i == len(r.Params)-1 {
			value = strings.TrimPrefix(value, "/")
		}
		b = append(append(b, r.labels[i]...), value...)
	}
	*r.scratch = b
	_, _ = w.Write(b)
}

// Part returns the first route with a parameter in a part of a segment, as in /files/{name}.json, or nil.
func (s Spec) Part() *Route {
	for i, r := range s.Routes {
		if slices.ContainsFunc(r.Segments, func(segment Segment) bool { return segment.Before+segment.After != "" }) {
			return &s.Routes[i]
		}
	}
	return nil
}

// LayerCalls returns how often middleware was called so far, over all layers.
func (s Spec) LayerCalls() int64 { return *s.calls }

type config struct {
	Routes []fixture.Route `json:"routes"`
	Layers []string        `json:"layers,omitempty"`
}

// FormatSpec returns the document that [ParseSpec] reads.
func FormatSpec(routes []fixture.Route, layers []string) (json.RawMessage, error) {
	return json.Marshal(config{Routes: routes, Layers: layers})
}

// ParseSpec reads the specification in a workload:
//
//	{"routes": [{"method": "GET", "path": "/users/{id}"}], "layers": ["request-id"]}
//
// A catch-all is the last segment, as in /files/{path...}.
func ParseSpec(raw json.RawMessage) (Spec, error) {
	var c config
	if err := json.Unmarshal(raw, &c); err != nil {
		return Spec{}, fmt.Errorf("read the table of routes: %w", err)
	}
	if len(c.Routes) == 0 {
		return Spec{}, errors.New("the table has no routes")
	}
	s := Spec{Routes: make([]Route, len(c.Routes)), calls: new(int64), tree: &node{}}
	scratch := new([]byte)
	for i, r := range c.Routes {
		route, err := newRoute(i, r)
		if err != nil {
			return Spec{}, fmt.Errorf("route %d, %s %s: %w", i, r.Method, r.Path, err)
		}
		route.scratch = scratch
		s.Routes[i] = route
	}
	for _, name := range c.Layers {
		l, err := newLayer(name, s.calls)
		if err != nil {
			return Spec{}, err
		}
		s.Layers = append(s.Layers, l)
	}
	return s, nil
}

func newRoute(index int, entry fixture.Route) (Route, error) {
	r := Route{Index: index, Method: entry.Method, reply: strconv.AppendInt(nil, int64(index), 10)}
	path, ok := strings.CutPrefix(entry.Path, "/")
	switch {
	case entry.Method == "" || entry.Method != strings.ToUpper(entry.Method):
		return r, errors.New("the method is no word in capitals")
	case !ok:
		return r, errors.New("the path does not begin with a slash")
	case path == "":
		return r, nil
	}
	texts := strings.Split(path, "/")
	for i, text := range texts {
		before, name, after, isParam := fixture.Parameter(text)
		isLast := i == len(texts)-1
		switch {
		case isParam && !strings.ContainsAny(before+after, "{}:*"):
			name, isRest := strings.CutSuffix(name, "...")
			if isRest && (!isLast || before+after != "") {
				return r, fmt.Errorf("segment %q: only the end of a path can be a catch-all", text)
			}
			if err := checkName(name, r.Params); err != nil {
				return r, err
			}
			if isRest {
				r.Rest = name
			}
			r.Params = append(r.Params, name)
			r.labels = append(r.labels, " "+name+"=")
			r.Segments = append(r.Segments, Segment{Text: name, Param: true, Rest: isRest, Before: before, After: after})
		case strings.ContainsAny(text, "{}:*"):
			return r, fmt.Errorf("segment %q: a segment has one parameter in braces at most, and a literal has none of { } : *", text)
		case text == "" && !isLast:
			return r, errors.New("an empty segment")
		default:
			r.Segments = append(r.Segments, Segment{Text: text})
		}
	}
	return r, nil
}

// checkName rejects names that some router does not accept, or that are used.
func checkName(name string, used []string) error {
	for i, c := range name {
		isLetter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		isDigit := c >= '0' && c <= '9'
		if c != '_' && !isLetter && (!isDigit || i == 0) {
			return fmt.Errorf("parameter {%s}: a name is of letters, digits and underscores", name)
		}
	}
	if name == "" {
		return errors.New("parameter {}: it has no name")
	}
	if slices.Contains(used, name) {
		return fmt.Errorf("parameter {%s} is there twice", name)
	}
	return nil
}
