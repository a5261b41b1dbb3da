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

// Methods returns the methods that routes can have. HEAD and OPTIONS are missing, because each
// router answers them differently.
func Methods() []string { return []string{"GET", "POST", "PUT", "PATCH", "DELETE"} }

// Written is a route as a user wrote it in a list of routes.
type Written struct {
	Method    string // in capitals
	Path      string // parameters as {id} or :id
	Line, Col int    // from 1; 0 means unknown
}

// String returns the method and the path.
func (w Written) String() string { return w.Method + " " + w.Path }

// Table contains the routes that all routers of a comparison are built from.
type Table struct {
	// Routes is sorted: a literal precedes a parameter at the same position.
	Routes []fixture.Route
	From   []Written // routes in the user's notation
	Left   []Left    // routes of the user that the table omits
}

// Left is a route that is omitted from a table.
type Left struct {
	Written
	Why string
}

// NewTable makes a table that all routers accept.
//
// Some routers require that parameters at the same position have the same name, of letters and
// digits. So NewTable gives them the name of the first. It omits routes that cannot be requested,
// and duplicates. It also omits catch-alls that can match the same paths as another route of their
// method.
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
	withDuplicates := &routeNode{} // finds duplicates
	all = slices.DeleteFunc(all, func(r route) bool {
		_, end := withDuplicates.addPath(r.segments)
		other, isTaken := end.taken[r.Method]
		if isTaken {
			t.Left = append(t.Left, Left{r.Written, sameRouteText(other)})
		} else {
			end.taken[r.Method] = r.Written
		}
		return isTaken
	})
	all, overlaps := removeOverlaps(all)
	t.Left = append(t.Left, overlaps...)
	root := &routeNode{} // gives parameters their names
	for _, r := range all {
		path, _ := root.addPath(r.segments)
		t.Routes, t.From = append(t.Routes, fixture.Route{Method: r.Method, Path: path}), append(t.From, r.Written)
	}
	slices.SortStableFunc(t.Left, func(a, b Left) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	return t
}

func sameRouteText(other Written) string { return "it is the same route as " + other.withLine() }

func (w Written) withLine() string {
	if w.Line > 0 {
		return fmt.Sprintf("%s in line %d", w, w.Line)
	}
	return w.String()
}

// removeOverlaps removes catch-alls that can match the same paths as another route of their method.
// Some routers reject such pairs. compareRoutes has put the catch-alls that match the most paths at
// the end.
func removeOverlaps(all []route) (remaining []route, omitted []Left) {
	if len(all) > MostRoutes { // the caller rejects such a table; the loops would take too long
		return all, nil
	}
	isRemoved := map[int]bool{}
	for i, r := range slices.Backward(all) {
		if n := len(r.segments); !r.segments[n-1].rest {
			continue
		}
		for k, other := range all {
			isCandidate := k != i && !isRemoved[k] && other.Method == r.Method
			if isCandidate && canOverlap(r.segments, other.segments) {
				isRemoved[i] = true
				omitted = append(omitted, Left{r.Written, "a catch-all, and " + other.withLine() + " can be for the same paths: not all routers can have both"})
				break
			}
		}
	}
	for i, r := range all {
		if !isRemoved[i] {
			remaining = append(remaining, r)
		}
	}
	return remaining, omitted
}

// List returns the table in the format of [ReadList].
func (t Table) List() string {
	var b strings.Builder
	for _, r := range t.Routes {
		b.WriteString(r.Method + " " + r.Path + "\n")
	}
	return b.String()
}

// Renamed returns the number of routes in which NewTable has renamed a parameter, and the index of
// the first.
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

// Ambiguous returns the indexes of two routes that match a path in common although neither is more
// specific. [http.ServeMux] does not accept such a pair as /a/{x} and /{y}/b.
func (t Table) Ambiguous() (a, b int, found bool) {
	spec, err := t.toSpec()
	if err != nil {
		return 0, 0, false
	}
	type shape struct{ method, params string } // see markParams
	byShape := map[shape][]int{}
	for i := range spec.Routes {
		r := &spec.Routes[i]
		if r.Rest != "" {
			continue
		}
		rShape, first := shape{r.Method, markParams(r.Segments)}, -1 // ambiguous route before r, or -1
		for other, list := range byShape {
			if other.method != r.Method || !isCrossed(rShape.params, other.params) {
				continue
			}
			for _, k := range list {
				if canMatchBoth(spec.Routes[k].Segments, r.Segments) && (first < 0 || k < first) {
					first = k
				}
			}
		}
		if first >= 0 {
			return first, i, true
		}
		byShape[rShape] = append(byShape[rShape], i)
	}
	return 0, 0, false
}

// Parts returns the number of routes in which a parameter is a part of a segment, and the index of
// the first. Most routers do not support these.
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
	var remaining []Written
	var omitted []Left
	for i, w := range t.From {
		single := Table{Routes: t.Routes[i : i+1]}
		if n, _ := single.Parts(); n > 0 {
			omitted = append(omitted, Left{w, "its parameter is a part of a segment, which most routers cannot have"})
			continue
		}
		remaining = append(remaining, w)
	}
	out := NewTable(remaining)
	out.Left = slices.Concat(omitted, t.Left, out.Left)
	slices.SortStableFunc(out.Left, func(a, b Left) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	return out
}

// markParams returns a digit for each segment, 1 for a parameter: "010" for /a/{b}/c.
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

// isCrossed reports whether each path has a parameter where the other has a literal. The paths are
// in the form of markParams: "01" and "10" are crossed.
func isCrossed(x, y string) bool {
	onlyX, onlyY := false, false
	for i := range min(len(x), len(y)) {
		onlyX = onlyX || x[i] > y[i] // '1', a parameter, is above '0', a literal
		onlyY = onlyY || y[i] > x[i]
	}
	return len(x) == len(y) && onlyX && onlyY
}

func canMatchBoth(x, y []router.Segment) bool {
	for i := range x {
		switch {
		case !x[i].Param && !y[i].Param && x[i].Text != y[i].Text:
			return false
		case x[i].Param != y[i].Param && (x[i].Text == "" || y[i].Text == ""): // a parameter does not match "" after the last slash
			return false
		}
	}
	return true
}

func (t Table) toSpec() (router.Spec, error) {
	_, spec, err := formatTable(t.Routes, nil)
	return spec, err
}
