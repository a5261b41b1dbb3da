package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// route is a method and a path, whose parts may match any text: /users/{id}.
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

// listDescribed returns the routes of an OpenAPI document, by path.
func listDescribed(openAPI []byte) (routes []route) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	_ = json.Unmarshal(openAPI, &doc) // an invalid document has none
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if _, ok := doc.Paths[path][strings.ToLower(method)]; ok {
				routes = append(routes, route{method, path})
			}
		}
	}
	return routes
}

// addOpsRoutes returns the app's routes and those of Ops.
func addOpsRoutes(routes []route, described bool) []route {
	all := slices.Clone(routes)
	for _, r := range []route{{"GET", "/"}, {"GET", "/health"}, {"GET", "/health/live"}, {"GET", "/health/ready"}, {"GET", "/metrics"}, {"GET", "/openapi.json"}} {
		if !slices.Contains(all, r) && (r.path != "/openapi.json" || described) {
			all = append(all, r)
		}
	}
	return all
}

// matchRoute reports whether the path belongs to the app or to Ops, and whether the app has an answer for the
// method there.
func (o *Ops) matchRoute(q Question) (known, mine bool) {
	for _, one := range o.all {
		known = known || matchesPattern(one.path, q.Path)
	}
	for _, one := range o.routes {
		mine = mine || matchesPattern(one.path, q.Path) && (one.method == q.Method || one.method == "GET" && q.Method == "HEAD")
	}
	return known, mine
}

// isRPC reports whether a request may be a call of gRPC or Connect, which can also go to a service whose
// description is one of HTTP.
func isRPC(q Question) bool {
	service, method, two := strings.Cut(strings.TrimPrefix(q.Path, "/"), "/")
	return q.Method == "POST" && two && strings.Contains(service, ".") && method != "" && !strings.Contains(method, "/")
}

// matchesPattern reports whether path matches pattern.
func matchesPattern(pattern, path string) bool {
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

// notFoundMessage returns the message for an unknown path.
func (o *Ops) notFoundMessage(path string) string {
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

// routeDistance returns the edit distance of two paths by their parts. A part that matches any text costs
// nothing.
func routeDistance(pattern, path string) int {
	a, b := strings.Split(pattern[1:], "/"), strings.Split(strings.Trim(path, "/"), "/")
	if len(b) > 32 {
		b = b[:32]
	}
	return editDistance(len(a), len(b), func(i int) int { return len(a[i]) }, func(i int) int { return len(b[i]) }, func(i, k int) int {
		if strings.HasPrefix(a[i], "{") {
			return 0
		}
		return letterDistance(a[i], b[k])
	})
}

// letterDistance returns the number of letters to change, insert or remove to turn one word into the other. Of
// a long one only the start counts.
func letterDistance(a, b string) int {
	const most = 64
	a, b = strings.ToLower(a), strings.ToLower(b)
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	one := func(int) int { return 1 }
	return editDistance(len(a), len(b), one, one, func(i, k int) int {
		if a[i] == b[k] {
			return 0
		}
		return 1
	})
}

// editDistance returns the lowest cost to turn a sequence of n into one of m, with the given costs to remove,
// insert or replace an element.
func editDistance(n, m int, out, in func(int) int, instead func(i, k int) int) int {
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
