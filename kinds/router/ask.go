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

// askValues returns the values of the setting that selects requests to a table.
func askValues() []string {
	return []string{router.AskAll, router.AskStatic, router.AskParameter, router.AskParameters, router.AskUnknown, router.AskMethod}
}

// Asks returns the values of the setting for which the table has routes, or requests that must be
// rejected.
func (t Table) Asks() []string {
	spec, err := t.toSpec()
	if err != nil {
		return nil
	}
	var out []string
	for _, word := range askValues() {
		if list, err := makeQuestions(tare.Workload{Op: router.OpServe, Set: map[string]string{router.SetAsk: word}}, t.Routes, spec); err == nil && len(list) > 0 {
			out = append(out, word)
		}
	}
	return out
}

// Count returns the number of routes that a value selects.
func (t Table) Count(word string) int { return len(selectRoutes(t.Routes, word)) }

// makeQuestions makes the requests of w.
func makeQuestions(w tare.Workload, routes []fixture.Route, spec router.Spec) ([]question, error) {
	word, given := w.Set[router.SetAsk]
	if !given {
		word = router.AskAll
	}
	refused := word == router.AskUnknown || word == router.AskMethod
	switch {
	case !slices.Contains(askValues(), word):
		return nil, fmt.Errorf("set: %s: %q is none of %s", router.SetAsk, word, strings.Join(askValues(), ", "))
	case refused && w.Op != router.OpServe:
		return nil, fmt.Errorf("set: %s: %s can be asked with op %s", router.SetAsk, word, router.OpServe)
	}
	which := selectRoutes(routes, word)
	if len(which) == 0 {
		return nil, fmt.Errorf("set: %s: the table has no routes of that kind (%s)", router.SetAsk, word)
	}
	chosen := make([]fixture.Route, len(which))
	for i, k := range which {
		chosen[i] = routes[k]
	}
	visits, err := fixture.Visits(chosen, w.Pool)
	if err != nil {
		return nil, err
	}
	var list []question
	for i, v := range visits {
		v.Route = which[v.Route]
		var q question
		var ok bool
		switch word {
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
	if len(list) == 0 && word == router.AskUnknown {
		return nil, fmt.Errorf("set: %s: there is no path that the table has no route for", router.SetAsk)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("set: %s: every path of the table has all of the methods %s", router.SetAsk, strings.Join(Methods(), ", "))
	}
	return list, nil
}

// selectRoutes returns the indexes of the routes that a value selects.
func selectRoutes(routes []fixture.Route, word string) (which []int) {
	for i, r := range routes {
		n := strings.Count(r.Path, "{")
		switch word {
		case router.AskStatic:
			if n != 0 {
				continue
			}
		case router.AskParameter:
			if n != 1 {
				continue
			}
		case router.AskParameters:
			if n < 2 {
				continue
			}
		}
		which = append(which, i)
	}
	return which
}

// visitQuestion returns a visit as a question. It returns false if a value happens to be the
// literal of another route.
func visitQuestion(spec router.Spec, r fixture.Route, v fixture.Visit) (question, bool) {
	q := newRequest(r.Method, v.Path)
	right := spec.Answered(q, correctReply(r, v))
	a, ok := spec.Answer(q)
	return question{HTTPRequest: q, answer: right}, ok && string(a.Body) == string(right.Body)
}

// unknownPath requests a path that no route has, by any method: one like that of a visit with too
// much, or something else, in one place. It returns false if the table has catch-alls for them all.
func unknownPath(spec router.Spec, v fixture.Visit, i int) (question, bool) {
	path, _, _ := strings.Cut(v.Path, "?")
	path = strings.TrimSuffix(path, "/")
	n := strconv.Itoa(i + 1)
	before := path[:max(0, strings.LastIndexByte(path, '/'))]
	method := spec.Routes[v.Route].Method
	ways := []string{path + "/unknown-" + n, before + "/unknown-" + n, path + "-unknown-" + n, "/unknown-" + n + path}
	for k := range ways {
		if way := ways[(i+k)%len(ways)]; way[0] == '/' && !isRouted(spec, way) { // nothing can follow the root
			return question{HTTPRequest: newRequest(method, way), refused: true, elsewhere: true}, true
		}
	}
	way := "/unknown-" + n
	if !hasCatchAll(spec) {
		for way = path + way; isRouted(spec, way); { // longer than any route at last
			way += "/unknown-" + n
		}
	}
	return question{HTTPRequest: newRequest(method, way), refused: true, elsewhere: true}, !isRouted(spec, way)
}

// hasCatchAll reports whether a table has a catch-all: then no path is longer than all of its
// routes.
func hasCatchAll(spec router.Spec) bool {
	return slices.ContainsFunc(spec.Routes, func(r router.Route) bool { return r.Rest != "" })
}

// isRouted reports whether a path is that of a route.
func isRouted(spec router.Spec, path string) bool {
	return slices.ContainsFunc(Methods(), func(method string) bool {
		_, ok := spec.Answer(newRequest(method, path))
		return ok
	})
}

// otherMethod requests the path of a visit with a method that has no route. It returns false if all
// have.
func otherMethod(spec router.Spec, v fixture.Visit, i int) (question, bool) {
	all := Methods()
	for k := range all {
		q := newRequest(all[(i+k)%len(all)], v.Path)
		if _, ok := spec.Answer(q); !ok {
			return question{HTTPRequest: q, refused: true, elsewhere: true}, true
		}
	}
	return question{}, false
}
