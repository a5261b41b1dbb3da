package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// route is a method and a path, parts of which may stand for any: /users/{id}.
type route struct{ method, path string }

func (r route) String() string { return r.method + " " + r.path }

// parseRoutes reads routes such as GET /users/{id}.
func parseRoutes(list []string) (routes []route) {
	for _, text := range list {
		method, path, _ := strings.Cut(text, " ")
		routes = append(routes, route{method, path})
	}
	return routes
}

// describedRoutes are those of an OpenAPI document, by path.
func describedRoutes(openAPI []byte) (routes []route) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	_ = json.Unmarshal(openAPI, &doc) // without one there are none
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if _, ok := doc.Paths[path][strings.ToLower(method)]; ok {
				routes = append(routes, route{method, path})
			}
		}
	}
	return routes
}

// withOps are the app's routes and those of Ops.
func withOps(routes []route, described bool) []route {
	all := slices.Clone(routes)
	for _, r := range []route{{"GET", "/"}, {"GET", "/health"}, {"GET", "/health/live"}, {"GET", "/health/ready"}, {"GET", "/metrics"}, {"GET", "/openapi.json"}} {
		if !slices.Contains(all, r) && (r.path != "/openapi.json" || described) {
			all = append(all, r)
		}
	}
	return all
}

// matched reports whether the path is one of the app's, or of Ops, and whether
// the app has an answer for the method there.
func (o *Ops) matched(q Question) (known, mine bool) {
	for _, one := range o.all {
		known = known || matches(one.path, q.Path)
	}
	for _, one := range o.routes {
		mine = mine || matches(one.path, q.Path) && (one.method == q.Method || one.method == "GET" && q.Method == "HEAD")
	}
	return known, mine
}

// ofRPC reports whether a request may be a call of gRPC or Connect, of which a
// service that is described as one over HTTP can be in front as well.
func ofRPC(q Question) bool {
	service, method, two := strings.Cut(strings.TrimPrefix(q.Path, "/"), "/")
	return q.Method == "POST" && two && strings.Contains(service, ".") && method != "" && !strings.Contains(method, "/")
}

// matches reports whether path is one that pattern stands for.
func matches(pattern, path string) bool {
	for {
		part, rest, more := strings.Cut(pattern, "/")
		got, left, goes := strings.Cut(path, "/")
		any := strings.HasPrefix(part, "{") && got != ""
		if more != goes || part != got && !any {
			return false
		}
		if !more {
			return true
		}
		pattern, path = rest, left
	}
}

// astray is what is said at a path that is none.
func (o *Ops) astray(path string) string {
	near, least := "", 0
	for _, one := range o.all {
		if one.path == "/" {
			continue
		}
		if d := routeDistance(one.path, path); near == "" || d < least {
			near, least = one.path, d
		}
	}
	var methods []string
	for _, one := range o.all {
		if one.path == near {
			methods = append(methods, one.method)
		}
	}
	return fmt.Sprintf("nothing is at this path; the nearest is %s %s, and GET / lists all", strings.Join(methods, ", "), near)
}

// routeDistance is how much two paths differ, by their parts: each is compared
// with each, in order, and one that stands for any costs nothing.
func routeDistance(pattern, path string) int {
	a, b := strings.Split(pattern[1:], "/"), strings.Split(strings.Trim(path, "/"), "/")
	if len(b) > 32 {
		b = b[:32]
	}
	return edits(len(a), len(b), func(i int) int { return len(a[i]) }, func(i int) int { return len(b[i]) }, func(i, k int) int {
		if strings.HasPrefix(a[i], "{") {
			return 0
		}
		return letters(a[i], b[k])
	})
}

// letters is how many letters are to be changed, put in or taken out to make one
// word of another. Of a long one the beginning is looked at.
func letters(a, b string) int {
	const most = 64
	a, b = strings.ToLower(a), strings.ToLower(b)
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	one := func(int) int { return 1 }
	return edits(len(a), len(b), one, one, func(i, k int) int {
		if a[i] == b[k] {
			return 0
		}
		return 1
	})
}

// edits is the least that it costs to make a sequence of n of one of m, by what
// it costs to take one out, put one in, or put one in another's place.
func edits(n, m int, out, in func(int) int, instead func(i, k int) int) int {
	row := make([]int, m+1)
	for k := range m {
		row[k+1] = row[k] + in(k)
	}
	for i := range n {
		diagonal := row[0]
		row[0] += out(i)
		for k := range m {
			diagonal, row[k+1] = row[k+1], min(row[k+1]+out(i), row[k]+in(k), diagonal+instead(i, k))
		}
	}
	return row[m]
}
