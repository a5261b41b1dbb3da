package contendertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
	usersserving "github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// checkFailures: failures that are asked for reach the client as they are.
func (t talk) checkFailures() error {
	const one = 3
	p, err := t.opens(seeded, map[string]string{usersserving.SetFailOne: fmt.Sprint(one)})
	if err != nil {
		return err
	}
	defer p.Close()
	failed := 0
	for range 10 * one {
		_, err := p.Get(context.Background(), users.FirstID)
		var refused *users.Error
		switch {
		case errors.As(err, &refused) && refused.Code == users.Unavailable:
			failed++
		case err != nil:
			return err
		}
	}
	if failed != 10 && !t.Trap && !t.loose() {
		return fmt.Errorf("with one call in %d to fail, %d of %d did", one, failed, 10*one)
	}
	return nil
}

// checkLimit: beyond the rate limit requests are refused, and never reach the
// service.
func (t talk) checkLimit() error {
	p, err := t.opens(seeded, map[string]string{usersserving.SetRateLimit: "1"})
	if err != nil {
		return err
	}
	defer p.Close()
	let, refusals := int64(0), 0
	for range 20 {
		_, err := p.Get(context.Background(), users.FirstID)
		var refused *users.Error
		switch {
		case errors.As(err, &refused) && refused.Code == users.ResourceExhausted:
			refusals++
		case err != nil:
			return err
		default:
			let++
		}
	}
	a, err := t.counted()
	if err == nil && !t.Trap && !t.loose() && (refusals == 0 || a.Calls == nil || a.Calls.Get != let) {
		err = fmt.Errorf("with a limit of 1 request a second %d of 20 were refused, %d let through and %+v made", refusals, let, a.Calls)
	}
	return err
}

// checkID: a request's id is in its answer, and is made where it has none that is
// sound.
func (t talk) checkID() error {
	p, err := t.opens(seeded, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	for id, kept := range map[string]bool{"mine-1": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "": false} {
		for _, user := range []int64{users.FirstID, 5} { // one of whom is not there
			p.id = id
			_, err := p.Get(context.Background(), user)
			var refused *users.Error
			if err != nil && !errors.As(err, &refused) {
				return err
			}
			if got := *p.answered.Load(); (got == "" || len(got) > 128 || (got == id) != kept) && !t.Trap && !t.loose() {
				return fmt.Errorf("x-request-id is %q in the answer to a request of %q, of user %d", got, id, user)
			}
		}
	}
	return nil
}

func (t talk) checkHealth() error {
	p, err := t.opens(0, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.healthy(); err != nil && !t.Trap {
		return err
	}
	return nil
}

// wellSaid reads an answer to the question how a service is.
func wellSaid(a *http.Response, protocol string) error {
	defer a.Body.Close()
	answer, err := io.ReadAll(a.Body)
	if err != nil {
		return err
	}
	if protocol == rpc.GRPC {
		const serving = "\x08\x01" // status: SERVING
		if answer, err = unframed(a, answer); err == nil && string(answer) != serving {
			err = fmt.Errorf("%q is not serving", answer)
		}
	} else if a.StatusCode != http.StatusOK || strings.TrimSpace(string(answer)) != "ok" {
		err = fmt.Errorf("status %d %.60q", a.StatusCode, answer)
	} else {
		err = isKind(a, "text/plain")
	}
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	return nil
}

// httpCase is a request over HTTP and what is right of its answer.
type httpCase struct {
	method, path, body string
	status             int
	code               users.Code // of a refusal; empty: it is none
}

func paths() []httpCase {
	const one, all = "/v1/users/300000000", "/v1/users"
	long := `{"name":"` + strings.Repeat("x", users.MaxBody) + `","email":"x@example.com"}`
	return []httpCase{
		{"GET", all + "/abc", "", 400, users.InvalidArgument}, {"GET", all + "/1.5", "", 400, users.InvalidArgument},
		{"GET", all + "/99999999999999999999", "", 400, users.InvalidArgument}, {"DELETE", all + "/abc", "", 400, users.InvalidArgument},
		{"PUT", all + "/abc", `{"name":"Ada","email":"ada@example.com"}`, 400, users.InvalidArgument},
		{"GET", all + "?page=x", "", 400, users.InvalidArgument}, {"GET", all + "?limit=1e2", "", 400, users.InvalidArgument}, {"GET", all + "?page=99999999999", "", 400, users.InvalidArgument},
		{"GET", all + "?page=-1", "", 400, users.InvalidArgument}, {"GET", all + "?limit=-5", "", 400, users.InvalidArgument},
		{"POST", all, "", 400, users.InvalidArgument}, {"POST", all, "{", 400, users.InvalidArgument}, {"POST", all, "[]", 400, users.InvalidArgument},
		{"POST", all, `{"name":7,"email":"x@example.com"}`, 400, users.InvalidArgument}, {"POST", all, `{"name":"Ada"`, 400, users.InvalidArgument},
		{"PUT", one, "no JSON", 400, users.InvalidArgument}, {"PUT", one, `{"name":["Ada"]}`, 400, users.InvalidArgument},
		{"POST", all, long, 413, users.InvalidArgument}, {"PUT", one, long, 413, users.InvalidArgument},
		{"POST", all, `{"name":"Ada","email":"ada@example.com","colour":"red","list":[1,{}]}`, 201, ""},
		{"PUT", one, `{"name":"Bea","email":"bea@example.com","id":7}`, 200, ""},
		{"GET", "/nothing", "", 404, users.NotFound}, {"GET", "/", "", 404, users.NotFound}, {"GET", "/v1/user", "", 404, users.NotFound}, {"GET", all + "/1/2", "", 404, users.NotFound},
		{"POST", "/nothing", "{}", 404, users.NotFound},
		{"PATCH", all, "{}", 405, users.InvalidArgument}, {"DELETE", all, "", 405, users.InvalidArgument}, {"POST", one, "{}", 405, users.InvalidArgument}, {"PATCH", one, "{}", 405, users.InvalidArgument},
	}
}

// checkPaths asks over HTTP for what the other protocols cannot say.
func (t talk) checkPaths() error {
	if t.protocol != rpc.HTTP || t.loose() || t.Trap {
		return nil
	}
	addr, err := t.serves(nil)
	if err != nil {
		return err
	}
	var wrong []error
	for _, p := range paths() {
		if err := t.askPath(addr, p); err != nil {
			wrong = append(wrong, fmt.Errorf("%s %s %.60q: %w", p.method, p.path, p.body, err))
		}
	}
	return errors.Join(wrong...)
}

func (t talk) askPath(addr string, p httpCase) error {
	q := asked{method: p.method, path: p.path}
	if p.body != "" || p.method == "POST" {
		q.body, q.header = []byte(p.body), jsonType("")
	}
	got, err := t.askOnce(addr, q)
	if err != nil {
		return err
	}
	if got.status != p.status {
		return fmt.Errorf("status %d, want %d: %.100q", got.status, p.status, got.body)
	}
	if p.code == "" {
		return nil
	}
	e, err := refusalIn(&http.Response{StatusCode: got.status, Header: got.header}, got.body)
	if err == nil && e.Code != p.code {
		err = fmt.Errorf("status %d with code %s, want %s", got.status, e.Code, p.code)
	}
	if err == nil && strings.Contains(e.Message, "\n") {
		err = fmt.Errorf("a message of several lines: %q", e.Message)
	}
	return err
}

// checkLog: with a log the server answers as without, and a file has a line for
// each request.
func (t talk) checkLog() error {
	file := filepath.Join(t.dir, t.protocol+"-access.log")
	for _, set := range []map[string]string{{server.SetLog: server.LogDiscard}, {server.SetLog: server.LogFile, server.SetLogFile: file}} {
		p, err := t.opens(seeded, set)
		if err != nil {
			return err
		}
		_, err = t.run(p)
		_ = p.Close()
		if err != nil {
			return fmt.Errorf("%v: %w", set, err)
		}
	}
	if _, err := t.serves(nil); err != nil { // the one that writes has ended
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("log to a file: %w", err)
	}
	if lines, want := bytes.Count(text, []byte("\n")), len(script()); lines < want && !t.Trap && !t.loose() {
		return fmt.Errorf("log to a file: %d lines for %d requests", lines, want)
	}
	return nil
}

// checkGrace has the server end while a request is on its way, with an idle
// connection beside it: the request is answered. How soon a server knows of a
// request cannot be seen from outside, so that one try may come too early.
func (t talk) checkGrace() (err error) {
	for _, begun := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond} {
		if err = t.endsAfter(begun); err == nil || t.Trap {
			return nil
		}
	}
	return err
}

func (t talk) endsAfter(begun time.Duration) error {
	idle, err := t.opens(seeded, nil)
	if err != nil {
		return err
	}
	defer idle.Close()
	if err := t.getsFirst(idle); err != nil {
		return err
	}
	slow := dialPlain(t.protocol, strings.TrimPrefix(idle.base, "http://"), nil, t.limit)
	defer slow.Close()
	half, rest := make(chan struct{}), make(chan struct{})
	slow.slowly = func(body []byte) io.Reader {
		return io.MultiReader(bytes.NewReader(body[:len(body)/2]), waiting{half, rest}, bytes.NewReader(body[len(body)/2:]))
	}
	answered := make(chan error, 1)
	go func() {
		_, err := slow.Create(context.Background(), users.Draft{Name: "Slow Ada", Email: "slow@example.com"})
		answered <- err
	}()
	select {
	case <-half:
	case err := <-answered:
		return fmt.Errorf("a request that was half sent is answered: %w", errors.Join(err))
	}
	time.Sleep(begun)
	timer := time.AfterFunc(2*begun, func() { close(rest) })
	defer timer.Stop()
	a, err := t.p.ok(wire.Request{Op: wire.OpEnd, On: t.workload(nil).ID})
	if err != nil {
		return err
	}
	if took := time.Duration(a.WallNS); a.Message != "" || took <= 0 || took > 8*time.Second {
		return fmt.Errorf("end: it took %v, with a request under way: %s", took, a.Message)
	}
	if err := <-answered; err != nil {
		return fmt.Errorf("end: a request under way: %w", err)
	}
	if _, err := idle.Get(context.Background(), users.FirstID); err == nil {
		return errors.New("after end it goes on over its connection")
	}
	return nil
}

// waiting is a body that has nothing until there is the rest of it.
type waiting struct{ half, rest chan struct{} }

func (w waiting) Read([]byte) (int, error) {
	close(w.half)
	<-w.rest
	return 0, io.EOF
}
