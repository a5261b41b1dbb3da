package contendertest

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tarebench/tare/apps/tiny"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// checkTLS: with a certificate connections are encrypted.
func (e exam) checkTLS() error {
	cert, key, roots, err := certificate(e.dir)
	if err != nil {
		return err
	}
	addr, err := e.serves(map[string]string{server.SetTLSCert: cert, server.SetTLSKey: key})
	if err != nil {
		return err
	}
	c, err := call(addr, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}}, e.limit)
	if err != nil {
		return err
	}
	defer c.close()
	var sent tally
	for _, g := range e.good {
		if err := e.askGood(c, g); err != nil {
			return fmt.Errorf("encrypted: %w", err)
		}
		sent.add(g)
	}
	if err := e.checkCounts(sent, false); err != nil {
		return fmt.Errorf("encrypted: %w", err)
	}
	return nil
}

// checkServerRefusals: what cannot be carried out gets an error reply, and the
// next request is served.
func (e exam) checkServerRefusals() error {
	w := e.workload(nil)
	if _, err := e.serves(nil); err != nil {
		return err
	}
	heavy := *w
	heavy.Heap = 1 << 40
	for _, q := range []wire.Request{
		{Op: "no-such-op"},
		{Op: wire.OpStats, On: "nobody"},
		{Op: wire.OpEnd, On: "nobody"},
		{Op: wire.OpAnswer, On: w.ID, Cases: []int{0}},
		{Op: wire.OpSlice, On: w.ID, Until: "ops", Ops: 1},
		{Op: wire.OpPrepare, Workload: e.workload(map[string]string{server.SetLog: "loud"})},
		{Op: wire.OpPrepare, Workload: e.workload(map[string]string{"colour": "red"})},
		{Op: wire.OpPrepare, Workload: &heavy},
	} {
		a, err := e.p.do(q)
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
	if _, err := e.p.ok(wire.Request{Op: wire.OpPrepare, Workload: &light}); err != nil {
		return fmt.Errorf("with heap_bytes of 1 MB: %w", err)
	}
	other := *w
	other.Spec = json.RawMessage(`{"app":"no such app"}`)
	if a, err := e.p.ok(wire.Request{Op: wire.OpPrepare, Workload: &other}); err != nil || !a.Unsupported {
		return errors.Join(err, fmt.Errorf("an unknown app is not unsupported: %+v", a))
	}
	return nil
}

// tinyApp is the app tiny.
func tinyApp() app {
	a := app{
		name:   "tiny",
		nth:    func(i, k int) good { return tinyGood(fmt.Sprintf("/v1/id/%d-%d", i, k)) },
		checks: []check{{"refusals", exam.checkTinyRefused}},
	}
	for _, path := range []string{
		"/v1/id/7", "/v1/id/7?verbose=1", "/v1/id/0", "/v1/id/health", "/health", "/v1/id/" + strings.Repeat("0123456789abcdef", 4),
		"/v1/id/a%20b", "/v1/id/a+b", "/v1/id/100%25", "/v1/id/%2525", "/v1/id/caf%C3%A9", "/v1/id/caf%c3%a9", "/v1/id/%22%5C%22", "/v1/id/%c3%a9%25",
	} {
		a.good = append(a.good, tinyGood(path))
	}
	return a
}

func tinyGood(path string) good {
	return good{asked: get(path), wrong: func(got called) error {
		status, kind, body := tiny.Answer("GET", path)
		if got.status != status || got.kind != kind || !bytes.Equal(got.body, body) {
			return fmt.Errorf("%d %s %q, want %d %s %q", got.status, got.kind, got.body, status, kind, body)
		}
		return nil
	}}
}

// checkTinyRefused asks for what must be refused. A refusal may close the
// connection; a HEAD, whatever its answer, has no body.
func (e exam) checkTinyRefused() error {
	addr, err := e.serves(nil)
	if err != nil {
		return err
	}
	for _, q := range [][2]string{
		{"POST", "/v1/id/7"}, {"PUT", "/v1/id/7"}, {"PATCH", "/v1/id/7"}, {"DELETE", "/v1/id/7"}, {"POST", "/health"},
		{"GET", "/"}, {"GET", "/v1/id/"}, {"GET", "/v1/id/a/b"}, {"GET", "/v2/id/7"}, {"GET", "/healthier"}, {"POST", "/nothing"},
	} {
		for _, body := range [][]byte{nil, []byte(`{"id":"8"}`)} {
			if body != nil && q[0] == "GET" {
				continue
			}
			got, err := e.askOnce(addr, asked{method: q[0], path: q[1], body: body})
			if want, _, _ := tiny.Answer(q[0], q[1]); err != nil || got.status != want && !e.Trap {
				return errors.Join(err, fmt.Errorf("%s %s: status %d, want %d", q[0], q[1], got.status, want))
			}
		}
	}
	c, err := call(addr, nil, e.limit)
	if err != nil {
		return err
	}
	defer c.close()
	for _, path := range []string{"/v1/id/7", "/health"} {
		got, err := c.ask(asked{method: "HEAD", path: path})
		if err != nil {
			return fmt.Errorf("HEAD %s: %w", path, err)
		}
		if got.closes {
			return nil
		}
		if err := e.askGood(c, tinyGood(path)); err != nil {
			return fmt.Errorf("after HEAD %s: %w", path, err)
		}
	}
	return nil
}
