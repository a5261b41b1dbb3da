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

// Probes asks each table of works once for what none of its routes is for: an
// unknown path, another method, garbage behind a path, garbage in its place,
// and far too long a path. What a router may well redirect, or see as the same
// in its own way (a slash too many, capital letters), is no probe but part of
// an exam.
func (k *Kind) Probes(dir string, works []wire.Workload) ([]wire.Workload, error) {
	var probes []wire.Workload
	seen := map[string]bool{}
	k.forgetOwn()
	for _, w := range works {
		spec, err := router.ParseSpec(w.Spec)
		if err != nil {
			return nil, err
		}
		routes := make([]fixture.Route, len(spec.Routes))
		for i := range spec.Routes {
			routes[i] = fixture.Route{Method: spec.Routes[i].Method, Path: spec.Routes[i].BracePath()}
		}
		raw, bare, err := format(routes, nil)
		if err != nil {
			return nil, err
		}
		if seen[string(raw)] { // other requests, layers or another op
			continue
		}
		seen[string(raw)] = true
		if w.Fixture == router.UserFixture {
			k.keepOwn(raw, bare)
		}
		in := wire.Workload{ID: "probe/" + w.ID, Fixture: w.Fixture, N: w.N, Op: router.OpServe, Spec: raw}
		if in, err = k.write(dir, in, refusals(bare, routes)); err != nil {
			return nil, err
		}
		probes = append(probes, in)
	}
	return probes, nil
}

// refusals are requests that no route of spec is for.
func refusals(spec router.Spec, routes []fixture.Route) []question {
	var list []question
	ask := func(method, path string) {
		q := request(method, path)
		if _, ok := spec.Answer(q); !ok {
			list = append(list, question{HTTPRequest: q, refused: true})
		}
	}
	ask("GET", "/no-such-path")
	ask("GET", "/no/such/path/at/all")
	for _, r := range []fixture.Route{routes[0], routes[len(routes)-1]} {
		path := concrete(r.Path)
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

// concrete is a path of a route, with some value for each parameter.
func concrete(template string) string {
	segments := strings.Split(template, "/")
	for i, s := range segments {
		if before, _, after, ok := fixture.Parameter(s); ok {
			segments[i] = before + "4711" + after
		}
	}
	return strings.Join(segments, "/")
}
