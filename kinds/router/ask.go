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

// asks are the words for which requests are made to a table.
func asks() []string {
	return []string{router.AskAll, router.AskStatic, router.AskParameter, router.AskParameters, router.AskUnknown, router.AskMethod}
}

// Asks are those of the words for which the table has routes, or leaves
// something to be refused.
func (t Table) Asks() []string {
	spec, err := t.spec()
	if err != nil {
		return nil
	}
	var out []string
	for _, word := range asks() {
		if list, err := ask(tare.Workload{Op: router.OpServe, Set: map[string]string{router.SetAsk: word}}, t.Routes, spec); err == nil && len(list) > 0 {
			out = append(out, word)
		}
	}
	return out
}

// Count is how many routes are asked for by a word.
func (t Table) Count(word string) int { return len(asked(t.Routes, word)) }

// ask makes the requests that w says.
func ask(w tare.Workload, routes []fixture.Route, spec router.Spec) ([]question, error) {
	word, given := w.Set[router.SetAsk]
	if !given {
		word = router.AskAll
	}
	refused := word == router.AskUnknown || word == router.AskMethod
	switch {
	case !slices.Contains(asks(), word):
		return nil, fmt.Errorf("set: %s: %q is none of %s", router.SetAsk, word, strings.Join(asks(), ", "))
	case refused && w.Op != router.OpServe:
		return nil, fmt.Errorf("set: %s: %s can be asked with op %s", router.SetAsk, word, router.OpServe)
	}
	which := asked(routes, word)
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
			q, ok = unknown(spec, v, i)
		case router.AskMethod:
			q, ok = otherMethod(spec, v, i)
		default:
			q, ok = visited(spec, routes[v.Route], v)
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

// asked are the routes that a word is about.
func asked(routes []fixture.Route, word string) (which []int) {
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

// visited is a visit as a question. It is false where a value happens to be the
// literal of another route.
func visited(spec router.Spec, r fixture.Route, v fixture.Visit) (question, bool) {
	q := request(r.Method, v.Path)
	right := spec.Answered(q, reply(r, v))
	a, ok := spec.Answer(q)
	return question{HTTPRequest: q, right: right}, ok && string(a.Body) == string(right.Body)
}

// unknown asks for a path that no route has, by any method: one like that of a
// visit with too much, or something else, in one place. It is false where the
// table has catch-alls for them all.
func unknown(spec router.Spec, v fixture.Visit, i int) (question, bool) {
	path, _, _ := strings.Cut(v.Path, "?")
	path = strings.TrimSuffix(path, "/")
	n := strconv.Itoa(i + 1)
	before := path[:max(0, strings.LastIndexByte(path, '/'))]
	method := spec.Routes[v.Route].Method
	ways := []string{path + "/unknown-" + n, before + "/unknown-" + n, path + "-unknown-" + n, "/unknown-" + n + path}
	for k := range ways {
		if way := ways[(i+k)%len(ways)]; way[0] == '/' && !known(spec, way) { // nothing can be put behind the root
			return question{HTTPRequest: request(method, way), refused: true, elsewhere: true}, true
		}
	}
	way := "/unknown-" + n
	if !endless(spec) {
		for way = path + way; known(spec, way); { // longer than any route at last
			way += "/unknown-" + n
		}
	}
	return question{HTTPRequest: request(method, way), refused: true, elsewhere: true}, !known(spec, way)
}

// endless reports whether a table has a catch-all: then no path is longer than
// all of its routes.
func endless(spec router.Spec) bool {
	return slices.ContainsFunc(spec.Routes, func(r router.Route) bool { return r.Rest != "" })
}

// known reports whether a path is that of a route.
func known(spec router.Spec, path string) bool {
	return slices.ContainsFunc(Methods(), func(method string) bool {
		_, ok := spec.Answer(request(method, path))
		return ok
	})
}

// otherMethod asks for the path of a visit by a method that it has not. It is
// false where it has them all.
func otherMethod(spec router.Spec, v fixture.Visit, i int) (question, bool) {
	all := Methods()
	for k := range all {
		q := request(all[(i+k)%len(all)], v.Path)
		if _, ok := spec.Answer(q); !ok {
			return question{HTTPRequest: q, refused: true, elsewhere: true}, true
		}
	}
	return question{}, false
}
