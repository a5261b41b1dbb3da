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

// Spec defines the router to build.
type Spec struct {
	// Routes lists every route once. Where a literal and a parameter compete for
	// a segment, the literal comes first, for routers that take the first match.
	Routes []Route

	// Layers is the middleware of all routes, the outermost first.
	Layers []Layer

	calls  *int64 // calls of middleware
	places *place // tree of the routes; the first call of Answer builds it
}

// Route is one entry of the table.
type Route struct {
	Index    int // in the table, from zero
	Method   string
	Segments []Segment // of the path; none for /
	Params   []string  // names, in the order of the path
	Rest     string    // name of the last parameter if it is a catch-all, else ""

	reply   []byte   // the reply without parameters, or its start
	labels  []string // before each value
	scratch *[]byte  // of the whole table
	slash   bool     // if the router puts a slash before the value of a catch-all
}

// Segment is the part of a path between two slashes.
type Segment struct {
	Text  string // a literal, not escaped, or the name of the parameter; "" if the path ends in a slash
	Param bool
	Rest  bool // a catch-all: a parameter that matches the rest of a path

	Before, After string // literals beside a parameter in its segment, as in /files/v-{name}.json
}

// ColonPath returns the path with parameters as in /users/:id, and a catch-all as in
// /files/*path.
func (r *Route) ColonPath() string { return r.formatPath(":", "", "*"+r.Rest) }

// BracePath returns the path with parameters as in /users/{id}, and a catch-all as
// in /files/{path...}.
func (r *Route) BracePath() string { return r.formatPath("{", "}", "{"+r.Rest+"...}") }

// ColonPathEnding returns [Route.ColonPath] with rest in place of the catch-all, for
// routers that write a catch-all in another way.
func (r *Route) ColonPathEnding(rest string) string { return r.formatPath(":", "", rest) }

// BracePathEnding returns [Route.BracePath] with rest in place of the catch-all, for
// routers that write a catch-all in another way.
func (r *Route) BracePathEnding(rest string) string { return r.formatPath("{", "}", rest) }

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

// CallRest sets the name with which Reply reads the catch-all, for routers in which all catch-alls have one
// name, such as *. It does nothing for a route without a catch-all.
func (r *Route) CallRest(name string) {
	if r.Rest != "" {
		r.Params = append(r.Params[:len(r.Params)-1:len(r.Params)-1], name)
	}
}

// SlashedRest makes Reply omit the slash at the start of a catch-all's value, for routers whose value starts
// with it.
func (r *Route) SlashedRest() { r.slash = r.Rest != "" }

// Reply writes the response of the route: its index and a name=value for each parameter, which param returns
// by name with the router's value. It writes at most once and allocates nothing. Requests must not overlap.
func (r *Route) Reply(w io.Writer, param func(name string) string) {
	if len(r.Params) == 0 {
		_, _ = w.Write(r.reply) // a lost reply becomes a wrong response
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

// Part returns the first route in which a parameter is only a part of its segment,
// as in /files/{name}.json; nil if there is none.
func (s Spec) Part() *Route {
	for i, r := range s.Routes {
		if slices.ContainsFunc(r.Segments, func(g Segment) bool { return g.Before+g.After != "" }) {
			return &s.Routes[i]
		}
	}
	return nil
}

// LayerCalls returns how often middleware was called so far, over all layers.
func (s Spec) LayerCalls() int64 { return *s.calls }

// config is the JSON form of a Spec in wire.Workload.Spec.
type config struct {
	Routes []fixture.Route `json:"routes"`
	Layers []string        `json:"layers,omitempty"`
}

// FormatSpec returns the document that [ParseSpec] reads.
func FormatSpec(routes []fixture.Route, layers []string) (json.RawMessage, error) {
	return json.Marshal(config{routes, layers})
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
	s := Spec{Routes: make([]Route, len(c.Routes)), calls: new(int64), places: &place{}}
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

func newRoute(index int, from fixture.Route) (Route, error) {
	r := Route{Index: index, Method: from.Method, reply: strconv.AppendInt(nil, int64(index), 10)}
	path, ok := strings.CutPrefix(from.Path, "/")
	switch {
	case from.Method == "" || from.Method != strings.ToUpper(from.Method):
		return r, errors.New("the method is no word in capitals")
	case !ok:
		return r, errors.New("the path does not begin with a slash")
	case path == "":
		return r, nil
	}
	texts := strings.Split(path, "/")
	for i, text := range texts {
		before, name, after, param := fixture.Parameter(text)
		switch {
		case param && !strings.ContainsAny(before+after, "{}:*"):
			name, rest := strings.CutSuffix(name, "...")
			if rest && (i < len(texts)-1 || before+after != "") {
				return r, fmt.Errorf("segment %q: only the end of a path can be a catch-all", text)
			}
			if err := checkName(name, r.Params); err != nil {
				return r, err
			}
			if rest {
				r.Rest = name
			}
			r.Params = append(r.Params, name)
			r.labels = append(r.labels, " "+name+"=")
			r.Segments = append(r.Segments, Segment{Text: name, Param: true, Rest: rest, Before: before, After: after})
		case strings.ContainsAny(text, "{}:*"):
			return r, fmt.Errorf("segment %q: a segment has one parameter in braces at most, and a literal has none of { } : *", text)
		case text == "" && i < len(texts)-1:
			return r, errors.New("an empty segment")
		default:
			r.Segments = append(r.Segments, Segment{Text: text})
		}
	}
	return r, nil
}

// checkName returns an error for a name that some router does not accept, or that is in before.
func checkName(name string, before []string) error {
	for i, c := range name {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return fmt.Errorf("parameter {%s}: a name is of letters, digits and underscores", name)
		}
	}
	if name == "" {
		return errors.New("parameter {}: it has no name")
	}
	for _, b := range before {
		if b == name {
			return fmt.Errorf("parameter {%s} is there twice", name)
		}
	}
	return nil
}
