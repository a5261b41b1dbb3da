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

// running is a service with its servers (fronts). If tare does not measure it, it has limits, pages such as
// /health/ready, and gates in front of servers.
type running struct {
	fronts   []*front
	addr     string
	http2    bool      // the first front speaks only HTTP/2
	receipts *Receipts // counts of all fronts
	service  Service
	pair     *keyPair   // nil without encryption
	ended    chan error // Serve's result of each front
	closeLog func()
	limits   *limits // may be nil
	budget   *budget // bytes that all gates may store
	ending   atomic.Bool
	stopping sync.Once
}

type front struct {
	name   string
	addr   string
	server Server
	listen net.Listener
	gate   *gate // reads requests first; nil under a lab
}

func (r *running) readCounts() contender.Counts {
	return r.service.addCounts(r.receipts.readCounts())
}

func (h Host) startServer(s setup) (_ *running, err error) {
	specs := s.listenAt
	if len(specs) == 0 {
		specs = []listenSpec{{s.variant, s.addr}}
	}
	r := &running{receipts: &Receipts{}, ended: make(chan error, len(specs)), closeLog: func() {}}
	defer func() {
		if err != nil {
			for _, f := range r.fronts {
				_ = f.listen.Close()
			}
			err = joinErrors(err, r.closeService(linger))
		}
	}()
	o, err := r.openOptions(s)
	if err != nil {
		return nil, err
	}
	for _, spec := range specs {
		l, err := net.Listen("tcp", spec.addr)
		if err != nil {
			return nil, err
		}
		r.fronts = append(r.fronts, &front{name: spec.variant, addr: spec.addr, listen: l})
	}
	if r.service, err = s.config.Open(s.lab); err != nil {
		return nil, fmt.Errorf("%s: %w", s.app.Name, err)
	}
	r.budget = &budget{max: max(BudgetBytes, 2*r.service.MaxBody)}
	if s.lab && r.service.Token != "" {
		return nil, errors.New("token is for services that run alone")
	}
	for _, f := range r.fronts {
		if err := r.makeServer(f, s, o, h.isOnlyHTTP2(f.name)); err != nil {
			_ = r.shutDownAll(linger) // err is the more useful error
			return nil, err
		}
	}
	r.addr = r.fronts[0].listen.Addr().String()
	r.http2 = h.isOnlyHTTP2(specs[0].variant)
	for _, f := range r.fronts {
		go f.serveListener(o.TLS, r.limits, r.ended)
	}
	return r, nil
}

// openOptions opens limits, certificate and access log, which fronts share.
func (r *running) openOptions(s setup) (o Options, err error) {
	o.Receipts = r.receipts
	if s.maxConns > 0 {
		r.limits = newLimits(s.maxConns)
	}
	if s.cert != "" || s.key != "" {
		r.pair = &keyPair{cert: s.cert, key: s.key}
		if err := r.pair.loadFiles(); err != nil {
			return o, err
		}
		o.TLS = r.pair.tlsConfig(s.app)
	}
	o.Log, r.closeLog, err = openLog(s.log, s.logFile, s.stdout)
	return o, err
}

func (h Host) isOnlyHTTP2(variant string) bool { return h.HTTP2 != nil && h.HTTP2(variant) }

func (r *running) makeServer(f *front, s setup, o Options, onlyHTTP2 bool) (err error) {
	o.Variant = f.name
	if !s.lab {
		o.Ops = r.newOps(s.app.Name, o)
		o.Ops.gated = !onlyHTTP2
		if !f.isExposed() {
			o.Ops.hosts = newHosts(f.addr, s.hosts)
		}
	}
	if f.server, err = r.service.Make(o); err == nil {
		err = guardServer(f.server, o.Ops)
	}
	if o.Ops != nil {
		f.gate = r.newGate(f.server, o.Ops, onlyHTTP2)
	}
	return err
}

func (r *running) newOps(name string, o Options) *Ops {
	ops := &Ops{name: name, service: r.service, receipts: r.receipts, limits: r.limits, budget: r.budget, started: time.Now(), ending: &r.ending}
	if r.service.OpenAPI != nil {
		ops.openAPI = r.service.OpenAPI(o.Variant)
		ops.routes = parseOpenAPI(ops.openAPI)
	}
	if r.service.Routes != nil {
		ops.routes = append(ops.routes, parseRoutes(r.service.Routes(o.Variant))...)
	}
	ops.all = addOpsRoutes(ops.routes, ops.openAPI != nil)
	if r.service.Token != "" {
		sum := sha256.Sum256([]byte(r.service.Token))
		ops.token = &sum
	}
	if o.Log != nil {
		ops.line = Lines(o.Log)
	}
	return ops
}

// guardServer makes a server of this package call ops, and limits it. Another server must check a required
// token itself, or have a gate.
func guardServer(s Server, ops *Ops) error {
	if std := findStandard(s); std != nil {
		std.addGuard(ops)
		return nil
	}
	needsToken := ops != nil && ops.token != nil
	if needsToken && !ops.gated && !ops.claimed.Load() {
		return errors.New("this stack cannot ask for a token")
	}
	return nil
}

func findStandard(s Server) *standard {
	if fronted, ok := s.(Fronted); ok {
		s = fronted.Front()
	}
	std, _ := s.(*standard)
	return std
}

func (r *running) newGate(s Server, ops *Ops, onlyHTTP2 bool) *gate {
	g := &gate{
		ops: ops, budget: r.budget, maxBody: cmp.Or(r.service.MaxBody, DefaultMaxBody), timeout: ReadTimeout,
		http1: !onlyHTTP2, http2: onlyHTTP2,
	}
	netHTTP, isNetHTTP := s.(*http.Server)
	if std := findStandard(s); std != nil {
		netHTTP, isNetHTTP = &std.Server, true
	}
	if speaker, ok := s.(HTTP2Speaker); ok {
		g.http2 = g.http2 || speaker.SpeaksHTTP2()
	}
	if isNetHTTP {
		speaksHTTP2 := netHTTP.Protocols != nil && netHTTP.Protocols.UnencryptedHTTP2()
		g.http2 = g.http2 || speaksHTTP2
		g.netHTTP = true
		hookConnState(netHTTP)
	}
	return g
}

func (f *front) isExposed() bool {
	addr, isTCP := f.listen.Addr().(*net.TCPAddr)
	return isTCP && !addr.IP.IsLoopback()
}

// serveListener serves until the listener is closed, and sends the result to ended. Connections pass through
// limits, TLS and the gate; each may be nil.
func (f *front) serveListener(config *tls.Config, limits *limits, ended chan<- error) {
	l := f.listen
	if limits != nil {
		l = limits.wrapListener(l)
	}
	if config != nil {
		l = tls.NewListener(l, config)
	}
	if f.gate != nil {
		l = f.gate.wrapListener(l)
	}
	err := f.server.Serve(l)
	_ = l.Close()
	ended <- err
}

func joinErrors(err, more error) error {
	if err == nil || more == nil {
		return errors.Join(err, more)
	}
	return fmt.Errorf("%w; %w", err, more)
}

// stopServer shuts the servers down within limit, and then closes the service. Later calls do nothing.
func (r *running) stopServer(limit time.Duration) (err error) {
	r.stopping.Do(func() {
		r.ending.Store(true)
		deadline := time.Now().Add(limit)
		err = r.shutDownAll(limit)
		r.awaitServes()
		err = joinErrors(err, r.closeService(max(linger, time.Until(deadline))))
	})
	return err
}

func (r *running) awaitServes() {
	timeout := time.After(linger)
	for range r.fronts {
		select {
		case <-r.ended:
		case <-timeout:
			return
		}
	}
}

func (r *running) shutDownAll(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	errs := make([]error, len(r.fronts))
	var all sync.WaitGroup
	for i, f := range r.fronts {
		if f.server != nil {
			all.Go(func() {
				if f.gate != nil {
					f.gate.awaitArrivals(ctx)
				}
				errs[i] = f.server.Shutdown(ctx)
			})
		}
	}
	all.Wait()
	var joined error
	for _, err := range errs {
		joined = joinErrors(joined, err)
	}
	return joined
}

func (r *running) closeService(limit time.Duration) error {
	err := r.service.closeWithin(limit)
	r.closeLog()
	return err
}
