package fleet

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/footprint"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/pace"
)

// A load is requests of several machines to one server. The coordinator starts all shares at the same time and
// collects the results.

type preparedLoad struct {
	order   LoadOrder
	session *load.Session
}

// Loaded is the result of an agent's share.
type Loaded struct {
	Result *load.Result `json:"result"`
	Cores  float64      `json:"client_cores"` // processors of the load generator
}

// Ticked is a message with the measurements of one second of an agent's share.
type Ticked struct {
	Order  string      `json:"order"`
	Second load.Second `json:"second"`
}

// parseProfile returns the rate of this share over time. It returns nil for a closed loop, which has no rate.
func (o LoadOrder) parseProfile() (load.Profile, error) {
	if o.Rate == "" {
		return nil, nil
	}
	whole, err := load.ParseProfile(o.Rate, o.Duration)
	if err != nil {
		return nil, err
	}
	return pace.Share{Whole: whole, Index: o.Index, Of: o.Of}, nil
}

func prepareLoad(o LoadOrder) (*preparedLoad, error) {
	target := load.Target{Addr: o.Target.Addr, Host: o.Target.Host}
	if o.Target.Name != "" {
		target.TLS = &tls.Config{
			ServerName: o.Target.Name, InsecureSkipVerify: o.Target.Insecure,
			MinVersion: max(o.Target.Version, tls.VersionTLS12), MaxVersion: o.Target.Version,
		}
		if len(o.Target.Roots) > 0 {
			target.TLS.RootCAs = x509.NewCertPool()
			if !target.TLS.RootCAs.AppendCertsFromPEM(o.Target.Roots) {
				return nil, errors.New("the order's certificates are none") // not PEM
			}
		}
	}
	s, err := load.Open(load.Options{
		Target: target, Requests: o.Requests, Connections: o.Connections, Streams: o.Streams, Timeout: o.Timeout,
		Handshake: o.Handshake, Engine: o.Engine, Protocol: o.Protocol, Threads: o.Threads,
	})
	if err != nil {
		return nil, err
	}
	return &preparedLoad{o, s}, nil
}

// startTimeout limits the wait for the start time.
const startTimeout = time.Minute

// runLoad runs a share from its start time. It returns a [Loaded] as JSON. If ctx is cancelled, it returns the
// measurements so far and an error.
func (a *Agent) runLoad(ctx context.Context, order string, l *preparedLoad) ([]byte, error) {
	defer l.session.Close()
	var start time.Time
	select {
	case start = <-a.start: // see startLoad
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(startTimeout):
		return nil, fmt.Errorf("the load was not begun within %v", startTimeout)
	}
	publishSecond := func(t load.Tick) {
		if text, err := json.Marshal(Ticked{order, t.Second}); err == nil {
			_ = a.nc.Publish(a.subjects.fromAgent(fromTick), text)
		}
	}
	phase := load.Leg{LeadTime: l.order.Warm, Duration: l.order.Duration, Seed: l.order.Seed, Think: l.order.Think, Hold: l.order.Hold, Tick: publishSecond}
	var err error
	if phase.Profile, err = l.order.parseProfile(); err != nil {
		return nil, err
	}
	if phase.Profile != nil {
		phase.At = start // session.Run waits
	} else { // session.Run starts a closed loop immediately
		if err := sleep(ctx, time.Until(start)); err != nil {
			return nil, err
		}
	}
	r, err := l.session.Run(ctx, phase)
	if r == nil || r.Wall == 0 {
		return nil, cmp.Or(err, errors.New("nothing was measured"))
	}
	cores := min(max(r.Threads, 1), runtime.NumCPU())
	text, errText := json.Marshal(Loaded{Result: r, Cores: float64(cores)})
	if errText != nil {
		return nil, errText
	}
	return text, err
}

// LoadRun has several machines load one server. For example, two machines with 500 requests a second make
// 1,000.
type LoadRun struct {
	Hub      *Hub
	Machines []string
	Orders   []LoadOrder                                // same order as Machines
	Start    map[string]func(ctx context.Context) error // starts agents by machine; others join
	Say      func(name, line string)                    // reports a line about a machine
	Tick     func(name string, s load.Second)           // may be nil

	changed chan struct{} // wakes waitForAll

	mu     sync.Mutex   // guards the fields below, and each loadShare
	shares []*loadShare // same order as Machines
	begun  time.Time
}

type loadShare struct {
	name       string
	id         string
	order      LoadOrder
	clock      Clock // measured before the load
	loaded     Loaded
	err        error // nil unless the machine has failed or is lost
	isOver     bool
	nextSecond time.Duration // earliest start of the next second for Tick
}

// Generated is the result of one machine.
type Generated struct {
	Name   string
	Clock  Clock         // before the load
	Drift  time.Duration // change of Clock.Offset
	Loaded Loaded
	Error  error // nil if the machine sent all of its share
}

// startDelay lets all machines receive the start time.
const startDelay = 300 * time.Millisecond

// Run starts the load on every machine at once. If ctx ends, it returns the measurements so far.
func (r *LoadRun) Run(ctx context.Context) ([]Generated, error) {
	run := fmt.Sprintf("%x", time.Now().UnixNano())
	r.addShares(run)
	stopListening := r.Hub.addListener(run, listener{tick: r.passSecond, result: r.recordResult})
	defer stopListening()
	defer r.cancelOrders()
	if err := r.forEachShare(func(s *loadShare) error { return r.prepareShare(ctx, s) }); err != nil {
		return nil, err
	}
	start := time.Now().Add(startDelay)
	r.mu.Lock()
	r.begun = start
	r.mu.Unlock()
	if err := r.forEachShare(func(s *loadShare) error { return r.startShare(ctx, s, start) }); err != nil {
		return nil, err
	}
	r.waitForAll(ctx)
	var out []Generated
	for _, s := range r.shares {
		after, errClock := r.Hub.measureClock(context.WithoutCancel(ctx), s.name)
		r.mu.Lock()
		g := Generated{Name: s.name, Clock: s.clock, Loaded: s.loaded, Error: s.err}
		r.mu.Unlock()
		if errClock == nil {
			g.Drift = after.Offset - s.clock.Offset
		}
		out = append(out, g)
	}
	return out, nil
}

func (r *LoadRun) addShares(run string) {
	r.changed = make(chan struct{}, 1)
	for i, name := range r.Machines {
		id := fmt.Sprintf("%s.%d.1", run, i+1) // the order is the machine's only one
		r.shares = append(r.shares, &loadShare{name: name, id: id, order: r.Orders[i]})
	}
}

func (r *LoadRun) prepareShare(ctx context.Context, s *loadShare) (err error) {
	if err := r.Hub.Reach(ctx, s.name, r.Start[s.name]); err != nil {
		return err
	}
	if err := r.Hub.sendOrder(ctx, s.name, Order{Protocol: Protocol, ID: s.id, Load: &s.order}); err != nil {
		return err
	}
	s.clock, err = r.Hub.measureClock(ctx, s.name)
	return err
}

// startShare sends the start time of the load, converted to the machine's clock.
func (r *LoadRun) startShare(ctx context.Context, s *loadShare, start time.Time) error {
	var reply receipt
	agentStart := startRequest{Order: s.id, At: start.Add(s.clock.Offset).UnixNano()}
	err := request(ctx, r.Hub.nc, r.Hub.options.times, subjects{r.Hub.options.Prefix, s.name}.toAgent(toStart), agentStart, &reply)
	if err == nil && reply.Refused != "" {
		err = &RefusedError{reply.Refused}
	}
	return err
}

func (r *LoadRun) cancelOrders() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shares {
		if !s.isOver {
			r.Hub.sendCancel(s.name, s.id)
		}
	}
}

func (r *LoadRun) forEachShare(do func(s *loadShare) error) error {
	errs := make([]error, len(r.shares))
	var all sync.WaitGroup
	for i, s := range r.shares {
		all.Go(func() {
			if err := do(s); err != nil {
				errs[i] = fmt.Errorf("%s: %w", s.name, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// waitForAll waits until every machine has delivered or is lost. If ctx ends, it cancels all orders and waits
// at most replyTimeout.
func (r *LoadRun) waitForAll(ctx context.Context) {
	tick := time.NewTicker(r.Hub.options.times.retryDelay)
	defer tick.Stop()
	done := ctx.Done()
	var deadline <-chan time.Time // nil, which blocks, until ctx ends
	for {
		r.loseSilent()
		if r.isOver() {
			return
		}
		select {
		case <-done:
			done = nil // do this once
			r.cancelOrders()
			deadline = time.After(r.Hub.options.times.replyTimeout)
		case <-deadline:
			return
		case <-r.changed:
		case <-tick.C:
		}
	}
}

func (r *LoadRun) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(r.shares, func(s *loadShare) bool { return !s.isOver })
}

func (r *LoadRun) loseSilent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.shares {
		silent, err := r.Hub.silentFor(s.name)
		if err == nil && silent > r.Hub.options.times.lostAfter {
			err = fmt.Errorf("no word from it for %v", silent.Round(time.Second))
		}
		if err != nil && !s.isOver {
			s.isOver, s.err = true, err
			r.Say(s.name, format.Line(err.Error(), format.LineLimit))
		}
	}
}

func (r *LoadRun) findShare(name, order string) *loadShare {
	i := slices.IndexFunc(r.shares, func(s *loadShare) bool { return s.name == name && s.id == order })
	if i < 0 {
		return nil
	}
	return r.shares[i]
}

// passSecond passes one second of a machine's load to r.Tick. It drops invalid, late and future seconds.
func (r *LoadRun) passSecond(name string, t Ticked) {
	s := r.findShare(name, t.Order)
	if r.Tick != nil && s != nil && r.acceptSecond(s, t.Second) {
		r.Tick(name, t.Second)
	}
}

// acceptSecond reports whether second is valid and new. It is a separate function, so that r.Tick is called
// without r.mu.
func (r *LoadRun) acceptSecond(s *loadShare, second load.Second) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	isPast := second.At <= time.Since(r.begun)+time.Second
	isValid := isPast && second.At >= s.nextSecond && second.Requests >= 0
	if isValid {
		s.nextSecond = second.At + 1
	}
	return isValid
}

const maxSecond = 256 << 10

// recordResult checks the outcome of a share. The agent gets the error.
func (r *LoadRun) recordResult(name string, o outcome) error {
	s := r.findShare(name, o.Order)
	if s == nil {
		return errors.New("no such order was given to it")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.isOver {
		return errors.New("it was given up before")
	}
	var l Loaded
	if len(o.Result) > 0 {
		if err := footprint.Unmarshal(o.Result, &l, footprint.Most); err != nil {
			return fmt.Errorf("it is no result of a load: %w", err)
		}
		if err := checkLoaded(s.order, l); err != nil {
			r.Say(name, "rejected its result: "+err.Error())
			return err
		}
	}
	s.loaded, s.isOver = l, true
	if o.Error != "" {
		s.err = errors.New(format.Line(o.Error, format.LineLimit))
	}
	select {
	case r.changed <- struct{}{}:
	default: // a wake-up is pending
	}
	return nil
}

// checkLoaded checks that l can be the result of o. A faulty agent may send anything.
func checkLoaded(o LoadOrder, l Loaded) error {
	const (
		maxOvertime = time.Minute // a load may take this much longer
		maxCores    = 1e5         // far more than any machine has
	)
	result := l.Result
	switch {
	case result == nil:
		return errors.New("it has no result")
	case result.Wall <= 0 || result.Wall > o.Duration+maxOvertime:
		return fmt.Errorf("%v were measured; %v were ordered", result.Wall, o.Duration)
	case result.Connections != o.Connections:
		return fmt.Errorf("%d connections; %d were ordered", result.Connections, o.Connections)
	case result.Requests < 0 || result.Sent < result.Requests:
		return fmt.Errorf("%d answers to %d requests", result.Requests, result.Sent)
	case l.Cores < 0 || l.Cores > maxCores:
		return fmt.Errorf("%g processors", l.Cores)
	}
	return load.CheckResult(result)
}
