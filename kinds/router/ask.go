package router

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
)

// This file makes the requests of a workload. The setting router.SetAsk selects them, for example
// "unknown" for paths without a route.

// A workload selects requests to routers by the setting router.SetAsk. This file makes these
// requests.

func askValues() []string {
	return []string{router.AskAll, router.AskStatic, router.AskParameter, router.AskParameters, router.AskUnknown, router.AskMethod}
}

// Asks returns the values of router.SetAsk for which requests to the table can be made.
func (t Table) Asks() []string {
	spec, err := t.toSpec()
	if err != nil {
		return nil
	}
	var out []string
	for _, ask := range askValues() {
		w := tare.Workload{Op: router.OpServe, Set: map[string]string{router.SetAsk: ask}}
		if list, err := makeQuestions(w, t.Routes, spec); err == nil && len(list) > 0 {
			out = append(out, ask)
		}
	}
	return out
}

// Count returns the number of routes that a value of router.SetAsk selects.
func (t Table) Count(ask string) int { return len(selectRoutes(t.Routes, ask)) }

// makeQuestions makes the requests that w.Set selects, with their correct answers. It returns an
// error if no such request can be made to the table.
func makeQuestions(w tare.Workload, routes []fixture.Route, spec router.Spec) ([]question, error) {
	ask, isSet := w.Set[router.SetAsk]
	if !isSet {
		ask = router.AskAll
	}
	mustReject := ask == router.AskUnknown || ask == router.AskMethod
	switch {
	case !slices.Contains(askValues(), ask):
		return nil, fmt.Errorf("set: %s: %q is none of %s", router.SetAsk, ask, strings.Join(askValues(), ", "))
	case mustReject && w.Op != router.OpServe:
		return nil, fmt.Errorf("set: %s: %s can be requested with op %s", router.SetAsk, ask, router.OpServe)
	}
	indexes := selectRoutes(routes, ask)
	if len(indexes) == 0 {
		return nil, fmt.Errorf("set: %s: the table has no routes of that kind (%s)", router.SetAsk, ask)
	}
	selected := make([]fixture.Route, len(indexes))
	for i, index := range indexes {
		selected[i] = routes[index]
	}
	visits, err := fixture.Visits(selected, w.Pool)
	if err != nil {
		return nil, err
	}
	var list []question
	for i, v := range visits {
		v.Route = indexes[v.Route] // index in routes, not in selected
		var q question
		var ok bool
		switch ask {
		case router.AskUnknown:
			q, ok = unknownPath(spec, v, i)
		case router.AskMethod:
			q, ok = otherMethod(spec, v, i)
		default:
			q, ok = visitQuestion(spec, routes[v.Route], v)
		}
		if ok {
			list = append(list, q)
		}
	}
	if len(list) == 0 {
		return nil, noQuestionsError(ask)
	}
	return list, nil
}

func noQuestionsError(ask string) error {
	switch ask {
	case router.AskUnknown:
		return fmt.Errorf("set: %s: there is no path that the table has no route for", router.SetAsk)
	case router.AskMethod:
		return fmt.Errorf("set: %s: every path of the table has all of the methods %s", router.SetAsk, strings.Join(Methods(), ", "))
	}
	return fmt.Errorf("set: %s: other routes of the table match every request to these routes (%s)", router.SetAsk, ask)
}

func selectRoutes(routes []fixture.Route, ask string) (indexes []int) {
	for i, r := range routes {
		params := strings.Count(r.Path, "{")
		selected := true // AskAll, AskUnknown and AskMethod select all
		switch ask {
		case router.AskStatic:
			selected = params == 0
		case router.AskParameter:
			selected = params == 1
		case router.AskParameters:
			selected = params >= 2
		}
		if selected {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// visitQuestion returns the question for v, a path of route r with values for its parameters. It
// returns false if another route takes precedence, because a value happens to equal its literal.
func visitQuestion(spec router.Spec, r fixture.Route, v fixture.Visit) (question, bool) {
	q := newRequest(r.Method, v.Path)
	want := spec.Answered(q, correctReply(r, v))
	got, ok := spec.Answer(q)
	return question{HTTPRequest: q, answer: want}, ok && string(got.Body) == string(want.Body)
}

// unknownPath returns a request for a path that no route matches, which it makes from the path of v.
// It returns false if catch-alls match all such paths. v is visit number i.
func unknownPath(spec router.Spec, v fixture.Visit, i int) (question, bool) {
	path, _, _ := strings.Cut(v.Path, "?")
	path = strings.TrimSuffix(path, "/")
	suffix := "unknown-" + strconv.Itoa(i+1)
	parent := path[:max(0, strings.LastIndexByte(path, '/'))]
	method := spec.Routes[v.Route].Method
	candidates := []string{path + "/" + suffix, parent + "/" + suffix, path + "-" + suffix, "/" + suffix + path}
	for k := range candidates { // visits begin with different candidates
		candidate := candidates[(i+k)%len(candidates)]
		isPath := candidate[0] == '/' // false for a suffix to the root, whose path is ""
		if isPath && !isRouted(spec, candidate) {
			return question{HTTPRequest: newRequest(method, candidate), mustReject: true, mayRedirect: true}, true
		}
	}
	// Without catch-alls, a path that is longer than any route has none.
	candidate := "/" + suffix
	if !hasCatchAll(spec) {
		candidate = path + candidate
		for isRouted(spec, candidate) {
			candidate += "/" + suffix
		}
	}
	return question{HTTPRequest: newRequest(method, candidate), mustReject: true, mayRedirect: true}, !isRouted(spec, candidate)
}

func hasCatchAll(spec router.Spec) bool {
	return slices.ContainsFunc(spec.Routes, func(r router.Route) bool { return r.Rest != "" })
}

func isRouted(spec router.Spec, path string) bool {
	return slices.ContainsFunc(Methods(), func(method string) bool {
		_, ok := spec.Answer(newRequest(method, path))
		return ok
	})
}

// otherMethod returns a request for the path of v by a method without a route. It returns false if
// routes match the path by all methods. v is visit number i.
func otherMethod(spec router.Spec, v fixture.Visit, i int) (question, bool) {
	methods := Methods()
	for k := range methods {
		q := newRequest(methods[(i+k)%len(methods)], v.Path)
		if _, ok := spec.Answer(q); !ok {
			return question{HTTPRequest: q, mustReject: true, mayRedirect: true}, true
		}
	}
	return question{}, false
}
