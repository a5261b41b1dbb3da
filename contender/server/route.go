package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// route is a method and a path, as in GET /users/{id}. A part in braces matches any text except "". Ops, which
// answers some requests before the app, compares the path of each request with the routes: if none matches, it
// answers 404 and names the most similar route.
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

// parseOpenAPI returns the routes of an OpenAPI document, sorted by path.
func parseOpenAPI(openAPI []byte) (routes []route) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	_ = json.Unmarshal(openAPI, &doc) // an invalid document has no routes
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if _, ok := doc.Paths[path][strings.ToLower(method)]; ok {
				routes = append(routes, route{method, path})
			}
		}
	}
	return routes
}

// addOpsRoutes returns the app's routes followed by the routes of Ops. hasOpenAPI adds GET /openapi.json.
func addOpsRoutes(routes []route, hasOpenAPI bool) []route {
	all := slices.Clone(routes)
	for _, path := range []string{"/", "/health", "/health/live", "/health/ready", "/metrics", "/openapi.json"} {
		r := route{"GET", path}
		if !slices.Contains(all, r) && (path != "/openapi.json" || hasOpenAPI) {
			all = append(all, r)
		}
	}
	return all
}

// matchRoute reports whether any route of the app or of Ops has the path of a request, and whether a route of the
// app has both the path and the method.
func (o *Ops) matchRoute(q Question) (isKnownPath, isAppRoute bool) {
	method := q.Method
	if method == "HEAD" { // a route for GET is for HEAD, too
		method = "GET"
	}
	hasPath := func(r route) bool { return matchesPattern(r.path, q.Path) }
	hasBoth := func(r route) bool { return (r.method == method || r.method == q.Method) && hasPath(r) }
	return slices.ContainsFunc(o.all, hasPath), slices.ContainsFunc(o.routes, hasBoth)
}

// isRPC reports whether a request may be a call of gRPC or Connect, whose path is /package.Service/Method. A
// service may accept such calls although its OpenAPI document does not list them.
func isRPC(q Question) bool {
	service, method, _ := strings.Cut(strings.TrimPrefix(q.Path, "/"), "/")
	isMethod := method != "" && !strings.Contains(method, "/")
	return q.Method == "POST" && strings.Contains(service, ".") && isMethod
}

// matchesPattern reports whether path matches pattern, part by part: /users/7 matches /users/{id}.
func matchesPattern(pattern, path string) bool {
	for {
		want, wantRest, wantMore := strings.Cut(pattern, "/")
		got, gotRest, gotMore := strings.Cut(path, "/")
		isParameter := strings.HasPrefix(want, "{")
		matches := got == want || isParameter && got != ""
		if wantMore != gotMore || !matches {
			return false
		}
		if !wantMore {
			return true
		}
		pattern, path = wantRest, gotRest
	}
}

// notFoundMessage returns the message of a 404 response, which names the route with the most similar path.
func (o *Ops) notFoundMessage(path string) string {
	nearest, minDistance := "", 0 // path with the least distance so far
	for _, r := range o.all {
		if r.path == "/" {
			continue
		}
		if d := routeDistance(r.path, path); nearest == "" || d < minDistance {
			nearest, minDistance = r.path, d
		}
	}
	var methods []string
	for _, r := range o.all {
		if r.path == nearest {
			methods = append(methods, r.method)
		}
	}
	return fmt.Sprintf("nothing is at this path; the nearest is %s %s, and GET / lists all", strings.Join(methods, ", "), nearest)
}

// maxParts and maxLetters limit the time to compare a hostile path: only the start of longer ones is compared.
const maxParts, maxLetters = 32, 64

// routeDistance returns the edit distance of a pattern and a path, whose elements are the parts between slashes.
// To remove or insert a part costs its length. To replace a parameter, such as {id}, by any text costs nothing;
// to replace another part costs the letters that change.
func routeDistance(pattern, path string) int {
	a, b := strings.Split(pattern[1:], "/"), strings.Split(strings.Trim(path, "/"), "/")
	b = b[:min(len(b), maxParts)]
	lenA, lenB := func(i int) int { return len(a[i]) }, func(i int) int { return len(b[i]) }
	return editDistance(len(a), len(b), lenA, lenB, func(i, k int) int {
		if strings.HasPrefix(a[i], "{") {
			return 0
		}
		return letterDistance(a[i], b[k])
	})
}

// letterDistance returns the number of letters to replace, insert or remove to turn one word into the other, in
// lower case.
func letterDistance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	a, b = a[:min(len(a), maxLetters)], b[:min(len(b), maxLetters)]
	unitCost := func(int) int { return 1 }
	return editDistance(len(a), len(b), unitCost, unitCost, func(i, k int) int {
		if a[i] == b[k] {
			return 0
		}
		return 1
	})
}

// editDistance returns the lowest cost to turn a sequence of n elements into one of m elements, for the given
// costs to remove element i of the first, insert element k of the second, or replace i by k.
func editDistance(n, m int, removeCost, insertCost func(int) int, replaceCost func(i, k int) int) int {
	row := make([]int, m+1) // row[k] is the cost to turn the first i elements into the first k elements
	for k := range m {
		row[k+1] = row[k] + insertCost(k)
	}
	for i := range n {
		diagonal := row[0]
		row[0] += removeCost(i)
		for k := range m {
			diagonal, row[k+1] = row[k+1], min(row[k+1]+removeCost(i), row[k]+insertCost(k), diagonal+replaceCost(i, k))
		}
	}
	return row[m]
}
