package router

import (
	"strings"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
)

// longSegments make a path that is longer than any route, and still fits what
// servers read of a request line.
const longSegments = 300

// Probes requests from each table of works paths without a route: an unknown path, another method,
// garbage after a path, garbage in its place, and far too long a path. What a router may well
// redirect, or treat as equal (a slash too many, capital letters), is no probe but part of an exam.
func (k *Kind) Probes(dir string, works []wire.Workload) ([]wire.Workload, error) {
	var probes []wire.Workload
	seen := map[string]bool{}
	k.forgetUserTables()
	for _, w := range works {
		spec, err := router.ParseSpec(w.Spec)
		if err != nil {
			return nil, err
		}
		routes := make([]fixture.Route, len(spec.Routes))
		for i := range spec.Routes {
			routes[i] = fixture.Route{Method: spec.Routes[i].Method, Path: spec.Routes[i].BracePath()}
		}
		raw, bare, err := formatTable(routes, nil)
		if err != nil {
			return nil, err
		}
		if seen[string(raw)] { // other requests, layers or another op
			continue
		}
		seen[string(raw)] = true
		if w.Fixture == router.UserFixture {
			k.addUserTable(raw, bare)
		}
		in := wire.Workload{ID: "probe/" + w.ID, Fixture: w.Fixture, N: w.N, Op: router.OpServe, Spec: raw}
		if in, err = k.writeQuestions(dir, in, unroutedRequests(bare, routes)); err != nil {
			return nil, err
		}
		probes = append(probes, in)
	}
	return probes, nil
}

// unroutedRequests returns requests without a route in spec.
func unroutedRequests(spec router.Spec, routes []fixture.Route) []question {
	var list []question
	ask := func(method, path string) {
		q := newRequest(method, path)
		if _, ok := spec.Answer(q); !ok {
			list = append(list, question{HTTPRequest: q, refused: true})
		}
	}
	ask("GET", "/no-such-path")
	ask("GET", "/no/such/path/at/all")
	for _, r := range []fixture.Route{routes[0], routes[len(routes)-1]} {
		path := fillParams(r.Path)
		for _, method := range []string{"DELETE", "PUT", "POST"} {
			ask(method, path)
		}
		path = strings.TrimSuffix(path, "/")
		ask("GET", path+"/and/more")
		ask("GET", path+strings.Repeat("/garbage", longSegments))
		if path != "" && !strings.HasSuffix(r.Path, "}") { // else it is another value
			ask("GET", path+"garbage")
		}
	}
	return list
}

// fillParams returns a path of a route, with some value for each parameter.
func fillParams(template string) string {
	segments := strings.Split(template, "/")
	for i, s := range segments {
		if before, _, after, ok := fixture.Parameter(s); ok {
			segments[i] = before + "4711" + after
		}
	}
	return strings.Join(segments, "/")
}
