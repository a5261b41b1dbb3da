package conformance

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
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

// Suite examines servers of users, each of which brings a client too. Every protocol that
// contender.json names is examined.
func Suite() conformance.Kind { return conformance.Kind{Examine: examine} }

// creators is how many users with one e-mail are to be created at once.
const creators = 200

// talk is one protocol of a server under examination.
type talk struct {
	conformance.Exam
	protocol string
}

// examine runs the suite on a server of users.
func examine(s conformance.Subject, dir string) []error {
	if err := s.Visit(false, true, s.CheckHello); err != nil {
		return []error{err} // nothing else can go right
	}
	if len(s.Protocols) == 0 {
		return []error{errors.New("contender.json names no protocols")}
	}
	a := conformance.App{Name: users.Name, Settings: serving.App(nil, nil, nil, nil).New().Settings(), Layers: 2, Asks: askStandalone}
	var wrong []error
	for i, protocol := range s.Protocols {
		if !slices.Contains([]string{rpc.HTTP, rpc.GRPC, rpc.Connect, rpc.ConnectJSON}, protocol) {
			wrong = append(wrong, fmt.Errorf("contender.json: unknown protocol %q", protocol))
			continue
		}
		for k, c := range talk.checks(talk{}, i == 0) {
			err := s.Visit(false, k%2 == 0, func(p *conformance.Process, _ wire.Reply) error {
				return c.ask(talk{conformance.Exam{Subject: s, App: a, Process: p, Dir: dir}, protocol})
			})
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %s: %w", protocol, c.name, err))
			}
		}
	}
	err := s.Visit(false, true, func(p *conformance.Process, _ wire.Reply) error {
		return conformance.Exam{Subject: s, App: a, Process: p, Dir: dir}.CheckRefusals()
	})
	wrong = append(wrong, err, s.Visit(true, true, func(*conformance.Process, wire.Reply) error { return nil }))
	for _, err := range s.ExamineStandalone(a, dir) {
		wrong = append(wrong, fmt.Errorf("alone: %w", err))
	}
	return slices.DeleteFunc(wrong, func(err error) bool { return err == nil })
}

// rpcCheck is one thing that is asked of a protocol.
type rpcCheck struct {
	name string
	ask  func(t talk) error
}

// checks are what is asked of a protocol, and of the first what is the same for all.
func (talk) checks(first bool) []rpcCheck {
	list := []rpcCheck{
		{"calls", talk.checkCalls}, {"at once", talk.checkAtOnce}, {"failures", talk.checkFailures}, {"limit", talk.checkLimit},
		{"request id", talk.checkID}, {"health", talk.checkHealth}, {"paths", talk.checkPaths}, {"tls", talk.checkSecure},
		{"log", talk.checkLog}, {"end", talk.checkGrace}, {"client", talk.checkClient}, {"client at work", talk.checkWorking},
	}
	if first {
		list = append(list, rpcCheck{"stores", talk.checkStores}, rpcCheck{"again", talk.checkTwice})
	}
	return list
}

// serves prepares n users in a store and returns a client of them.
func (t talk) opens(n int, set map[string]string) (*plain, error) {
	whole := map[string]string{serving.SetUsers: fmt.Sprint(n)}
	for key, value := range set {
		whole[key] = value
	}
	addr, err := t.Serves(whole)
	if err != nil {
		return nil, err
	}
	return dialPlain(t.protocol, addr, nil, false, t.Limit), nil
}

// lenient reports whether answers may be any.
func (t talk) lenient() bool { return t.Trap || t.Loose() }

// run plays the script by a client, and returns the sound service.
func (t talk) run(p rpc.Client) (reference, error) {
	right, err := newReference(nil, time.Hour)
	if err != nil {
		return right, err
	}
	return right, right.play(p, t.lenient())
}

// counts holds stats against the calls that were made and the bytes of their
// messages; negative: those are not looked at.
func (t talk) counts(want wire.Calls, bytes int64) error {
	a, err := t.Counted()
	if err != nil {
		return err
	}
	n := want.Create + want.Get + want.Update + want.Delete + want.List
	switch {
	case t.Trap:
	case a.Received != n:
		return fmt.Errorf("stats: %d received, sent were %d", a.Received, n)
	case t.Loose():
	case a.Calls == nil || *a.Calls != want:
		return fmt.Errorf("stats: calls %+v, made were %+v", a.Calls, want)
	case a.LayerCalls != t.Layers*n:
		return fmt.Errorf("stats: %d layer_calls of %d requests, want %d of each", a.LayerCalls, n, t.Layers)
	case bytes >= 0 && a.ReceivedBody != bytes:
		return fmt.Errorf("stats: %d received_bytes, sent were %d", a.ReceivedBody, bytes)
	}
	return nil
}

// checkCalls makes every call, twice with a reset between.
func (t talk) checkCalls() error {
	p, err := t.opens(seeded, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	right, err := t.run(p)
	if err != nil {
		return err
	}
	if err := t.counts(right.calls(), p.sent.Load()); err != nil {
		return err
	}
	if _, err := t.Process.OK(wire.Request{Op: wire.OpReset, On: t.Workload(nil).ID}); err != nil {
		return err
	}
	a, err := t.Counted()
	if err != nil || (a.Calls == nil || *a.Calls != wire.Calls{}) && !t.lenient() {
		return errors.Join(err, fmt.Errorf("after reset: stats: calls %+v", a.Calls))
	}
	if _, err := t.run(p); err != nil {
		return fmt.Errorf("after reset: %w", err)
	}
	return nil
}

// checkStores makes every call over each store, and all creators.
func (t talk) checkStores() error {
	stores := []string{users.LinearStore}
	if slices.Contains(t.Tags, "db") {
		stores = append(stores, "sqlite:"+filepath.Join(t.Dir, t.Variant+"users.db"))
		if url := os.Getenv("TARE_POSTGRES"); url != "" {
			stores = append(stores, "postgres:"+url)
		}
	} else if a, err := t.Process.OK(wire.Request{Op: wire.OpPrepare, Workload: t.Workload(map[string]string{serving.SetStore: "sqlite:x"})}); err != nil || !a.Unsupported && !t.Trap {
		return errors.Join(err, errors.New("a store that is not built in is not unsupported"))
	}
	for _, store := range stores {
		name, _, _ := strings.Cut(store, ":")
		p, err := t.opens(seeded, map[string]string{serving.SetStore: store})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_, err = t.run(p)
		if err == nil {
			err = createAll(p, creators, "example.com", t.lenient())
		}
		_ = p.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// checkAtOnce creates many users with one e-mail at once.
func (t talk) checkAtOnce() error {
	p, err := t.opens(0, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	return createAll(p, creators, "example.com", t.lenient())
}

// checkTwice prepares twice: the second server counts from zero, and nobody listens
// where the first did. Somebody else's may have come by its port, but hardly
// three times in a row.
func (t talk) checkTwice() error {
	for tries := 3; ; tries-- {
		before, err := t.Serves(nil)
		if err != nil {
			return err
		}
		p := dialPlain(t.protocol, before, nil, false, t.Limit)
		_, err = p.Get(context.Background(), users.FirstID)
		if err == nil {
			_, err = t.Serves(nil)
		}
		if err == nil {
			err = t.counts(wire.Calls{}, 0)
		}
		if err != nil {
			return err
		}
		_, err = p.Get(context.Background(), users.FirstID)
		_ = p.Close()
		if err != nil && !conformance.Listens(before) {
			return nil
		}
		if tries == 1 {
			return fmt.Errorf("after a second prepare a server still answers at %s", before)
		}
	}
}

// checkSecure: with a certificate connections are encrypted.
func (t talk) checkSecure() error {
	cert, key, roots, err := conformance.Certificate(t.Dir)
	if err != nil {
		return err
	}
	addr, err := t.Serves(map[string]string{server.SetTLSCert: cert, server.SetTLSKey: key})
	if err != nil {
		return err
	}
	p := dialPlain(t.protocol, addr, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13}, false, t.Limit)
	defer p.Close()
	return t.getsFirst(p)
}

// getsFirst asks for the first user.
func (t talk) getsFirst(p *plain) error {
	u, err := p.Get(context.Background(), users.FirstID)
	if err == nil && !t.lenient() {
		err = reference{near: time.Hour}.sameUser(u, users.Seeded(0))
	}
	return err
}

// askStandalone asks a server without a lab, whose store is empty.
func askStandalone(s conformance.Subject, addr string) error {
	for _, protocol := range s.Protocols {
		p := dialPlain(protocol, addr, nil, false, s.Limit)
		_, err := p.List(context.Background(), users.Query{})
		if err == nil {
			err = p.healthy()
		}
		_ = p.Close()
		if err != nil && !s.Trap {
			return fmt.Errorf("%s: %w", protocol, err)
		}
	}
	return nil
}

// healthy asks whether the service is well, in the protocol's own way.
func (p *plain) healthy() error {
	ctx, cancel := context.WithTimeout(context.Background(), p.limit)
	defer cancel()
	method, path, body, kind := http.MethodGet, "/health", "", ""
	if p.protocol == rpc.GRPC {
		method, path, body, kind = http.MethodPost, "/grpc.health.v1.Health/Check", "\x00\x00\x00\x00\x00", "application/grpc"
	}
	q, err := http.NewRequestWithContext(ctx, method, p.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if kind != "" {
		q.Header.Set("Content-Type", kind)
		q.Header.Set("TE", "trailers")
	}
	a, err := p.transport.RoundTrip(q)
	if err != nil {
		return err
	}
	return wellSaid(a, p.protocol)
}
