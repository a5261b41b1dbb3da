package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/conformance"
)

// checkFailures: failures that are asked for reach the client as they are.
func (t talk) checkFailures() error {
	p, err := t.opens(seeded, map[string]string{serving.SetFailOne: strconv.Itoa(failsOne)})
	if err != nil {
		return err
	}
	defer p.Close()
	return failures(p, t.lenient())
}

// checkLimit: beyond the rate limit requests are refused, and never reach the
// service.
func (t talk) checkLimit() error {
	p, err := t.opens(seeded, map[string]string{serving.SetRateLimit: "1"})
	if err != nil {
		return err
	}
	defer p.Close()
	const n = 20
	refused, err := refusals(p, n, users.ResourceExhausted)
	if err != nil {
		return err
	}
	a, err := t.Counted()
	if let := int64(n - refused); err == nil && !t.lenient() && (refused == 0 || a.Calls == nil || a.Calls.Get != let) {
		err = fmt.Errorf("with a limit of 1 request a second %d of %d were refused, %d let through and %+v made", refused, n, let, a.Calls)
	}
	return err
}

// checkID: a request's id is in its answer.
func (t talk) checkID() error {
	p, err := t.opens(seeded, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	return identifies(p, t.lenient())
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

// checkPaths asks over HTTP for what the other protocols cannot say.
func (t talk) checkPaths() error {
	if t.protocol != rpc.HTTP || t.lenient() {
		return nil
	}
	addr, err := t.Serves(nil)
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
	q := conformance.Request{Method: p.method, Path: p.path, Chunked: p.chunked}
	if p.body != "" || p.method == http.MethodPost || p.method == http.MethodPut {
		q.Body, q.Header = []byte(p.body), conformance.JSONType("")
	}
	got, err := t.AskOnce(addr, q)
	if err != nil {
		return err
	}
	return p.judge(&http.Response{StatusCode: got.Status, Header: got.Header}, got.Body)
}

// checkLog: with a log the server answers as without, and a file has a line for
// each request.
func (t talk) checkLog() error {
	file := filepath.Join(t.Dir, t.protocol+"-access.log")
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
	if _, err := t.Serves(nil); err != nil { // the one that writes has ended
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("log to a file: %w", err)
	}
	if lines, want := bytes.Count(text, []byte("\n")), len(script()); lines < want && !t.lenient() {
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
		if t.Enough != nil && t.Enough(err) {
			return err
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
	slow := dialPlain(t.protocol, strings.TrimPrefix(idle.base, "http://"), nil, false, t.Limit)
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
	a, err := t.Process.OK(wire.Request{Op: wire.OpEnd, On: t.Workload(nil).ID})
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
