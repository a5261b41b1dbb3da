package conformance

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/conformance"
)

// Suite tests servers of app users in every protocol of contender.json, and their clients.
func Suite() conformance.Kind { return conformance.Kind{TestAll: testServer} }

// creators is the number of callers that concurrently create a user with the same e-mail.
const creators = 200

// protocolTest tests a server in one protocol. Its Env has the process of the server.
type protocolTest struct {
	conformance.Env
	protocol string
}

// testServer runs all checks, each with a new server, and joins their errors. dir is for files.
func testServer(s conformance.Subject, dir string) []error {
	if err := s.RunSession(conformance.Session{}, s.CheckHello); err != nil {
		return []error{err} // all other tests would fail, too
	}
	if len(s.Protocols) == 0 {
		return []error{errors.New("contender.json names no protocols")}
	}
	a := conformance.App{
		Name:         users.Name,
		Settings:     serving.App(nil, nil, nil, nil).New().Settings(), // listing them needs no functions
		Layers:       2,                                                // request ids and recovery
		SendRequests: askStandalone,
	}
	var wrong []error
	for i, protocol := range s.Protocols {
		if !slices.Contains([]string{rpc.HTTP, rpc.GRPC, rpc.Connect, rpc.ConnectJSON}, protocol) {
			wrong = append(wrong, fmt.Errorf("contender.json: unknown protocol %q", protocol))
			continue
		}
		for k, c := range listChecks(i == 0) {
			noBye := k%2 == 1 // tests both ends: with bye, and by closing the pipe
			err := s.RunSession(conformance.Session{NoBye: noBye}, func(p *conformance.Process, _ wire.Reply) error {
				return c.ask(protocolTest{Env: conformance.Env{Subject: s, App: a, Process: p, Dir: dir}, protocol: protocol})
			})
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %s: %w", protocol, c.name, err))
			}
		}
	}
	err := s.RunSession(conformance.Session{}, func(p *conformance.Process, _ wire.Reply) error {
		return conformance.Env{Subject: s, App: a, Process: p, Dir: dir}.CheckRefusals()
	})
	wrong = append(wrong, err, s.CheckSocket())
	for _, err := range s.TestStandalone(a, dir) {
		wrong = append(wrong, fmt.Errorf("alone: %w", err))
	}
	return slices.DeleteFunc(wrong, func(err error) bool { return err == nil })
}

type rpcCheck struct {
	name string
	ask  func(t protocolTest) error
}

// listChecks returns the checks of a protocol. The first protocol also gets those that do not depend on it.
func listChecks(isFirst bool) []rpcCheck {
	list := []rpcCheck{
		{name: "calls", ask: protocolTest.checkCalls},
		{name: "at once", ask: protocolTest.checkAtOnce},
		{name: "failures", ask: protocolTest.checkFailures},
		{name: "limit", ask: protocolTest.checkLimit},
		{name: "request id", ask: protocolTest.checkID},
		{name: "health", ask: protocolTest.checkHealth},
		{name: "paths", ask: protocolTest.checkPaths},
		{name: "tls", ask: protocolTest.checkSecure},
		{name: "log", ask: protocolTest.checkLog},
		{name: "end", ask: protocolTest.checkGrace},
		{name: "client", ask: protocolTest.checkClient},
		{name: "client at work", ask: protocolTest.checkClientLoad},
	}
	if isFirst {
		list = append(list,
			rpcCheck{name: "stores", ask: protocolTest.checkStores},
			rpcCheck{name: "again", ask: protocolTest.checkTwice})
	}
	return list
}

// openClient prepares a server with n users and returns a client.
func (t protocolTest) openClient(n int, set map[string]string) (*plainClient, error) {
	settings := map[string]string{serving.SetUsers: fmt.Sprint(n)}
	maps.Copy(settings, set)
	addr, err := t.StartServer(settings)
	if err != nil {
		return nil, err
	}
	return t.dialServer(addr), nil
}

func (t protocolTest) withPlain(n int, set map[string]string, f func(p *plainClient) error) error {
	p, err := t.openClient(n, set)
	if err != nil {
		return err
	}
	defer p.Close()
	return f(p)
}

func (t protocolTest) dialServer(addr string) *plainClient {
	return dialPlain(t.protocol, addr, nil, false, t.Limit)
}

// isLenient reports whether any response is accepted. Some servers are wrong on purpose, or do only a part of
// the work, to show what that costs.
func (t protocolTest) isLenient() bool { return t.WrongOnPurpose || t.IsStatusOnly() }

// playAll plays the script with p, and returns the reference that it was compared with.
func (t protocolTest) playAll(p rpc.Client) (reference, error) {
	ref, err := newReference(nil, time.Hour)
	if err != nil {
		return ref, err
	}
	return ref, ref.playScript(p, t.isLenient())
}

const anyBytes = -1

// checkCounts compares the server's stats with calls and bytes of messages.
func (t protocolTest) checkCounts(want wire.Calls, bytes int64) error {
	stats, err := t.ReadCounts()
	if err != nil {
		return err
	}
	n := want.Create + want.Get + want.Update + want.Delete + want.List
	switch {
	case t.WrongOnPurpose:
		// The counts need not be correct.
	case stats.Received != n:
		return fmt.Errorf("stats: %d received, sent were %d", stats.Received, n)
	case t.IsStatusOnly():
		// A partial server may have other counts.
	case stats.Calls == nil || *stats.Calls != want:
		return fmt.Errorf("stats: calls %+v, made were %+v", stats.Calls, want)
	case stats.LayerCalls != t.Layers*n:
		return fmt.Errorf("stats: %d layer_calls of %d requests, want %d of each", stats.LayerCalls, n, t.Layers)
	case bytes != anyBytes && stats.ReceivedBody != bytes:
		return fmt.Errorf("stats: %d received_bytes, sent were %d", stats.ReceivedBody, bytes)
	}
	return nil
}

// checkCalls plays the script twice, with a reset between.
func (t protocolTest) checkCalls() error {
	p, err := t.openClient(seeded, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	ref, err := t.playAll(p)
	if err != nil {
		return err
	}
	if err := t.checkCounts(ref.madeCalls(), p.sent.Load()); err != nil {
		return err
	}
	if _, err := t.Process.OK(wire.Request{Op: wire.OpReset, On: t.Workload(nil).ID}); err != nil {
		return err
	}
	stats, err := t.ReadCounts()
	isZero := stats.Calls != nil && *stats.Calls == wire.Calls{}
	if isWrong := !isZero && !t.isLenient(); err != nil || isWrong {
		return errors.Join(err, fmt.Errorf("after reset: stats: calls %+v", stats.Calls))
	}
	if _, err := t.playAll(p); err != nil {
		return fmt.Errorf("after reset: %w", err)
	}
	return nil
}

// checkStores plays the script over each store and creates one e-mail concurrently. Without databases they
// must be unsupported.
func (t protocolTest) checkStores() error {
	stores := []string{users.LinearStore}
	if slices.Contains(t.Tags, "db") {
		stores = append(stores, "sqlite:"+filepath.Join(t.Dir, t.Variant+"users.db"))
		if url := os.Getenv("TARE_POSTGRES"); url != "" {
			stores = append(stores, "postgres:"+url)
		}
	} else {
		reply, err := t.Process.OK(wire.Request{Op: wire.OpPrepare, Workload: t.Workload(map[string]string{serving.SetStore: "sqlite:x"})})
		if isWrong := !reply.Unsupported && !t.WrongOnPurpose; err != nil || isWrong {
			return errors.Join(err, errors.New("a store that is not built in is not unsupported"))
		}
	}
	for _, store := range stores {
		name, _, _ := strings.Cut(store, ":")
		p, err := t.openClient(seeded, map[string]string{serving.SetStore: store})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_, err = t.playAll(p)
		if err == nil {
			err = createAll(p, creators, "example.com", t.isLenient())
		}
		_ = p.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (t protocolTest) checkAtOnce() error {
	return t.withPlain(0, nil, func(p *plainClient) error { return createAll(p, creators, "example.com", t.isLenient()) })
}

// checkTwice prepares twice. The second server must count from zero, and the first no longer listen. Another
// program may take its port, but not three times.
func (t protocolTest) checkTwice() error {
	var firstAddr string
	for range 3 {
		var err error
		firstAddr, err = t.StartServer(nil)
		if err != nil {
			return err
		}
		p := t.dialServer(firstAddr)
		_, err = p.Get(context.Background(), users.FirstID)
		if err == nil {
			_, err = t.StartServer(nil)
		}
		if err == nil {
			err = t.checkCounts(wire.Calls{}, 0)
		}
		if err != nil {
			return err
		}
		_, err = p.Get(context.Background(), users.FirstID)
		_ = p.Close()
		if err != nil && !conformance.Listens(firstAddr) {
			return nil
		}
	}
	return fmt.Errorf("after a second prepare a server still answers at %s", firstAddr)
}

func (t protocolTest) checkSecure() error {
	cert, key, roots, err := conformance.Certificate(t.Dir)
	if err != nil {
		return err
	}
	addr, err := t.StartServer(map[string]string{server.SetTLSCert: cert, server.SetTLSKey: key})
	if err != nil {
		return err
	}
	p := dialPlain(t.protocol, addr, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13}, false, t.Limit)
	defer p.Close()
	return t.getFirstUser(p)
}

func (t protocolTest) getFirstUser(p *plainClient) error {
	u, err := p.Get(context.Background(), users.FirstID)
	if err == nil && !t.isLenient() {
		err = reference{tolerance: time.Hour}.sameUser(u, users.Seeded(0))
	}
	return err
}

// askStandalone calls a server without tare. Its store is empty.
func askStandalone(s conformance.Subject, addr string) error {
	for _, protocol := range s.Protocols {
		p := dialPlain(protocol, addr, nil, false, s.Limit)
		_, err := p.List(context.Background(), users.Query{})
		if err == nil {
			err = p.checkHealthy()
		}
		_ = p.Close()
		if err != nil && !s.WrongOnPurpose {
			return fmt.Errorf("%s: %w", protocol, err)
		}
	}
	return nil
}

// checkHealthy calls grpc.health.v1.Health over gRPC, otherwise GET /health.
func (p *plainClient) checkHealthy() error {
	ctx, cancel := context.WithTimeout(context.Background(), p.limit)
	defer cancel()
	method, path, body, kind := http.MethodGet, "/health", "", ""
	if p.protocol == rpc.GRPC {
		const emptyMessage = "\x00\x00\x00\x00\x00" // a gRPC message of length 0
		method, path, body, kind = http.MethodPost, "/grpc.health.v1.Health/Check", emptyMessage, "application/grpc"
	}
	request, err := http.NewRequestWithContext(ctx, method, p.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
		request.Header.Set("TE", "trailers")
	}
	response, err := p.transport.RoundTrip(request)
	if err != nil {
		return err
	}
	return checkHealthReply(response, p.protocol)
}
