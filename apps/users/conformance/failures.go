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

// checkFailures checks that failures on request reach the client unchanged.
func (t protocolTest) checkFailures() error {
	p, err := t.openClient(seeded, map[string]string{serving.SetFailOne: strconv.Itoa(failsOne)})
	if err != nil {
		return err
	}
	defer p.Close()
	return checkErrors(p, t.isLenient())
}

// checkLimit checks that requests beyond the rate limit are rejected, and never reach the service.
func (t protocolTest) checkLimit() error {
	p, err := t.openClient(seeded, map[string]string{serving.SetRateLimit: "1"})
	if err != nil {
		return err
	}
	defer p.Close()
	const n = 20
	rejected, err := countRejected(p, n, users.ResourceExhausted)
	if err != nil {
		return err
	}
	a, err := t.Counted()
	if accepted := int64(n - rejected); err == nil && !t.isLenient() && (rejected == 0 || a.Calls == nil || a.Calls.Get != accepted) {
		err = fmt.Errorf("with a limit of 1 request a second %d of %d were refused, %d let through and %+v made", rejected, n, accepted, a.Calls)
	}
	return err
}

// checkID checks that a request's id is in its response.
func (t protocolTest) checkID() error {
	p, err := t.openClient(seeded, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	return checkRequestIDs(p, t.isLenient())
}

func (t protocolTest) checkHealth() error {
	p, err := t.openClient(0, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.checkHealthy(); err != nil && !t.Trap {
		return err
	}
	return nil
}

// checkHealthReply reads the response of a health check.
func checkHealthReply(a *http.Response, protocol string) error {
	defer a.Body.Close()
	answer, err := io.ReadAll(a.Body)
	if err != nil {
		return err
	}
	if protocol == rpc.GRPC {
		const serving = "\x08\x01" // status: SERVING
		if answer, err = parseGRPC(a, answer); err == nil && string(answer) != serving {
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

// checkPaths sends requests over HTTP that the other protocols cannot express.
func (t protocolTest) checkPaths() error {
	if t.protocol != rpc.HTTP || t.isLenient() {
		return nil
	}
	addr, err := t.Serves(nil)
	if err != nil {
		return err
	}
	var wrong []error
	for _, p := range pathCases() {
		if err := t.askPath(addr, p); err != nil {
			wrong = append(wrong, fmt.Errorf("%s %s %.60q: %w", p.method, p.path, p.body, err))
		}
	}
	return errors.Join(wrong...)
}

func (t protocolTest) askPath(addr string, p httpCase) error {
	q := conformance.Request{Method: p.method, Path: p.path, Chunked: p.chunked}
	if p.body != "" || p.method == http.MethodPost || p.method == http.MethodPut {
		q.Body, q.Header = []byte(p.body), conformance.JSONType("")
	}
	got, err := t.AskOnce(addr, q)
	if err != nil {
		return err
	}
	return p.checkResponse(&http.Response{StatusCode: got.Status, Header: got.Header}, got.Body)
}

// checkLog checks that with a log the responses stay the same, and that a file has a line for each
// request.
func (t protocolTest) checkLog() error {
	file := filepath.Join(t.Dir, t.protocol+"-access.log")
	for _, set := range []map[string]string{{server.SetLog: server.LogDiscard}, {server.SetLog: server.LogFile, server.SetLogFile: file}} {
		p, err := t.openClient(seeded, set)
		if err != nil {
			return err
		}
		_, err = t.playAll(p)
		_ = p.Close()
		if err != nil {
			return fmt.Errorf("%v: %w", set, err)
		}
	}
	if _, err := t.Serves(nil); err != nil { // the server that writes has ended
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("log to a file: %w", err)
	}
	if lines, want := bytes.Count(text, []byte("\n")), len(callScript()); lines < want && !t.isLenient() {
		return fmt.Errorf("log to a file: %d lines for %d requests", lines, want)
	}
	return nil
}

// checkGrace ends the server while a request is in flight, with a second, idle connection: the
// request gets a response. It cannot be seen from outside how soon a server knows of a request, so
// that one try may come too early.
func (t protocolTest) checkGrace() (err error) {
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

func (t protocolTest) endsAfter(begun time.Duration) error {
	idle, err := t.openClient(seeded, nil)
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
		return io.MultiReader(bytes.NewReader(body[:len(body)/2]), pausedBody{half, rest}, bytes.NewReader(body[len(body)/2:]))
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

// pausedBody is a body that has nothing until there is the rest of it.
type pausedBody struct{ half, rest chan struct{} }

func (w pausedBody) Read([]byte) (int, error) {
	close(w.half)
	<-w.rest
	return 0, io.EOF
}
