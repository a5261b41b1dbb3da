package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tarebench/tare/contender"
)

// running is one server that was started, or several over one service.
type running struct {
	fronts   []*front
	addr     string // of the first
	http2    bool   // it speaks nothing else
	receipts *Receipts
	service  Service
	pair     *keyPair   // nil: connections are not encrypted
	ended    chan error // what Serve returned, of each front
	log      func()     // closes it
	limits   *limits    // nil: there are none
	budget   *budget    // of all gates
	ending   atomic.Bool
	stopping sync.Once
}

// front is a server and where it listens.
type front struct {
	name   string // of its variant
	given  string // host:port it was to listen at
	server Server
	listen net.Listener
	gate   *gate // nil under a lab
}

// counts is what the server and its service say that they did.
func (r *running) counts() contender.Counts {
	return r.service.counts(r.receipts.counts())
}

// start listens and serves.
func (h Host) start(s setup) (_ *running, err error) {
	faces := s.faces
	if len(faces) == 0 {
		faces = []facing{{s.variant, s.addr}}
	}
	r := &running{receipts: &Receipts{}, ended: make(chan error, len(faces)), log: func() {}}
	defer func() {
		if err != nil {
			for _, f := range r.fronts {
				_ = f.listen.Close()
			}
			err = also(err, r.close(linger))
		}
	}()
	if s.most > 0 {
		r.limits = newLimits(s.most)
	}
	o := Options{Receipts: r.receipts}
	if s.cert != "" || s.key != "" {
		r.pair = &keyPair{cert: s.cert, key: s.key}
		if err := r.pair.load(); err != nil {
			return nil, err
		}
		o.TLS = r.pair.config(s.app)
	}
	if o.Log, r.log, err = openLog(s.log, s.logFile, s.stdout); err != nil {
		return nil, err
	}
	for _, face := range faces {
		l, err := net.Listen("tcp", face.addr)
		if err != nil {
			return nil, err
		}
		r.fronts = append(r.fronts, &front{name: face.variant, given: face.addr, listen: l})
	}
	if r.service, err = s.config.Open(s.lab); err != nil {
		return nil, fmt.Errorf("%s: %w", s.app.Name, err)
	}
	r.budget = &budget{max: max(BudgetBytes, 2*r.service.MaxBody)}
	if s.lab && r.service.Token != "" {
		return nil, errors.New("token is for services that run alone")
	}
	for _, f := range r.fronts {
		o.Variant = f.name
		only2 := h.HTTP2 != nil && h.HTTP2(f.name)
		if !s.lab {
			o.Ops = r.ops(s.app.Name, o)
			o.Ops.gated = !only2
			if !f.exposed() {
				o.Ops.hosts = newHosts(f.given, s.hosts)
			}
		}
		if f.server, err = r.service.Make(o); err == nil {
			err = guarded(f.server, o.Ops)
		}
		if o.Ops != nil {
			f.gate = r.gate(f.server, o.Ops, only2)
		}
		if err != nil {
			_ = r.shut(linger)
			return nil, err
		}
	}
	r.addr = r.fronts[0].listen.Addr().String()
	r.http2 = h.HTTP2 != nil && h.HTTP2(faces[0].variant)
	for _, f := range r.fronts {
		go f.serve(o.TLS, r.limits, r.ended)
	}
	return r, nil
}

// ops is what is asked before the app, alone.
func (r *running) ops(name string, o Options) *Ops {
	ops := &Ops{name: name, service: r.service, receipts: r.receipts, limits: r.limits, budget: r.budget, started: time.Now(), ending: &r.ending}
	if r.service.OpenAPI != nil {
		ops.openAPI = r.service.OpenAPI(o.Variant)
		ops.routes = describedRoutes(ops.openAPI)
	}
	if r.service.Routes != nil {
		ops.routes = append(ops.routes, parseRoutes(r.service.Routes(o.Variant))...)
	}
	ops.all = withOps(ops.routes, ops.openAPI != nil)
	if r.service.Token != "" {
		sum := sha256.Sum256([]byte(r.service.Token))
		ops.token = &sum
	}
	if o.Log != nil {
		ops.line = Lines(o.Log)
	}
	return ops
}

// guarded puts ops before a server that this package made, and sets its bounds. It is
// an error where there is a token and nothing that asks for it.
func guarded(s Server, ops *Ops) error {
	if made := frontOf(s); made != nil {
		made.guard(ops)
		return nil
	}
	if ops != nil && ops.token != nil && !ops.gated && !ops.claimed.Load() {
		return errors.New("this stack cannot ask for a token")
	}
	return nil
}

// frontOf returns what this package made of a server; nil: nothing.
func frontOf(s Server) *standard {
	if behind, ok := s.(Fronted); ok {
		s = behind.Front()
	}
	made, _ := s.(*standard)
	return made
}

// gate returns what stands before a server that runs alone.
func (r *running) gate(s Server, ops *Ops, only2 bool) *gate {
	g := &gate{ops: ops, budget: r.budget, maxBody: cmp.Or(r.service.MaxBody, DefaultMaxBody), timeout: ReadTimeout, http1: !only2, http2: only2}
	plain, ok := s.(*http.Server)
	if made := frontOf(s); made != nil {
		plain, ok = &made.Server, true
	}
	if both, is := s.(HTTP2Speaker); is {
		g.http2 = g.http2 || both.SpeaksHTTP2()
	}
	if ok {
		g.http2 = g.http2 || plain.Protocols != nil && plain.Protocols.UnencryptedHTTP2()
		g.asides = true
		hook(plain)
	}
	return g
}

// exposed reports whether other machines may reach it.
func (f *front) exposed() bool {
	at, isTCP := f.listen.Addr().(*net.TCPAddr)
	return isTCP && !at.IP.IsLoopback()
}

func (f *front) serve(secure *tls.Config, within *limits, ended chan<- error) {
	l := f.listen
	if within != nil {
		l = within.listener(l)
	}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	if f.gate != nil {
		l = f.gate.listener(l)
	}
	err := f.server.Serve(l)
	_ = l.Close()
	ended <- err
}

// also is two errors in one line, where there are two.
func also(err, more error) error {
	if err == nil || more == nil {
		return errors.Join(err, more)
	}
	return fmt.Errorf("%w; %w", err, more)
}

// stop shuts the server down and waits for its end; after limit it is given up.
// Its service is closed only then. Once it has stopped nothing happens.
func (r *running) stop(limit time.Duration) (err error) {
	r.stopping.Do(func() {
		r.ending.Store(true)
		deadline := time.Now().Add(limit)
		err = r.shut(limit)
		late := time.After(linger)
		for range r.fronts {
			select {
			case <-r.ended:
				continue
			case <-late:
			}
			break
		}
		err = also(err, r.close(max(linger, time.Until(deadline))))
	})
	return err
}

// shut shuts all fronts down at once.
func (r *running) shut(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	wrong := make([]error, len(r.fronts))
	var all sync.WaitGroup
	for i, f := range r.fronts {
		if f.server != nil {
			all.Go(func() {
				if f.gate != nil {
					f.gate.drain(ctx)
				}
				wrong[i] = f.server.Shutdown(ctx)
			})
		}
	}
	all.Wait()
	var err error
	for _, w := range wrong {
		err = also(err, w)
	}
	return err
}

// close closes what the server has used, after it has ended.
func (r *running) close(limit time.Duration) error {
	err := r.service.close(limit)
	r.log()
	return err
}
