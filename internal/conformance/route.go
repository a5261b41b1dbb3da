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

// opLiterals is the operation of a table with literals next to parameters, and opCatchAll that of
// one with catch-alls. A router that cannot have one reports that.
const (
	opLiterals = router.OpServe + "-beside"
	opCatchAll = router.OpServe + "-catch-all"
)

// Routers checks that every answer is the reply of the right route with what was bound, after all
// layers, each called once.
func Routers() Kind {
	var spec router.Spec // of the workload that was made last
	return Kind{
		ops:     []string{router.OpServe, router.OpSocket, opLiterals, opCatchAll},
		fixture: fixture.RoutesFixture,
		input: func(dir, op string) (w wire.Workload, bodies [][]byte, err error) {
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
		compare: func(_ string, body, answer []byte) error { return sameAnswer(spec, body, answer) },
		puts:    func(string) bool { return true },
		hides:   func(string) bool { return true },
		further: Subject.checkUnrouted,
	}
}

// methodTable returns a table of several methods in which no literal is in the place of a
// parameter.
func methodTable() []fixture.Route {
	return []fixture.Route{
		{Method: "GET", Path: "/"}, {Method: "GET", Path: "/health"},
		{Method: "GET", Path: "/users"}, {Method: "POST", Path: "/users"},
		{Method: "GET", Path: "/users/{id}"}, {Method: "PUT", Path: "/users/{id}"}, {Method: "DELETE", Path: "/users/{id}"},
		{Method: "GET", Path: "/users/{id}/orders"}, {Method: "PATCH", Path: "/users/{id}/orders/{item}"},
		{Method: "GET", Path: "/usage/{id}"},
	}
}

// catchAllTable returns a table with catch-alls, next to which there is nothing of the same method
// but the path before the slash.
func catchAllTable() []fixture.Route {
	return []fixture.Route{
		{Method: "GET", Path: "/"}, {Method: "GET", Path: "/health"},
		{Method: "GET", Path: "/files"}, {Method: "POST", Path: "/files/upload"}, {Method: "DELETE", Path: "/files/{id}"},
		{Method: "GET", Path: "/files/{path...}"}, {Method: "PUT", Path: "/files/{path...}"},
		{Method: "POST", Path: "/static"}, {Method: "GET", Path: "/static/{path...}"},
		{Method: "GET", Path: "/users/{id}"}, {Method: "GET", Path: "/users/{id}/blobs/{name...}"},
	}
}

// makeTable makes the workload of a table and some requests to it.
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
	w, err = Write(dir, w, bodies)
	return w, spec, bodies, err
}

func sameAnswer(spec router.Spec, body, answer []byte) error {
	var q wire.HTTPRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	var a router.Answer
	if err := json.Unmarshal(answer, &a); err != nil {
		return fmt.Errorf("not an answer: %w", err)
	}
	right, ok := spec.Answer(q)
	if !ok {
		return errors.New("no route is for it")
	}
	if diff := a.Differs(right); diff != "" {
		return errors.New(diff)
	}
	return nil
}

// checkUnrouted checks that requests without a route are rejected, in process and over a socket,
// and that the next request is still answered.
func (s Subject) checkUnrouted(dir string) error {
	if s.Trap {
		return nil
	}
	refused := []wire.HTTPRequest{
		{Method: "GET", Path: "/nobody/lives/here"}, {Method: "DELETE", Path: "/health"},
		{Method: "GET", Path: "/healthy"}, {Method: "GET", Path: "/users/7/orders/8/9"}, {Method: "GET", Path: "/users/7/order"}, {Method: "GET", Path: "/usage/7/8"},
	}
	uncaught := []wire.HTTPRequest{
		{Method: "GET", Path: "/nobody/lives/here"}, {Method: "POST", Path: "/files/a/b"}, {Method: "DELETE", Path: "/files/a/b"},
		{Method: "GET", Path: "/filesystem"}, {Method: "GET", Path: "/users/7/blob/8"}, {Method: "PUT", Path: "/static/a"},
	}
	elsewhere := []wire.HTTPRequest{{Method: "GET", Path: "/static"}} // it may be sent to /static/
	for _, c := range []struct {
		op      string
		routes  []fixture.Route
		refused []wire.HTTPRequest
		least   int // status
	}{
		{router.OpServe, methodTable(), refused, http.StatusBadRequest}, {router.OpSocket, methodTable(), refused, http.StatusBadRequest},
		{opCatchAll, catchAllTable(), uncaught, http.StatusBadRequest}, {opCatchAll, catchAllTable(), elsewhere, http.StatusMultipleChoices},
	} {
		w, spec, bodies, err := makeTable(dir, c.op, c.routes, 1)
		if err != nil {
			return err
		}
		for _, q := range c.refused {
			body, err := json.Marshal(q)
			if err != nil {
				return err
			}
			bodies = append([][]byte{body}, bodies...)
		}
		if w, err = Write(dir, w, bodies); err != nil {
			return err
		}
		err = s.Visit(false, true, func(p *Process, _ wire.Reply) error {
			return checkRejected(p, spec, w, bodies, len(c.refused), c.least)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", w.ID, err)
		}
	}
	return nil
}

// checkRejected sends the first n bodies, each twice, which must be rejected with status least or
// above, and one that must not.
func checkRejected(p *Process, spec router.Spec, w wire.Workload, bodies [][]byte, n, least int) error {
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
		for time, answer := range answers.Answers[:2] {
			var a router.Answer
			if answer.Error != "" {
				return fmt.Errorf("%s: error %s", bodies[i], answer.Error)
			} else if err := json.Unmarshal(answer.Output, &a); err != nil {
				return fmt.Errorf("%s: not an answer: %w", bodies[i], err)
			}
			if a.Status < least {
				return fmt.Errorf("%s is answered with status %d %q, not refused, when it is asked for the %s time", bodies[i], a.Status, a.Body, [...]string{"first", "second"}[time])
			}
		}
		if err := sameAnswer(spec, bodies[n], answers.Answers[2].Output); err != nil {
			return fmt.Errorf("%s, after a refusal: %w", bodies[n], err)
		}
	}
	return nil
}
