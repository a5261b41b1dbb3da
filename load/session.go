package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Session is a set of connections to one server. They are opened by the first phase and stay open between
// phases.
type Session struct {
	s      *settings
	engine engine
	totals Totals // of the phases so far

	mu       sync.Mutex // locked during a phase
	isClosed bool
	cancel   atomic.Pointer[context.CancelFunc] // ends the running phase; nil if none runs
}

// settings are Options with their defaults, and values derived from them.
type settings struct {
	Options
	base       time.Time // origin of all times in ns
	requests   []encodedRequest
	counters   counters // of Fill, by name
	addrs      []string // addresses of the target as IP:port, in the order of trying
	accepts    [1000]bool
	bodyBudget atomic.Int64 // bytes that all stored bodies may still take
}

func (s *settings) nowNS() int64 { return int64(time.Since(s.base)) }

// engine executes phases, one at a time. It keeps its connections open between them.
type engine interface {
	name() Engine
	threadCount() int
	dialerCount() int // threads or connections that call run.markDialed once per phase
	recorderCount() int
	// run sends until the phase is over and no request is in flight.
	run(r *run)
	// wake makes every thread check the state of the phase soon. Any thread may call it.
	wake()
	// readUsage returns the usage of the engine's threads since they started.
	readUsage() usage
	close()
}

// Open checks the options, serialises the requests and resolves the address. Run opens the connections.
func Open(o Options) (*Session, error) {
	s, err := newSettings(o)
	if err != nil {
		return nil, err
	}
	e, err := newEngine(s)
	if err != nil {
		return nil, err
	}
	return &Session{s: s, engine: e}, nil
}

// retryAfter is the delay in ns after a failed attempt to connect.
const retryAfter = int64(50 * time.Millisecond)

func newEngine(s *settings) (engine, error) {
	if s.Engine == Portable || s.Protocol == HTTP3 {
		return newPortable(s), nil
	}
	e, err := newLoop(s)
	if err != nil && s.Engine == Auto && s.Streams == 1 {
		return newPortable(s), nil
	}
	return e, err
}

// Run executes a phase and returns its result. If ctx ends, it returns the result so far and the cause. A
// phase without an open connection for the timeout ends with an error. A second call waits for the first.
func (s *Session) Run(ctx context.Context, leg Leg) (*Result, error) {
	if err := leg.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed {
		return nil, errors.New("the session is closed")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.cancel.Store(&cancel)
	defer s.cancel.Store(nil)

	r := newRun(s.s, s.engine, leg)
	abortDone := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(abortDone)
		r.abort(context.Cause(ctx))
	})
	s.engine.run(r)
	if !stop() {
		<-abortDone
	}
	result := r.buildResult()
	s.totals = s.totals.addTotals(r.collector.totals)
	return result, r.abortError()
}

// Totals are the counts of a session over all its phases, unmeasured parts included.
type Totals struct {
	Sent   int64 // requests
	Body   int64 // bytes of request bodies
	BodyIn int64 // bytes of the bodies of complete responses
	Opened int64 // connections
	Acked  int64 // items of the requests that succeeded
}

func (t Totals) addTotals(o Totals) Totals {
	return Totals{
		Sent: t.Sent + o.Sent, Body: t.Body + o.Body, BodyIn: t.BodyIn + o.BodyIn,
		Opened: t.Opened + o.Opened, Acked: t.Acked + o.Acked,
	}
}

// Totals returns the totals of all phases so far. It waits for the running phase.
func (s *Session) Totals() Totals {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.totals
}

// Rewind sets the counters of [Fill] to zero. It waits for the running phase.
func (s *Session) Rewind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.s.counters {
		c.Store(0)
	}
}

// Close ends the running phase, closes all connections and ends the threads. It may be called again.
func (s *Session) Close() {
	for !s.mu.TryLock() {
		if cancel := s.cancel.Load(); cancel != nil {
			(*cancel)()
		}
		time.Sleep(time.Millisecond)
	}
	defer s.mu.Unlock()
	if !s.isClosed {
		s.isClosed = true
		s.engine.close()
	}
}
