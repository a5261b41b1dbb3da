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

// A user can let tare compare routers on the user's own routes. This file makes semantics tests on
// such tables.

// Maximum numbers of questions in such a test.
const (
	maxUserMethods   = 12
	maxUserUnknown   = 6
	maxUserShadowed  = 12
	maxUserCatchAlls = 2 // each requested in several ways
)

type userTable struct {
	wire.Workload      // only Fixture, Op and Spec
	muxSupports   bool // http.ServeMux supports the table
}

func (k *Kind) forgetUserTables() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.userTables = nil
}

// addUserTable stores a user's table, of which userExams makes a test later. spec is the parsed form
// of raw.
func (k *Kind) addUserTable(raw json.RawMessage, spec router.Spec) {
	_, _, isAmbiguous := Table{Routes: toRoutes(spec)}.Ambiguous()
	hasPart := spec.Part() != nil // e.g. /v-{name}.json
	table := userTable{
		Workload:    wire.Workload{Fixture: router.UserFixture, Op: router.OpServe, Spec: raw},
		muxSupports: !isAmbiguous && !hasPart,
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.userTables = append(k.userTables, table)
}

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
		questions, err := userQuestions(toRoutes(spec), spec, i)
		if err != nil {
			return nil, err
		}
		reference := serveMux
		if !table.muxSupports {
			questions, reference = answeredQuestions(questions, spec), mostSpecific
		}
		if len(questions) == 0 {
			continue
		}
		exam := table.Workload
		exam.ID, exam.N = "exam/own-"+strconv.Itoa(i+1)+"/serve", len(spec.Routes)
		if exam, err = k.writeExam(dir, exam, questions, reference); err != nil {
			return nil, err
		}
		exams = append(exams, exam)
	}
	return exams, nil
}

// userRow begins the rows about users' tables in the report's table of differences.
const userRow = "your routes: "

// Rows of ordinary requests: the values in their paths need no escaping.
const (
	literalRow  = userRow + "literal"
	shadowedRow = userRow + "shadowed"
	nearRow     = userRow + "near literal"
)

// IsMisrouted reports whether a router misrouted an ordinary request to a user's table. The
// reference found a route, and the router another one, none, or other values.
func IsMisrouted(d tare.Difference) bool {
	return slices.Contains([]string{literalRow, shadowedRow, nearRow}, d.Property) && strings.HasPrefix(d.Reference, "200")
}

// answeredQuestions removes the questions without a route, and those with dot segments, which a
// router may resolve first. The reference mostSpecific answers the others correctly.
func answeredQuestions(list []question, spec router.Spec) []question {
	return slices.DeleteFunc(list, func(q question) bool {
		_, ok := spec.Answer(q.HTTPRequest)
		return !ok || q.property == dotSegments
	})
}

func toRoutes(spec router.Spec) []fixture.Route {
	routes := make([]fixture.Route, len(spec.Routes))
	for i := range spec.Routes {
		routes[i] = fixture.Route{Method: spec.Routes[i].Method, Path: spec.Routes[i].BracePath()}
	}
	return routes
}

// userQuestions returns the questions about the user's table number n, from 0.
func userQuestions(routes []fixture.Route, spec router.Spec, n int) ([]question, error) {
	// Not every visit, a path of a route, leads to a question.
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
		// In a semantics test the reference's answer is the correct one, also if it is a rejection.
		list[i].mustReject, list[i].mayRedirect = false, false
		list[i].caseName = fmt.Sprintf("own-%d/%d %s", n+1, i+1, list[i].title())
	}
	return list, nil
}

// catchAllQuestions returns requests for paths of catch-alls, such as /files/, /files and
// /files/a//b for /files/{path...}. Routers disagree about these.
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

// shadowedLiterals returns requests for the path of one route by the method of another. For
// example: DELETE /users/latest, if the table has GET /users/latest and DELETE /users/{id}.
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
			answer, isRouted := spec.Answer(q.HTTPRequest)
			if !isRouted || method == r.Method {
				continue
			}
			var index int // index of the matching route; the body begins with it
			if _, err := fmt.Sscan(string(answer.Body), &index); err != nil || routes[index].Path == r.Path {
				continue
			}
			q.property, q.group = literalRow, "the path of a literal by a method that only the parameter in its place has"
			list = append(list, q)
		}
	}
	return list
}
