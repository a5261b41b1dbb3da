package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// route is a method and a path, as in GET /users/{id}. A part in braces matches any text except "". Ops
// answers 404 for other paths, with the most similar route.
type route struct{ method, path string }

func (r route) String() string { return r.method + " " + r.path }

func parseRoutes(list []string) (routes []route) {
	for _, text := range list {
		method, path, _ := strings.Cut(text, " ")
		routes = append(routes, route{method, path})
	}
	return routes
}

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

// matchRoute reports whether a route of the app or of Ops has the path. isAppRoute means that a route of the
// app has the path and the method.
func (o *Ops) matchRoute(q Question) (isKnownPath, isAppRoute bool) {
	method := q.Method
	if method == "HEAD" { // a route for GET is for HEAD, too
		method = "GET"
	}
	hasPath := func(r route) bool { return matchesPattern(r.path, q.Path) }
	hasBoth := func(r route) bool { return (r.method == method || r.method == q.Method) && hasPath(r) }
	return slices.ContainsFunc(o.all, hasPath), slices.ContainsFunc(o.routes, hasBoth)
}

// isRPC reports whether the path is /package.Service/Method, as of gRPC or Connect. A service may accept such
// calls that its OpenAPI document does not list.
func isRPC(q Question) bool {
	service, method, _ := strings.Cut(strings.TrimPrefix(q.Path, "/"), "/")
	isMethod := method != "" && !strings.Contains(method, "/")
	return q.Method == "POST" && strings.Contains(service, ".") && isMethod
}

// matchesPattern compares pattern and path part by part: /users/7 matches /users/{id}.
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

func (o *Ops) notFoundMessage(path string) string {
	nearest, minDistance := "", 0
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

// maxParts and maxLetters limit the work for hostile paths: only the start is compared.
const maxParts, maxLetters = 32, 64

// routeDistance is the edit distance of parts. Removing or inserting a part costs its length. A parameter may
// be any text; in another part each changed letter costs 1.
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

// letterDistance returns the edit distance of two words in letters, ignoring case.
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

// editDistance returns the lowest cost to turn n elements into m others. The functions return the costs of
// removing element i, inserting element k, and replacing i by k.
func editDistance(n, m int, removeCost, insertCost func(int) int, replaceCost func(i, k int) int) int {
	row := make([]int, m+1) // row[k] is the cost to turn the first i into the first k
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
