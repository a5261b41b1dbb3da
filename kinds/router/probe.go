package router

import (
	"strings"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
)

// longSegments is the number of segments of a very long path. All servers still accept its request
// line.
const longSegments = 300

// Probes writes probes into dir: requests that every router must reject. Some routers accept
// requests such as /users/ for /users, so these are edge cases of [Kind.Exams].
func (k *Kind) Probes(dir string, works []wire.Workload) ([]wire.Workload, error) {
	var probes []wire.Workload
	seen := map[string]bool{}
	k.forgetUserTables()
	for _, w := range works {
		spec, err := router.ParseSpec(w.Spec)
		if err != nil {
			return nil, err
		}
		routes := toRoutes(spec)
		raw, bare, err := formatTable(routes, nil) // probes need no layers (middleware)
		if err != nil {
			return nil, err
		}
		if seen[string(raw)] { // an earlier workload has the same table
			continue
		}
		seen[string(raw)] = true
		if w.Fixture == router.UserFixture {
			k.addUserTable(raw, bare)
		}
		probe := wire.Workload{ID: "probe/" + w.ID, Fixture: w.Fixture, N: w.N, Op: router.OpServe, Spec: raw}
		if probe, err = k.writeQuestions(dir, probe, unroutedRequests(bare, routes)); err != nil {
			return nil, err
		}
		probes = append(probes, probe)
	}
	return probes, nil
}

// unroutedRequests returns requests that no route of spec matches. Most are similar to the first and
// the last of routes, which are the same routes in the form of tables.
func unroutedRequests(spec router.Spec, routes []fixture.Route) []question {
	var list []question
	addUnrouted := func(method, path string) {
		q := newRequest(method, path)
		if _, ok := spec.Answer(q); !ok {
			list = append(list, question{HTTPRequest: q, mustReject: true})
		}
	}
	addUnrouted("GET", "/no-such-path")
	addUnrouted("GET", "/no/such/path/at/all")
	for _, r := range []fixture.Route{routes[0], routes[len(routes)-1]} {
		path := fillParams(r.Path)
		for _, method := range []string{"DELETE", "PUT", "POST"} {
			addUnrouted(method, path)
		}
		path = strings.TrimSuffix(path, "/")
		addUnrouted("GET", path+"/and/more")
		addUnrouted("GET", path+strings.Repeat("/garbage", longSegments))
		if path != "" && !strings.HasSuffix(r.Path, "}") { // otherwise a value of a parameter
			addUnrouted("GET", path+"garbage")
		}
	}
	return list
}

// paramValue is the value of parameters if any value will do.
const paramValue = "4711"

func fillParams(template string) string {
	segments := strings.Split(template, "/")
	for i, s := range segments {
		if before, _, after, ok := fixture.Parameter(s); ok {
			segments[i] = before + paramValue + after
		}
	}
	return strings.Join(segments, "/")
}
