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

// This file checks the errors of app users over one protocol. It also checks requests that are not calls: health
// checks, wrong paths, and the server's end during a request.

// checkFailures checks the error of each call that fails as configured.
func (t protocolTest) checkFailures() error {
	set := map[string]string{serving.SetFailOne: strconv.Itoa(failsOne)}
	return t.withPlain(seeded, set, func(p *plainClient) error { return checkErrors(p, t.isLenient()) })
}

// checkLimit checks that requests beyond the rate limit do not reach the service.
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
	stats, err := t.ReadCounts()
	if err != nil || t.isLenient() {
		return err
	}
	accepted := int64(n - rejected)
	if rejected == 0 || stats.Calls == nil || stats.Calls.Get != accepted {
		return fmt.Errorf("with a limit of 1 request a second %d of %d were rejected, %d let through and %+v made", rejected, n, accepted, stats.Calls)
	}
	return nil
}

func (t protocolTest) checkID() error {
	return t.withPlain(seeded, nil, func(p *plainClient) error { return checkRequestIDs(p, t.isLenient()) })
}

// checkHealth checks the health check of a server without users.
func (t protocolTest) checkHealth() error {
	return t.withPlain(0, nil, func(p *plainClient) error {
		if err := p.checkHealthy(); !t.WrongOnPurpose {
			return err
		}
		return nil
	})
}

// checkHealthReply checks the response to a health check: status SERVING in gRPC, else the text ok.
func checkHealthReply(response *http.Response, protocol string) error {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	switch {
	case protocol == rpc.GRPC:
		const serving = "\x08\x01" // a HealthCheckResponse with the status SERVING
		body, err = parseGRPC(response, body)
		if err == nil && string(body) != serving {
			err = fmt.Errorf("%q is not serving", body)
		}
	case response.StatusCode != http.StatusOK || strings.TrimSpace(string(body)) != "ok":
		err = fmt.Errorf("status %d %.60q", response.StatusCode, body)
	default:
		err = checkKind(response, "text/plain")
	}
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	return nil
}

// checkPaths sends requests over HTTP that no client sends.
func (t protocolTest) checkPaths() error {
	if t.protocol != rpc.HTTP || t.isLenient() {
		return nil
	}
	addr, err := t.StartServer(nil)
	if err != nil {
		return err
	}
	var wrong []error
	for _, c := range pathCases() {
		if err := t.askPath(addr, c); err != nil {
			wrong = append(wrong, fmt.Errorf("%s %s %.60q: %w", c.method, c.path, c.body, err))
		}
	}
	return errors.Join(wrong...)
}

func (t protocolTest) askPath(addr string, c httpCase) error {
	request := conformance.Request{Method: c.method, Path: c.path, Chunked: c.chunked}
	hasBody := c.body != "" || c.method == http.MethodPost || c.method == http.MethodPut
	if hasBody {
		request.Body, request.Header = []byte(c.body), conformance.JSONType("")
	}
	got, err := t.SendOnce(addr, request)
	if err != nil {
		return err
	}
	return c.checkResponse(&http.Response{StatusCode: got.Status, Header: got.Header}, got.Body)
}

// checkLog checks that an access log changes no response, and has a line per request.
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
	if _, err := t.StartServer(nil); err != nil { // ends the server that writes the log
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

// checkGrace ends the server while a request is in flight, which must get a response. Another connection is
// idle. A server may need time to notice a request. So checkGrace tries again with a longer delay.
func (t protocolTest) checkGrace() (err error) {
	for _, delay := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond} {
		err = t.endDuringRequest(delay)
		if err == nil || t.WrongOnPurpose {
			return nil
		}
		if t.Enough != nil && t.Enough(err) {
			return err
		}
	}
	return err
}

// endDuringRequest sends half a request, ends the server after a delay, and sends the rest. It must get a
// response, and the idle connection must be closed.
func (t protocolTest) endDuringRequest(delay time.Duration) error {
	idle, err := t.openClient(seeded, nil)
	if err != nil {
		return err
	}
	defer idle.Close()
	if err := t.getFirstUser(idle); err != nil {
		return err
	}
	slow := t.dialServer(strings.TrimPrefix(idle.base, "http://"))
	defer slow.Close()
	halfSent, sendRest := make(chan struct{}), make(chan struct{})
	slow.slowBody = func(body []byte) io.Reader {
		middle := len(body) / 2
		return io.MultiReader(bytes.NewReader(body[:middle]), pause{reached: halfSent, end: sendRest}, bytes.NewReader(body[middle:]))
	}
	answered := make(chan error, 1)
	go func() {
		_, err := slow.Create(context.Background(), users.Draft{Name: "Slow Ada", Email: "slow@example.com"})
		answered <- err
	}()
	select {
	case <-halfSent:
	case err := <-answered:
		return fmt.Errorf("a request that was half sent is answered: %w", errors.Join(err))
	}
	time.Sleep(delay)
	timer := time.AfterFunc(2*delay, func() { close(sendRest) })
	defer timer.Stop()
	ended, err := t.Process.OK(wire.Request{Op: wire.OpEnd, On: t.Workload(nil).ID})
	if err != nil {
		return err
	}
	const maxEnd = 8 * time.Second
	if took := time.Duration(ended.WallNS); ended.Message != "" || took <= 0 || took > maxEnd {
		return fmt.Errorf("end: it took %v, with a request in flight: %s", took, ended.Message)
	}
	if err := <-answered; err != nil {
		return fmt.Errorf("end: a request in flight: %w", err)
	}
	if _, err := idle.Get(context.Background(), users.FirstID); err == nil {
		return errors.New("after end it responds over its connection")
	}
	return nil
}

// pause is an empty part of a body. Reading it closes reached, and waits for end.
type pause struct{ reached, end chan struct{} }

// Read implements [io.Reader]. It must be called only once.
func (p pause) Read([]byte) (int, error) {
	close(p.reached)
	<-p.end
	return 0, io.EOF
}
