package router

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
)

// Questions of each sort in an exam on a table of somebody's own, at most.
const (
	ownMethods  = 12
	ownUnknown  = 6
	ownShadowed = 12
	ownRests    = 2 // catch-alls, each asked for in several ways
)

func (k *Kind) forgetOwn() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.own = nil
}

// keepOwn remembers a table of somebody's own for the exams.
func (k *Kind) keepOwn(table json.RawMessage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.own = append(k.own, wire.Workload{Fixture: router.UserFixture, Op: router.OpServe, Spec: table})
}

// ownExams asks each table of somebody's own for what no route is for, for the
// paths of literals by methods that only the parameter in the same place has,
// and for the odd ends that a path of a catch-all can have. A table that the reference cannot have is in no exam.
func (k *Kind) ownExams(dir string) ([]wire.Workload, error) {
	k.mu.Lock()
	own := k.own
	k.mu.Unlock()
	var exams []wire.Workload
	for i, in := range own {
		spec, err := router.ParseSpec(in.Spec)
		if err != nil {
			return nil, err
		}
		t := Table{Routes: bare(spec)}
		if _, _, found := t.Ambiguous(); found || spec.Part() != nil {
			continue
		}
		list, err := ownQuestions(t.Routes, spec, i)
		if err != nil {
			return nil, err
		}
		in.ID, in.N = "exam/own-"+strconv.Itoa(i+1)+"/serve", len(spec.Routes)
		if in, err = k.exam(dir, in, list); err != nil {
			return nil, err
		}
		exams = append(exams, in)
	}
	return exams, nil
}

// bare are the routes of a spec as a table has them.
func bare(spec router.Spec) []fixture.Route {
	routes := make([]fixture.Route, len(spec.Routes))
	for i := range spec.Routes {
		routes[i] = fixture.Route{Method: spec.Routes[i].Method, Path: spec.Routes[i].BracePath()}
	}
	return routes
}

// ownQuestions are those about table number n.
func ownQuestions(routes []fixture.Route, spec router.Spec, n int) ([]question, error) {
	visits, err := fixture.Visits(routes, min(max(len(routes), ownMethods), 4*ownMethods))
	if err != nil {
		return nil, err
	}
	var methods, paths []question
	for i, v := range visits {
		if q, ok := otherMethod(spec, v, i); ok && len(methods) < ownMethods {
			q.Path, _, _ = strings.Cut(q.Path, "?")
			q.property, q.alike = "your routes: method", "a method that a route of yours has not"
			methods = append(methods, q)
		}
		if len(paths) < ownUnknown {
			if q, ok := unknown(spec, v, i); ok {
				q.property, q.alike = "your routes: unknown path", "a path like those of your routes that none has"
				paths = append(paths, q)
			}
		}
	}
	list := slices.Concat(methods, paths, shadowed(routes, spec), rests(spec))
	for i := range list {
		list[i].refused, list[i].elsewhere = false, false // what is right is what the reference does
		list[i].odd = fmt.Sprintf("own-%d/%d %s", n+1, i+1, list[i].title())
	}
	return list, nil
}

// rests asks catch-alls for what routers read differently, or do not take for
// theirs.
func rests(spec router.Spec) []question {
	var list []question
	n := 0
	for i := range spec.Routes {
		r := &spec.Routes[i]
		if r.Rest == "" || n == ownRests {
			continue
		}
		n++
		before := strings.TrimSuffix(concrete(r.BracePath()), "/4711")
		for _, end := range []struct{ text, alike string }{
			{"/", "a catch-all of yours with nothing behind its slash"},
			{"", "a catch-all of yours without its slash"},
			{"/a/", "a catch-all of yours with a slash at the end"},
			{"/a//b", "a catch-all of yours with a doubled slash in it"},
			{"/a%2Fb", "a catch-all of yours with an escaped slash in it"},
		} {
			if path := before + end.text; path != "" {
				list = append(list, question{HTTPRequest: request(r.Method, path), property: "your routes: catch-all", alike: end.alike})
			}
		}
	}
	return list
}

// shadowed asks for literals by methods that only a parameter in their place
// has: /users/latest by DELETE, where there are GET /users/latest and DELETE
// /users/{id}.
func shadowed(routes []fixture.Route, spec router.Spec) []question {
	var list []question
	seen := map[string]bool{}
	for _, r := range routes {
		path := concrete(r.Path)
		if len(list) >= ownShadowed || seen[path] {
			continue
		}
		seen[path] = true
		for _, method := range Methods() {
			q := question{HTTPRequest: request(method, path)}
			a, ok := spec.Answer(q.HTTPRequest)
			if !ok || method == r.Method {
				continue
			}
			var index int
			if _, err := fmt.Sscan(string(a.Body), &index); err != nil || routes[index].Path == r.Path {
				continue
			}
			q.property, q.alike = "your routes: literal", "the path of a literal by a method that only the parameter in its place has"
			list = append(list, q)
		}
	}
	return list
}
