package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Session is a set of connections to one server. They are opened with the
// first phase and stay open between phases.
type Session struct {
	s      *settings
	engine engine
	all    Totals

	mu       sync.Mutex // locked during a phase
	isClosed bool
	cancel   atomic.Pointer[context.CancelFunc] // of the running phase
}

// settings are Options with defaults, and values derived from them, for engines.
type settings struct {
	Options
	base     time.Time // time zero
	requests []encodedRequest
	counters counters
	addrs    []string // host:port, as IP addresses
	accepts  [1000]bool
	room     atomic.Int64 // bytes of responses that may still be stored for Verify
}

// nowNS returns the time in ns since s.base.
func (s *settings) nowNS() int64 { return int64(time.Since(s.base)) }

// engine executes phases, one at a time. It keeps its connections open between
// them.
type engine interface {
	name() Engine
	threadCount() int   // that send
	partyCount() int    // that call markDialed once a phase
	recorderCount() int // that record a phase
	// run sends until the phase is over and no request is in flight.
	run(r *run)
	// wake makes every thread check the phase soon; any of them may call it.
	wake()
	// readUsage returns the usage of its threads since they started.
	readUsage() usage
	close()
}

// Open checks the options, serialises the requests and resolves the address.
// Connections are opened by the first phase.
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

// retryAfter is the delay in ns between a failed attempt to connect and the next.
const retryAfter = int64(50 * time.Millisecond)

// newEngine creates the engine; Auto falls back to the portable one if the system does not permit epoll.
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

// Run executes phase and returns its result. An interrupted phase returns both the result so far and the context's
// error; one without any connection for the timeout returns an error. Phases run one after another.
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
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		r.abort(context.Cause(ctx))
	})
	s.engine.run(r)
	if !stop() {
		<-told
	}
	result := r.buildResult()
	s.all = s.all.addTotals(r.collector.all)
	return result, r.abortError()
}

// Totals are the counts of a session over all its phases, unmeasured parts included.
type Totals struct {
	Sent   int64 // requests
	Body   int64 // bytes of their bodies
	BodyIn int64 // bytes of complete responses' bodies
	Opened int64 // connections
	Acked  int64 // items of the requests with a complete response and no error of any class
}

func (t Totals) addTotals(o Totals) Totals {
	return Totals{t.Sent + o.Sent, t.Body + o.Body, t.BodyIn + o.BodyIn, t.Opened + o.Opened, t.Acked + o.Acked}
}

// Totals returns what was sent since Open, up to the end of the last phase.
func (s *Session) Totals() Totals {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// Rewind sets the counters of [Fill] to zero. It waits for the running phase.
func (s *Session) Rewind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.s.counters {
		c.Store(0)
	}
}

// Close ends the running phase, closes all connections and ends the
// threads. It may be called more than once.
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
