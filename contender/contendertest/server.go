package contendertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare/app/tiny"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// servers: the lab does the operations, so there are none to be asked for.
// Every server is examined with the app tiny.
func servers() kind { return kind{examine: subject.examineServer} }

// examineServer runs the suite on a server.
func (s subject) examineServer(dir string) []error {
	var wrong []error
	note := func(err error) {
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	note(s.visit(false, true, s.checkHello))
	if wrong != nil {
		return wrong // nothing else can go right
	}
	note(s.visit(false, true, func(p *process, _ wire.Reply) error { return s.checkTiny(p) }))
	note(s.visit(false, true, func(p *process, _ wire.Reply) error { return s.checkAgain(p) }))
	note(s.visit(false, true, func(p *process, _ wire.Reply) error { return s.checkLogs(p, dir) }))
	note(s.visit(false, true, func(p *process, _ wire.Reply) error { return s.checkTLS(p, dir) }))
	note(s.visit(false, false, func(p *process, _ wire.Reply) error { return checkServerRefusals(p) }))
	note(s.visit(true, true, func(*process, wire.Reply) error { return nil }))
	for _, err := range s.aloneServer(dir) {
		note(fmt.Errorf("alone: %w", err))
	}
	return wrong
}

// tinyWorkload is what a server is told about the app tiny. It has no pool: no
// server is shown what it will be asked.
func tinyWorkload(set map[string]string) *wire.Workload {
	spec, _ := json.Marshal(server.Spec{App: "tiny"}) // a string in a struct always can be
	return &wire.Workload{ID: "tiny/get-random", Fixture: "tiny", Op: "get-random", Set: set, Spec: spec}
}

// serves prepares the app tiny and returns where it listens.
func serves(p *process, set map[string]string) (string, error) {
	w := tinyWorkload(set)
	a, err := p.ok(wire.Request{Op: wire.OpPrepare, Workload: w})
	if err != nil {
		return "", fmt.Errorf("%v: %w", set, err)
	}
	if a.Unsupported {
		return "", errors.New("it does not serve the app tiny")
	}
	host, _, err := net.SplitHostPort(a.Addr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		return "", fmt.Errorf("prepare: addr %q is not host:port of a loopback address", a.Addr)
	}
	return a.Addr, nil
}

// counted asks for stats.
func counted(p *process) (wire.Reply, error) {
	a, err := p.ok(wire.Request{Op: wire.OpStats, On: tinyWorkload(nil).ID})
	if err == nil && (a.Bytes < 0 || a.Allocs < 0 || a.GC < 0 || a.Received < 0 || a.ReceivedBody < 0 || a.LayerCalls < 0) {
		err = fmt.Errorf("stats: a negative number: %+v", a)
	}
	return a, err
}

// Paths that are answered with 200, and requests that are refused.
func tinyPaths() []string {
	return []string{
		"/v1/id/7", "/v1/id/7?verbose=1", "/v1/id/0", "/v1/id/health", "/health", "/v1/id/" + strings.Repeat("0123456789abcdef", 4),
		"/v1/id/a%20b", "/v1/id/a+b", "/v1/id/100%25", "/v1/id/%2525", "/v1/id/caf%C3%A9", "/v1/id/caf%c3%a9", "/v1/id/%22%5C%22", "/v1/id/%c3%a9%25",
	}
}

func tinyRefusals() [][2]string {
	return [][2]string{
		{"POST", "/v1/id/7"}, {"PUT", "/v1/id/7"}, {"PATCH", "/v1/id/7"}, {"DELETE", "/v1/id/7"}, {"POST", "/health"},
		{"GET", "/"}, {"GET", "/v1/id/"}, {"GET", "/v1/id/a/b"}, {"GET", "/v2/id/7"}, {"GET", "/healthier"}, {"POST", "/nothing"},
	}
}

// checkTiny asks the app what it has to answer and what to refuse.
func (s subject) checkTiny(p *process) error {
	addr, err := serves(p, nil)
	if err != nil {
		return err
	}
	if a, err := counted(p); err != nil || a.Received != 0 || a.LayerCalls != 0 {
		return errors.Join(err, fmt.Errorf("stats before the first request: %d received, %d layer_calls", a.Received, a.LayerCalls))
	}
	c, err := call(addr, nil, s.limit)
	if err != nil {
		return err
	}
	defer c.close()
	for _, path := range tinyPaths() { // all over one connection
		if err := s.checkTinyAnswer(c, path); err != nil {
			return err
		}
	}
	sent := int64(len(tinyPaths()))
	if a, err := counted(p); err != nil || a.Received != sent {
		return errors.Join(err, fmt.Errorf("stats: %d received, sent were %d", a.Received, sent))
	}
	if err := s.checkTogether(addr); err != nil {
		return err
	}
	sent += callers * callsEach
	if a, err := counted(p); err != nil || a.Received != sent || a.LayerCalls%sent != 0 {
		return errors.Join(err, fmt.Errorf("stats: %d received and %d layer_calls, sent were %d", a.Received, a.LayerCalls, sent))
	}
	return s.checkTinyRefused(addr)
}

// checkTinyAnswer asks for one path and holds the answer against the reference.
func (s subject) checkTinyAnswer(c *caller, path string) error {
	got, err := c.ask("GET", path, "")
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	status, kind, body := tiny.Answer("GET", path)
	have, _, _ := strings.Cut(got.kind, ";")
	if !s.Trap && (got.status != status || have != kind || got.body != string(body)) {
		return fmt.Errorf("GET %s: %d %s %q, want %d %s %q", path, got.status, have, got.body, status, kind, body)
	}
	if got.closes {
		return fmt.Errorf("GET %s: it closes the connection", path)
	}
	return nil
}

const (
	callers   = 8
	callsEach = 25
)

// checkTogether asks over several connections at once, each for ids of its own.
func (s subject) checkTogether(addr string) error {
	wrong := make([]error, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			c, err := call(addr, nil, s.limit)
			if err != nil {
				wrong[i] = err
				return
			}
			defer c.close()
			for k := range callsEach {
				if wrong[i] = s.checkTinyAnswer(c, fmt.Sprintf("/v1/id/%d-%d", i, k)); wrong[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(wrong...)
}

// checkTinyRefused asks for what must be refused. A refusal may close the
// connection; a HEAD, whatever its answer, has no body.
func (s subject) checkTinyRefused(addr string) error {
	for _, q := range tinyRefusals() {
		for _, body := range []string{"", `{"id":"8"}`} {
			if body != "" && q[0] == "GET" {
				continue
			}
			c, err := call(addr, nil, s.limit)
			if err != nil {
				return err
			}
			got, err := c.ask(q[0], q[1], body)
			c.close()
			if want, _, _ := tiny.Answer(q[0], q[1]); err != nil || got.status != want && !s.Trap {
				return errors.Join(err, fmt.Errorf("%s %s: status %d, want %d", q[0], q[1], got.status, want))
			}
		}
	}
	c, err := call(addr, nil, s.limit)
	if err != nil {
		return err
	}
	defer c.close()
	for _, path := range []string{"/v1/id/7", "/health"} {
		got, err := c.ask("HEAD", path, "")
		if err != nil {
			return fmt.Errorf("HEAD %s: %w", path, err)
		}
		if got.closes {
			return nil
		}
		if err := s.checkTinyAnswer(c, path); err != nil {
			return fmt.Errorf("after HEAD %s: %w", path, err)
		}
	}
	return nil
}

// checkAgain prepares twice: the second server counts from zero, and nobody
// listens any more where the first did. Somebody else's server may have come
// by its port, but hardly three times in a row.
func (s subject) checkAgain(p *process) error {
	for tries := 3; ; tries-- {
		before, err := serves(p, nil)
		if err != nil {
			return err
		}
		idle, err := call(before, nil, s.limit)
		if err != nil {
			return err
		}
		if err := s.checkTinyAnswer(idle, "/v1/id/7"); err != nil {
			return err
		}
		after, err := serves(p, nil)
		if err != nil {
			return fmt.Errorf("a second prepare: %w", err)
		}
		a, err := counted(p)
		if err != nil || a.Received != 0 {
			return errors.Join(err, fmt.Errorf("stats after a second prepare: %d received", a.Received))
		}
		last, err := idle.ask("GET", "/v1/id/7", "")
		idle.close()
		if err == nil && !last.closes {
			return errors.New("after a second prepare the first server goes on over its connection")
		}
		conn, err := net.DialTimeout("tcp", before, time.Second)
		if err != nil || before == after {
			return nil
		}
		_ = conn.Close()
		if tries == 1 {
			return fmt.Errorf("after a second prepare somebody still listens at %s", before)
		}
	}
}

// checkLogs: with a log the server answers as without, and a file has a line
// for each request, if the framework's log goes there at all.
func (s subject) checkLogs(p *process, dir string) error {
	path := filepath.Join(dir, "access.log")
	for _, set := range []map[string]string{{server.SetLog: server.LogDiscard}, {server.SetLog: server.LogFile, server.SetLogFile: path}} {
		addr, err := serves(p, set)
		if err != nil {
			return err
		}
		c, err := call(addr, nil, s.limit)
		if err != nil {
			return err
		}
		for _, q := range tinyPaths() {
			if err := s.checkTinyAnswer(c, q); err != nil {
				c.close()
				return fmt.Errorf("%v: %w", set, err)
			}
		}
		c.close()
		sent := int64(len(tinyPaths()))
		if a, err := counted(p); err != nil || a.Received != sent || a.LayerCalls%sent != 0 {
			return errors.Join(err, fmt.Errorf("%v: stats: %d received and %d layer_calls, sent were %d", set, a.Received, a.LayerCalls, sent))
		}
	}
	if _, err := serves(p, nil); err != nil { // the one that writes has ended
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("log to a file: %w", err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 0 && lines < len(tinyPaths()) {
		return fmt.Errorf("log to a file: %d lines for %d requests", lines, len(tinyPaths()))
	}
	return nil
}

// checkServerRefusals: what cannot be carried out gets an error reply, and the
// next request is served.
func checkServerRefusals(p *process) error {
	w := tinyWorkload(nil)
	if _, err := serves(p, nil); err != nil {
		return err
	}
	heavy := *w
	heavy.Heap = 1 << 40
	for _, q := range []wire.Request{
		{Op: "no-such-op"},
		{Op: wire.OpStats, On: "nobody"},
		{Op: wire.OpAnswer, On: w.ID, Cases: []int{0}},
		{Op: wire.OpSlice, On: w.ID, Until: "ops", Ops: 1},
		{Op: wire.OpPrepare, Workload: tinyWorkload(map[string]string{server.SetLog: "loud"})},
		{Op: wire.OpPrepare, Workload: &heavy},
	} {
		a, err := p.do(q)
		switch {
		case err != nil:
			return err
		case a.Error == nil || a.Error.Class == "":
			return fmt.Errorf("%s on %q: the reply is no error reply: %+v", q.Op, q.On, a)
		case q.Op == "no-such-op" && a.Error.Class != "unknown-op":
			return fmt.Errorf("an unknown op is refused as %s, want unknown-op", a.Error.Class)
		}
	}
	light := *w
	light.Heap = 1 << 20
	if _, err := p.ok(wire.Request{Op: wire.OpPrepare, Workload: &light}); err != nil {
		return fmt.Errorf("with heap_bytes of 1 MB: %w", err)
	}
	other := *w
	other.Spec = json.RawMessage(`{"app":"no such app"}`)
	if a, err := p.ok(wire.Request{Op: wire.OpPrepare, Workload: &other}); err != nil || !a.Unsupported {
		return errors.Join(err, fmt.Errorf("an unknown app is not unsupported: %+v", a))
	}
	return nil
}
