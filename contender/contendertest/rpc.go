package contendertest

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
	"sync"

	"github.com/tarebench/tare/apps/users"
	usersserving "github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// rpcs: servers of users, each of which brings a client too. Every protocol that
// contender.json names is examined.
func rpcs() kind { return kind{examine: subject.examineRPC} }

// creators is how many users with one e-mail are to be created at once.
const creators = 200

// talk is one protocol of a server under examination.
type talk struct {
	exam
	protocol string
}

// examineRPC runs the suite on a server of users.
func (s subject) examineRPC(dir string) []error {
	if err := s.visit(false, true, s.checkHello); err != nil {
		return []error{err} // nothing else can go right
	}
	if len(s.Protocols) == 0 {
		return []error{errors.New("contender.json names no protocols")}
	}
	a := app{name: users.Name, settings: usersserving.App(nil, nil).New().Settings(), layers: 2, asks: subject.askAloneRPC}
	var wrong []error
	for i, protocol := range s.Protocols {
		if !slices.Contains([]string{rpc.HTTP, rpc.GRPC, rpc.Connect, rpc.ConnectJSON}, protocol) {
			wrong = append(wrong, fmt.Errorf("contender.json: unknown protocol %q", protocol))
			continue
		}
		for k, c := range talk.checks(talk{}, i == 0) {
			err := s.visit(false, k%2 == 0, func(p *process, _ wire.Reply) error { return c.ask(talk{exam{s, a, p, dir}, protocol}) })
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %s: %w", protocol, c.name, err))
			}
		}
	}
	err := s.visit(false, true, func(p *process, _ wire.Reply) error { return exam{s, a, p, dir}.checkServerRefusals() })
	wrong = append(wrong, err, s.visit(true, true, func(*process, wire.Reply) error { return nil }))
	for _, err := range s.aloneServer(a, dir) {
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
	whole := map[string]string{usersserving.SetUsers: fmt.Sprint(n)}
	for key, value := range set {
		whole[key] = value
	}
	addr, err := t.serves(whole)
	if err != nil {
		return nil, err
	}
	return dialPlain(t.protocol, addr, nil, t.limit), nil
}

// run makes the calls of the script and holds their outcomes against those of a
// sound service, which it returns.
func (t talk) run(p rpc.Client) (reference, error) {
	right, err := newReference(seeded)
	if err != nil {
		return right, err
	}
	for i, c := range script() {
		want, wantErr := right.do(c)
		got, gotErr := c.Do(context.Background(), p)
		if err := agrees(c, got, gotErr, want, wantErr); err != nil && !t.Trap && !t.loose() {
			return right, fmt.Errorf("call %d, %+v: %w", i, c, err)
		}
	}
	return right, nil
}

// counts holds stats against the calls that were made and the bytes of their
// messages; negative: those are not looked at.
func (t talk) counts(want wire.Calls, bytes int64) error {
	a, err := t.counted()
	if err != nil {
		return err
	}
	n := want.Create + want.Get + want.Update + want.Delete + want.List
	switch {
	case t.Trap:
	case a.Received != n:
		return fmt.Errorf("stats: %d received, sent were %d", a.Received, n)
	case t.loose():
	case a.Calls == nil || *a.Calls != want:
		return fmt.Errorf("stats: calls %+v, made were %+v", a.Calls, want)
	case a.LayerCalls != t.layers*n:
		return fmt.Errorf("stats: %d layer_calls of %d requests, want %d of each", a.LayerCalls, n, t.layers)
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
	if _, err := t.p.ok(wire.Request{Op: wire.OpReset, On: t.workload(nil).ID}); err != nil {
		return err
	}
	a, err := t.counted()
	if err != nil || (a.Calls == nil || *a.Calls != wire.Calls{}) && !t.Trap && !t.loose() {
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
		stores = append(stores, "sqlite:"+filepath.Join(t.dir, t.variant+"users.db"))
		if url := os.Getenv("TARE_POSTGRES"); url != "" {
			stores = append(stores, "postgres:"+url)
		}
	} else if a, err := t.p.ok(wire.Request{Op: wire.OpPrepare, Workload: t.workload(map[string]string{usersserving.SetStore: "sqlite:x"})}); err != nil || !a.Unsupported && !t.Trap {
		return errors.Join(err, errors.New("a store that is not built in is not unsupported"))
	}
	for _, store := range stores {
		name, _, _ := strings.Cut(store, ":")
		p, err := t.opens(seeded, map[string]string{usersserving.SetStore: store})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_, err = t.run(p)
		if err == nil {
			err = t.createAll(p)
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
	return t.createAll(p)
}

// createAll has exactly one creator win.
func (t talk) createAll(p *plain) error {
	outcomes := make([]error, creators)
	var all sync.WaitGroup
	for i := range creators {
		all.Go(func() {
			email := "The.Only@Example.com"
			if i%2 == 0 {
				email = strings.ToLower(email)
			}
			_, outcomes[i] = p.Create(context.Background(), users.Draft{Name: fmt.Sprint("Creator ", i), Email: email})
		})
	}
	all.Wait()
	won := 0
	for _, err := range outcomes {
		var refused *users.Error
		switch {
		case err == nil:
			won++
		case !errors.As(err, &refused) || refused.Code != users.AlreadyExists:
			return fmt.Errorf("one of %d creators at once: %w", creators, err)
		}
	}
	page, err := p.List(context.Background(), users.Query{Text: "the.only@"})
	if !t.Trap && !t.loose() && (err != nil || won != 1 || page.Total != 1) {
		return errors.Join(err, fmt.Errorf("of %d creators of one e-mail at once %d won, and %d users have it", creators, won, page.Total))
	}
	return nil
}

// checkTwice prepares twice: the second server counts from zero, and nobody listens
// where the first did. Somebody else's may have come by its port, but hardly
// three times in a row.
func (t talk) checkTwice() error {
	for tries := 3; ; tries-- {
		before, err := t.serves(nil)
		if err != nil {
			return err
		}
		p := dialPlain(t.protocol, before, nil, t.limit)
		_, err = p.Get(context.Background(), users.FirstID)
		if err == nil {
			_, err = t.serves(nil)
		}
		if err == nil {
			err = t.counts(wire.Calls{}, 0)
		}
		if err != nil {
			return err
		}
		_, err = p.Get(context.Background(), users.FirstID)
		_ = p.Close()
		if err != nil && !listens(before) {
			return nil
		}
		if tries == 1 {
			return fmt.Errorf("after a second prepare somebody still answers at %s", before)
		}
	}
}

// checkSecure: with a certificate connections are encrypted.
func (t talk) checkSecure() error {
	cert, key, roots, err := certificate(t.dir)
	if err != nil {
		return err
	}
	addr, err := t.serves(map[string]string{server.SetTLSCert: cert, server.SetTLSKey: key})
	if err != nil {
		return err
	}
	p := dialPlain(t.protocol, addr, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13}, t.limit)
	defer p.Close()
	return t.getsFirst(p)
}

// getsFirst asks for the first user.
func (t talk) getsFirst(p *plain) error {
	u, err := p.Get(context.Background(), users.FirstID)
	if err == nil && !t.Trap && !t.loose() {
		err = sameUser(u, users.Seeded(0))
	}
	return err
}

// askAloneRPC asks a server without a lab, whose store is empty.
func (s subject) askAloneRPC(addr string) error {
	for _, protocol := range s.Protocols {
		p := dialPlain(protocol, addr, nil, s.limit)
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
