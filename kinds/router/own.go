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

// Maximum numbers of questions of each sort in a semantics test on a user's table.
const (
	maxUserMethods   = 12
	maxUserUnknown   = 6
	maxUserShadowed  = 12
	maxUserCatchAlls = 2 // catch-alls, each requested in several ways
)

// userTable is a table of the user.
type userTable struct {
	wire.Workload      // with Fixture, Op and Spec only
	forMux        bool // net/http supports the table, so that it is the reference
}

// forgetUserTables removes the tables of the previous study.
func (k *Kind) forgetUserTables() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.userTables = nil
}

// addUserTable stores a user's table for userExams. spec is the parsed form of raw.
func (k *Kind) addUserTable(raw json.RawMessage, spec router.Spec) {
	_, _, ambiguous := Table{Routes: toRoutes(spec)}.Ambiguous() // net/http rejects ambiguous tables
	table := userTable{
		Workload: wire.Workload{Fixture: router.UserFixture, Op: router.OpServe, Spec: raw},
		forMux:   !ambiguous && spec.Part() == nil,
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.userTables = append(k.userTables, table)
}

// userExams writes a semantics test for each table of the user. Its questions are listed in
// userQuestions.
func (k *Kind) userExams(dir string) ([]wire.Workload, error) {
	k.mu.Lock()
	tables := k.userTables
	k.mu.Unlock()
	var exams []wire.Workload
	for i, table := range tables {
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
			list, reference = answeredQuestions(list, spec), mostSpecific
		}
		if len(list) == 0 {
			continue
		}
		exam := table.Workload
		exam.ID, exam.N = "exam/own-"+strconv.Itoa(i+1)+"/serve", len(spec.Routes)
		if exam, err = k.writeExam(dir, exam, list, reference); err != nil {
			return nil, err
		}
		exams = append(exams, exam)
	}
	return exams, nil
}

// userRow is the prefix of the rows of differences on a user's table.
const userRow = "your routes: "

// Rows of ordinary requests, whose values need not be escaped.
const (
	literalRow  = userRow + "literal"
	shadowedRow = userRow + "shadowed"
	nearRow     = userRow + "near literal"
)

// IsMisrouted reports whether d is about an ordinary request to a user's table for which the router
// found another route or other values than the reference, or no route.
func IsMisrouted(d tare.Difference) bool {
	return slices.Contains([]string{literalRow, shadowedRow, nearRow}, d.Property) && strings.HasPrefix(d.Reference, "200")
}

// answeredQuestions returns the questions for which mostSpecific has a correct answer: those for which
// the table has a route, except paths with dot segments, which routers may resolve first.
func answeredQuestions(list []question, spec router.Spec) []question {
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

// userQuestions returns the questions about user's table number n, from zero: unusual values and paths
// of each route (edgePaths), methods and paths without a route, and literals (shadowedLiterals) and
// catch-alls (catchAllQuestions) that routers treat differently.
func userQuestions(routes []fixture.Route, spec router.Spec, n int) ([]question, error) {
	// Some visits have neither kind of question, so try more of them than questions are needed.
	visitCount := min(max(len(routes), maxUserMethods), 4*maxUserMethods)
	visits, err := fixture.Visits(routes, visitCount)
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
	list := slices.Concat(edgePaths(routes), methods, paths, shadowedLiterals(routes, spec), catchAllQuestions(spec))
	for i := range list {
		list[i].mustReject, list[i].mayRedirect = false, false // the reference's answer is the correct one, also if it is a rejection
		list[i].caseName = fmt.Sprintf("own-%d/%d %s", n+1, i+1, list[i].title())
	}
	return list, nil
}

// catchAllQuestions returns requests for paths of catch-alls for which routers find different values,
// or no route.
func catchAllQuestions(spec router.Spec) []question {
	var list []question
	catchAlls := 0
	for i := range spec.Routes {
		r := &spec.Routes[i]
		if r.Rest == "" || catchAlls == maxUserCatchAlls {
			continue
		}
		catchAlls++
		prefix := strings.TrimSuffix(fillParams(r.BracePath()), "/"+paramValue)
		for _, end := range []struct{ text, group string }{
			{"/", "a catch-all of yours with nothing after its slash"},
			{"", "a catch-all of yours without its slash"},
			{"/a/", "a catch-all of yours with a slash at the end"},
			{"/a//b", "a catch-all of yours with a doubled slash in it"},
			{"/a%2Fb", "a catch-all of yours with an escaped slash in it"},
		} {
			if path := prefix + end.text; path != "" {
				list = append(list, question{HTTPRequest: newRequest(r.Method, path), property: userRow + "catch-all", group: end.group})
			}
		}
	}
	return list
}

// shadowedLiterals returns requests for the path of a route with a method that only another route has
// which also matches the path: DELETE /users/latest, if there are GET /users/latest and
// DELETE /users/{id}.
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
			var index int // of the matching route, with which the body begins
			if _, err := fmt.Sscan(string(a.Body), &index); err != nil || routes[index].Path == r.Path {
				continue
			}
			q.property, q.group = literalRow, "the path of a literal by a method that only the parameter in its place has"
			list = append(list, q)
		}
	}
	return list
}
