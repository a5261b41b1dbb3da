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

// Maximum numbers of questions of each sort in an exam on a user's table.
const (
	maxUserMethods   = 12
	maxUserUnknown   = 6
	maxUserShadowed  = 12
	maxUserCatchAlls = 2 // catch-alls, each requested in several ways
)

// userTable is a table of the user, as it is requested.
type userTable struct {
	wire.Workload
	forMux bool // net/http can have it
}

func (k *Kind) forgetUserTables() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.userTables = nil
}

// addUserTable remembers a user's table for the exams.
func (k *Kind) addUserTable(raw json.RawMessage, spec router.Spec) {
	_, _, ambiguous := Table{Routes: toRoutes(spec)}.Ambiguous()
	table := userTable{wire.Workload{Fixture: router.UserFixture, Op: router.OpServe, Spec: raw}, !ambiguous && spec.Part() == nil}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.userTables = append(k.userTables, table)
}

// userExams requests from each user's table paths without a route, the paths of literals with
// methods that only the parameter in the same place has, the odd ends that a path of a catch-all
// can have, and odd values of its parameters.
func (k *Kind) userExams(dir string) ([]wire.Workload, error) {
	k.mu.Lock()
	own := k.userTables
	k.mu.Unlock()
	var exams []wire.Workload
	for i, table := range own {
		spec, err := router.ParseSpec(table.Spec)
		if err != nil {
			return nil, err
		}
		list, err := userQuestions(toRoutes(spec), spec, i)
		if err != nil {
			return nil, err
		}
		reference := serveMux
		if !table.forMux {
			list, reference = withAnswer(list, spec), mostSpecific
		}
		if len(list) == 0 {
			continue
		}
		in := table.Workload
		in.ID, in.N = "exam/own-"+strconv.Itoa(i+1)+"/serve", len(spec.Routes)
		if in, err = k.writeExam(dir, in, list, reference); err != nil {
			return nil, err
		}
		exams = append(exams, in)
	}
	return exams, nil
}

// userRow is the prefix of the rows of differences on a user's table.
const userRow = "your routes: "

// Rows of requests that clients send every day: their values need no escapes.
const (
	literalRow  = userRow + "literal"
	shadowedRow = userRow + "shadowed"
	nearRow     = userRow + "near literal"
)

// IsMisrouted reports whether a route of a user's table should have answered an ordinary request,
// and did not, or with other values.
func IsMisrouted(d tare.Difference) bool {
	return slices.Contains([]string{literalRow, shadowedRow, nearRow}, d.Property) && strings.HasPrefix(d.Reference, "200")
}

// withAnswer returns the questions that have a correct answer without net/http: the table has a
// route for them, and no router resolves them first.
func withAnswer(list []question, spec router.Spec) []question {
	return slices.DeleteFunc(list, func(q question) bool {
		_, ok := spec.Answer(q.HTTPRequest)
		return !ok || q.property == dotSegments
	})
}

// toRoutes returns the routes of a spec in the form of tables.
func toRoutes(spec router.Spec) []fixture.Route {
	routes := make([]fixture.Route, len(spec.Routes))
	for i := range spec.Routes {
		routes[i] = fixture.Route{Method: spec.Routes[i].Method, Path: spec.Routes[i].BracePath()}
	}
	return routes
}

// userQuestions returns the questions about table number n.
func userQuestions(routes []fixture.Route, spec router.Spec, n int) ([]question, error) {
	visits, err := fixture.Visits(routes, min(max(len(routes), maxUserMethods), 4*maxUserMethods))
	if err != nil {
		return nil, err
	}
	var methods, paths []question
	for i, v := range visits {
		if q, ok := otherMethod(spec, v, i); ok && len(methods) < maxUserMethods {
			q.Path, _, _ = strings.Cut(q.Path, "?")
			q.property, q.group = userRow+"method", "a method that a route of yours has not"
			methods = append(methods, q)
		}
		if len(paths) < maxUserUnknown {
			if q, ok := unknownPath(spec, v, i); ok {
				q.property, q.group = userRow+"unknown path", "a path like those of your routes that none has"
				paths = append(paths, q)
			}
		}
	}
	list := slices.Concat(oddPaths(routes), methods, paths, shadowedLiterals(routes, spec), catchAllQuestions(spec))
	for i := range list {
		list[i].refused, list[i].elsewhere = false, false // what is right is what the reference does
		list[i].caseName = fmt.Sprintf("own-%d/%d %s", n+1, i+1, list[i].title())
	}
	return list, nil
}

// catchAllQuestions requests paths of catch-alls that routers read differently, or do not match.
func catchAllQuestions(spec router.Spec) []question {
	var list []question
	n := 0
	for i := range spec.Routes {
		r := &spec.Routes[i]
		if r.Rest == "" || n == maxUserCatchAlls {
			continue
		}
		n++
		before := strings.TrimSuffix(fillParams(r.BracePath()), "/4711")
		for _, end := range []struct{ text, alike string }{
			{"/", "a catch-all of yours with nothing behind its slash"},
			{"", "a catch-all of yours without its slash"},
			{"/a/", "a catch-all of yours with a slash at the end"},
			{"/a//b", "a catch-all of yours with a doubled slash in it"},
			{"/a%2Fb", "a catch-all of yours with an escaped slash in it"},
		} {
			if path := before + end.text; path != "" {
				list = append(list, question{HTTPRequest: newRequest(r.Method, path), property: userRow + "catch-all", group: end.alike})
			}
		}
	}
	return list
}

// shadowedLiterals requests literals with methods that only a parameter in their place has:
// /users/latest by DELETE, if there are GET /users/latest and DELETE /users/{id}.
func shadowedLiterals(routes []fixture.Route, spec router.Spec) []question {
	var list []question
	seen := map[string]bool{}
	for _, r := range routes {
		path := fillParams(r.Path)
		if len(list) >= maxUserShadowed || seen[path] {
			continue
		}
		seen[path] = true
		for _, method := range Methods() {
			q := question{HTTPRequest: newRequest(method, path)}
			a, ok := spec.Answer(q.HTTPRequest)
			if !ok || method == r.Method {
				continue
			}
			var index int
			if _, err := fmt.Sscan(string(a.Body), &index); err != nil || routes[index].Path == r.Path {
				continue
			}
			q.property, q.group = userRow+"literal", "the path of a literal by a method that only the parameter in its place has"
			list = append(list, q)
		}
	}
	return list
}
