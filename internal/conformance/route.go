package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
)

// This file tests routers. For example, GET /users/7 must reach the route GET /users/{id} with the
// value 7.

// Names of two more tests of OpServe, with other tables of routes. A router may reply that it does not support
// such a table.
const (
	opLiterals = router.OpServe + "-beside"    // literals where other routes have parameters
	opCatchAll = router.OpServe + "-catch-all" // the table has catch-alls
)

// Routers returns the tests of routers. An answer must name the right route and the values of its parameters.
// Each layer (middleware) must have been called once.
func Routers() Kind {
	var spec router.Spec // makeInput sets it, and compare reads it
	return Kind{
		ops:     []string{router.OpServe, router.OpSocket, opLiterals, opCatchAll},
		fixture: fixture.RoutesFixture,
		makeInput: func(dir, op string) (w wire.Workload, bodies [][]byte, err error) {
			routes, layers := methodTable(), 5
			switch op {
			case opLiterals:
				layers = 0
				if routes, err = (fixture.Table{N: 9, Depth: 2, Params: 2}).Routes(); err != nil {
					return w, nil, err
				}
			case opCatchAll:
				routes, layers = catchAllTable(), 1
			}
			w, spec, bodies, err = makeTable(dir, op, routes, layers)
			return w, bodies, err
		},
		compare:   func(_ string, body, answer []byte) error { return sameAnswer(spec, body, answer) },
		hasOutput: func(string) bool { return true },
		needsSize: func(string) bool { return true },
		checkMore: Subject.checkUnrouted,
	}
}

// methodTable returns a table of routes with several methods. In it, no route has a literal where
// another route has a parameter.
func methodTable() []fixture.Route {
	return []fixture.Route{
		{Method: "GET", Path: "/"}, {Method: "GET", Path: "/health"},
		{Method: "GET", Path: "/users"}, {Method: "POST", Path: "/users"},
		{Method: "GET", Path: "/users/{id}"}, {Method: "PUT", Path: "/users/{id}"}, {Method: "DELETE", Path: "/users/{id}"},
		{Method: "GET", Path: "/users/{id}/orders"}, {Method: "PATCH", Path: "/users/{id}/orders/{item}"},
		{Method: "GET", Path: "/usage/{id}"},
	}
}

// catchAllTable returns a table of routes with catch-alls, which match any rest of a path. Below
// the prefix of a catch-all there is no other route of its method.
func catchAllTable() []fixture.Route {
	return []fixture.Route{
		{Method: "GET", Path: "/"}, {Method: "GET", Path: "/health"},
		{Method: "GET", Path: "/files"}, {Method: "POST", Path: "/files/upload"}, {Method: "DELETE", Path: "/files/{id}"},
		{Method: "GET", Path: "/files/{path...}"}, {Method: "PUT", Path: "/files/{path...}"},
		{Method: "POST", Path: "/static"}, {Method: "GET", Path: "/static/{path...}"},
		{Method: "GET", Path: "/users/{id}"}, {Method: "GET", Path: "/users/{id}/blobs/{name...}"},
	}
}

// makeTable writes a workload with a table of routes, and a pool (a file of requests) to them, into
// dir.
func makeTable(dir, op string, routes []fixture.Route, layers int) (w wire.Workload, spec router.Spec, bodies [][]byte, err error) {
	names, err := router.LayerNames(layers)
	if err != nil {
		return w, spec, nil, err
	}
	w = wire.Workload{ID: fixture.RoutesFixture + "/" + op, Fixture: fixture.RoutesFixture, N: len(routes), Op: op}
	if op == opLiterals || op == opCatchAll {
		w.Op = router.OpServe
	}
	if w.Spec, err = router.FormatSpec(routes, names); err != nil {
		return w, spec, nil, err
	}
	if spec, err = router.ParseSpec(w.Spec); err != nil {
		return w, spec, nil, err
	}
	visits, err := fixture.Visits(routes, 4*len(routes))
	if err != nil {
		return w, spec, nil, err
	}
	for _, v := range visits {
		body, err := json.Marshal(wire.HTTPRequest{Method: routes[v.Route].Method, Path: v.Path, Header: map[string]string{"Origin": "https://example.com"}})
		if err != nil {
			return w, spec, nil, err
		}
		bodies = append(bodies, body)
	}
	w, err = WritePool(dir, w, bodies)
	return w, spec, bodies, err
}

// sameAnswer returns an error unless answer is the reply of the route that matches the request in
// body.
func sameAnswer(spec router.Spec, body, answer []byte) error {
	var request wire.HTTPRequest
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	var got router.Answer
	if err := json.Unmarshal(answer, &got); err != nil {
		return fmt.Errorf("not an answer: %w", err)
	}
	want, ok := spec.Answer(request)
	if !ok {
		return errors.New("no route is for it")
	}
	if diff := got.Differs(want); diff != "" {
		return errors.New(diff)
	}
	return nil
}

// checkUnrouted checks that a router rejects requests that no route matches, in process and over a
// socket, and still answers the next request. It does not check a router that is wrong on purpose.
func (s Subject) checkUnrouted(dir string) error {
	if s.WrongOnPurpose {
		return nil
	}
	unrouted := []wire.HTTPRequest{ // no route of methodTable matches them
		{Method: "GET", Path: "/nobody/lives/here"},
		{Method: "DELETE", Path: "/health"},
		{Method: "GET", Path: "/healthy"},
		{Method: "GET", Path: "/users/7/orders/8/9"},
		{Method: "GET", Path: "/users/7/order"},
		{Method: "GET", Path: "/usage/7/8"},
	}
	uncaught := []wire.HTTPRequest{ // no route of catchAllTable matches them
		{Method: "GET", Path: "/nobody/lives/here"},
		{Method: "POST", Path: "/files/a/b"},
		{Method: "DELETE", Path: "/files/a/b"},
		{Method: "GET", Path: "/filesystem"},
		{Method: "GET", Path: "/users/7/blob/8"},
		{Method: "PUT", Path: "/static/a"},
	}
	redirected := []wire.HTTPRequest{{Method: "GET", Path: "/static"}} // a router may redirect it to /static/
	for _, c := range []struct {
		op        string
		routes    []fixture.Route
		requests  []wire.HTTPRequest
		minStatus int
	}{
		{router.OpServe, methodTable(), unrouted, http.StatusBadRequest},
		{router.OpSocket, methodTable(), unrouted, http.StatusBadRequest},
		{opCatchAll, catchAllTable(), uncaught, http.StatusBadRequest},
		{opCatchAll, catchAllTable(), redirected, http.StatusMultipleChoices},
	} {
		if err := s.checkUnroutedIn(dir, c.op, c.routes, c.requests, c.minStatus); err != nil {
			return err
		}
	}
	return nil
}

// checkUnroutedIn sends requests that no route of the table matches, before the usual ones.
func (s Subject) checkUnroutedIn(dir, op string, routes []fixture.Route, requests []wire.HTTPRequest, minStatus int) error {
	w, spec, bodies, err := makeTable(dir, op, routes, 1)
	if err != nil {
		return err
	}
	for _, q := range requests {
		body, err := json.Marshal(q)
		if err != nil {
			return err
		}
		bodies = append([][]byte{body}, bodies...)
	}
	if w, err = WritePool(dir, w, bodies); err != nil {
		return err
	}
	err = s.RunSession(Session{}, func(p *Process, _ wire.Reply) error {
		return checkRejected(p, spec, w, bodies, len(requests), minStatus)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", w.ID, err)
	}
	return nil
}

// checkRejected sends each of the first n bodies twice, each time followed by body n. The router must reject
// the first n with at least minStatus. It must answer body n.
func checkRejected(p *Process, spec router.Spec, w wire.Workload, bodies [][]byte, n, minStatus int) error {
	if a, err := p.OK(wire.Request{Op: wire.OpPrepare, Workload: &w}); err != nil || a.Unsupported {
		return err
	}
	for i := range n {
		answers, err := p.OK(wire.Request{Op: wire.OpAnswer, On: w.ID, Cases: []int{i, i, n}})
		if err != nil {
			return err
		}
		if len(answers.Answers) != 3 {
			return fmt.Errorf("%d answers to 3 cases", len(answers.Answers))
		}
		for attempt, answer := range answers.Answers[:2] {
			var a router.Answer
			if answer.Error != "" {
				return fmt.Errorf("%s: error %s", bodies[i], answer.Error)
			} else if err := json.Unmarshal(answer.Output, &a); err != nil {
				return fmt.Errorf("%s: not an answer: %w", bodies[i], err)
			}
			if a.Status < minStatus {
				return fmt.Errorf("%s is answered with status %d %q, not refused, when it is asked for the %s time", bodies[i], a.Status, a.Body, [...]string{"first", "second"}[attempt])
			}
		}
		if err := sameAnswer(spec, bodies[n], answers.Answers[2].Output); err != nil {
			return fmt.Errorf("%s, after an error response: %w", bodies[n], err)
		}
	}
	return nil
}
