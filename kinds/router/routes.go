package router

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
)

// MostRoutes is the maximum number of routes of a user's table.
const MostRoutes = 20000

// Methods returns the methods that routes can have. The others are omitted: routers answer HEAD and
// OPTIONS by themselves, each differently.
func Methods() []string { return []string{"GET", "POST", "PUT", "PATCH", "DELETE"} }

// Written is a route in the user's notation.
type Written struct {
	Method    string // in capitals
	Path      string // parameters as {id} or :id
	Line, Col int    // position, from 1; zero means unknown
}

// String returns the route in the usual notation.
func (w Written) String() string { return w.Method + " " + w.Path }

// Table holds the routes that routers are built from, and their origin.
type Table struct {
	// Routes is sorted: a literal before the parameter in whose place it is, and
	// the same routes always alike.
	Routes []fixture.Route
	From   []Written // of each of them
	Left   []Left    // what is not in it
}

// Left is a route that is omitted from a table.
type Left struct {
	Written
	Why string
}

// NewTable makes a table that all routers accept. Routers require one name for the parameters of
// one place, and simple names; users write neither. It takes the first name of a place for all of
// them, with everything but letters and digits replaced. It omits routes that cannot be requested,
// duplicates, and a catch-all next to another route of its method that can match the same paths.
func NewTable(list []Written) Table {
	var t Table
	var all []route
	for _, w := range list {
		segments, err := splitPath(w.Path)
		if !slices.Contains(Methods(), w.Method) {
			err = fmt.Errorf("only %s are measured: routers answer other methods by themselves, or not at all", strings.Join(Methods(), ", "))
		}
		if err != nil {
			t.Left = append(t.Left, Left{w, err.Error()})
			continue
		}
		all = append(all, route{Written: w, segments: segments})
	}
	slices.SortStableFunc(all, compareRoutes)
	once, root := &routeNode{}, &routeNode{}
	all = slices.DeleteFunc(all, func(r route) bool {
		_, end := once.addPath(r.segments)
		other, taken := end.taken[r.Method]
		if taken {
			t.Left = append(t.Left, Left{r.Written, sameRouteText(other)})
		} else {
			end.taken[r.Method] = r.Written
		}
		return taken
	})
	all, rivals := removeOverlaps(all)
	t.Left = append(t.Left, rivals...)
	for _, r := range all {
		path, _ := root.addPath(r.segments)
		t.Routes, t.From = append(t.Routes, fixture.Route{Method: r.Method, Path: path}), append(t.From, r.Written)
	}
	slices.SortStableFunc(t.Left, func(a, b Left) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	return t
}

func sameRouteText(other Written) string { return "it is the same route as " + other.withLine() }

// withLine returns the route with its line.
func (w Written) withLine() string {
	if w.Line > 0 {
		return fmt.Sprintf("%s in line %d", w, w.Line)
	}
	return w.String()
}

// removeOverlaps removes the catch-alls with another route next to them that can match the same
// paths, those of most paths first: some routers reject both together, and some find other routes
// than the rest do.
func removeOverlaps(all []route) (kept []route, left []Left) {
	if len(all) > MostRoutes { // it is no table anyway
		return all, nil
	}
	out := map[int]bool{}
	for i, r := range slices.Backward(all) {
		if n := len(r.segments); !r.segments[n-1].rest {
			continue
		}
		for k, other := range all {
			if k != i && !out[k] && other.Method == r.Method && canOverlap(r.segments, other.segments) {
				out[i] = true
				left = append(left, Left{r.Written, "a catch-all, and " + other.withLine() + " can be for the same paths: not all routers can have both"})
				break
			}
		}
	}
	for i, r := range all {
		if !out[i] {
			kept = append(kept, r)
		}
	}
	return kept, left
}

// List returns the table as [ReadList] reads it.
func (t Table) List() string {
	var b strings.Builder
	for _, r := range t.Routes {
		b.WriteString(r.Method + " " + r.Path + "\n")
	}
	return b.String()
}

// Renamed counts the routes that call a parameter otherwise than another route
// of the same place does, and returns the first of them.
func (t Table) Renamed() (n, first int) {
	for i, r := range t.Routes {
		segments, err := splitPath(t.From[i].Path)
		if err != nil {
			continue
		}
		for k, text := range strings.Split(strings.TrimPrefix(r.Path, "/"), "/") {
			if k < len(segments) && segments[k].param && segments[k].withName(toName(segments[k].text)) != text {
				if n++; n == 1 {
					first = i
				}
				break
			}
		}
	}
	return n, first
}

// Ambiguous finds two routes that match some paths both, of which neither is
// the more specific one. [http.ServeMux] cannot have both. A catch-all of a
// table is in no such pair.
func (t Table) Ambiguous() (a, b int, found bool) {
	spec, err := t.toSpec()
	if err != nil {
		return 0, 0, false
	}
	type shape struct{ method, params string }
	of := map[shape][]int{}
	for i := range spec.Routes {
		r := &spec.Routes[i]
		if r.Rest != "" {
			continue
		}
		own, least := shape{r.Method, markParams(r.Segments)}, -1
		for other, list := range of {
			if other.method != r.Method || !isCrossed(own.params, other.params) {
				continue
			}
			for _, k := range list {
				if canMatchBoth(spec.Routes[k].Segments, r.Segments) && (least < 0 || k < least) {
					least = k
				}
			}
		}
		if least >= 0 {
			return least, i, true
		}
		of[own] = append(of[own], i)
	}
	return 0, 0, false
}

// Parts counts the routes in which a parameter is a part of a segment, and
// returns the first of them. net/http cannot have those, nor can most routers.
func (t Table) Parts() (n, first int) {
	for i, r := range t.Routes {
		segments, err := splitPath(r.Path)
		if err == nil && slices.ContainsFunc(segments, func(s segment) bool { return s.before+s.after != "" }) {
			if n++; n == 1 {
				first = i
			}
		}
	}
	return n, first
}

// Whole returns the table without the routes that Parts counts.
func (t Table) Whole() Table {
	var kept []Written
	out := Table{}
	for i, w := range t.From {
		one := Table{Routes: t.Routes[i : i+1]}
		if n, _ := one.Parts(); n > 0 {
			out.Left = append(out.Left, Left{w, "its parameter is a part of a segment, which most routers cannot have"})
			continue
		}
		kept = append(kept, w)
	}
	left := slices.Concat(out.Left, t.Left)
	out = NewTable(kept)
	out.Left = append(left, out.Left...)
	slices.SortStableFunc(out.Left, func(a, b Left) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	return out
}

// markParams marks the places of parameters: "010" for /a/{b}/c.
func markParams(segments []router.Segment) string {
	marks := make([]byte, len(segments))
	for i, s := range segments {
		marks[i] = '0'
		if s.Param {
			marks[i] = '1'
		}
	}
	return string(marks)
}

// isCrossed reports whether each of two marked paths has a parameter in a place in which the other
// has none.
func isCrossed(x, y string) bool {
	inX, inY := false, false
	for i := range min(len(x), len(y)) {
		inX = inX || x[i] > y[i]
		inY = inY || y[i] > x[i]
	}
	return len(x) == len(y) && inX && inY
}

// canMatchBoth reports whether there are paths that match two crossed ones: they have the same
// literals.
func canMatchBoth(x, y []router.Segment) bool {
	for i := range x {
		switch {
		case !x[i].Param && !y[i].Param && x[i].Text != y[i].Text:
			return false
		case x[i].Param != y[i].Param && (x[i].Text == "" || y[i].Text == ""): // a slash at the end is no parameter
			return false
		}
	}
	return true
}

func (t Table) toSpec() (router.Spec, error) {
	_, spec, err := formatTable(t.Routes, nil)
	return spec, err
}
