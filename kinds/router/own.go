package router

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
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

// ownTable is a table of somebody's own, as it is asked for.
type ownTable struct {
	wire.Workload
	forMux bool // net/http can have it
}

func (k *Kind) forgetOwn() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.own = nil
}

// keepOwn remembers a table of somebody's own for the exams.
func (k *Kind) keepOwn(raw json.RawMessage, spec router.Spec) {
	_, _, ambiguous := Table{Routes: bare(spec)}.Ambiguous()
	table := ownTable{wire.Workload{Fixture: router.UserFixture, Op: router.OpServe, Spec: raw}, !ambiguous && spec.Part() == nil}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.own = append(k.own, table)
}

// ownExams asks each table of somebody's own for what no route is for, for the
// paths of literals by methods that only the parameter in the same place has,
// for the odd ends that a path of a catch-all can have, and for odd values of its parameters.
func (k *Kind) ownExams(dir string) ([]wire.Workload, error) {
	k.mu.Lock()
	own := k.own
	k.mu.Unlock()
	var exams []wire.Workload
	for i, table := range own {
		spec, err := router.ParseSpec(table.Spec)
		if err != nil {
			return nil, err
		}
		list, err := ownQuestions(bare(spec), spec, i)
		if err != nil {
			return nil, err
		}
		reference := serveMux
		if !table.forMux {
			list, reference = answered(list, spec), mostSpecific
		}
		if len(list) == 0 {
			continue
		}
		in := table.Workload
		in.ID, in.N = "exam/own-"+strconv.Itoa(i+1)+"/serve", len(spec.Routes)
		if in, err = k.exam(dir, in, list, reference); err != nil {
			return nil, err
		}
		exams = append(exams, in)
	}
	return exams, nil
}

// ownRow is what the rows of differences on somebody's own table begin with.
const ownRow = "your routes: "

// Rows of requests that clients send every day: their values need no escapes.
const (
	literalRow  = ownRow + "literal"
	shadowedRow = ownRow + "shadowed"
	nearRow     = ownRow + "near literal"
)

// IsMisrouted reports whether a route of somebody's own table should have answered an ordinary
// request, and did not, or with other values.
func IsMisrouted(d tare.Difference) bool {
	return slices.Contains([]string{literalRow, shadowedRow, nearRow}, d.Property) && strings.HasPrefix(d.Reference, "200")
}

// answered returns the questions that have a right answer without net/http: the table has a route for
// them, and nobody resolves them first.
func answered(list []question, spec router.Spec) []question {
	return slices.DeleteFunc(list, func(q question) bool {
		_, ok := spec.Answer(q.HTTPRequest)
		return !ok || q.property == dotSegments
	})
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
			q.property, q.alike = ownRow+"method", "a method that a route of yours has not"
			methods = append(methods, q)
		}
		if len(paths) < ownUnknown {
			if q, ok := unknown(spec, v, i); ok {
				q.property, q.alike = ownRow+"unknown path", "a path like those of your routes that none has"
				paths = append(paths, q)
			}
		}
	}
	list := slices.Concat(oddPaths(routes), methods, paths, shadowed(routes, spec), rests(spec))
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
				list = append(list, question{HTTPRequest: request(r.Method, path), property: ownRow + "catch-all", alike: end.alike})
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
			q.property, q.alike = ownRow+"literal", "the path of a literal by a method that only the parameter in its place has"
			list = append(list, q)
		}
	}
	return list
}
