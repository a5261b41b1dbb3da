package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Session is a set of connections to one server. They are opened with the
// first leg and stay open between legs.
type Session struct {
	s      *settings
	engine engine
	all    Totals

	mu     sync.Mutex // held during a leg
	gone   bool
	cancel atomic.Pointer[context.CancelFunc] // of the leg under way
}

// settings are Options with their defaults filled in, and what follows from
// them, as engines see it.
type settings struct {
	Options
	base     time.Time // time zero
	requests []encoded
	counters counters
	addrs    []string // host:port, as IP addresses
	accepts  [1000]bool
	room     atomic.Int64 // bytes of answers that may still be kept to be verified
}

func (s *settings) now() int64 { return int64(time.Since(s.base)) }

// engine carries legs through, one at a time. It keeps its connections between
// them.
type engine interface {
	name() Engine
	threads() int   // that send
	parties() int   // that say once a leg that their connections were made
	recorders() int // that account for a leg
	// run sends until the leg is over and nothing is under way.
	run(r *run)
	// wake has every thread look at the leg soon; it may be called from any of
	// them.
	wake()
	// used is what its threads have used since they began.
	used() usage
	close()
}

// Open checks the options, serialises the requests and resolves the address.
// Connections are opened by the first leg.
func Open(o Options) (*Session, error) {
	s, err := settle(o)
	if err != nil {
		return nil, err
	}
	e, err := newEngine(s)
	if err != nil {
		return nil, err
	}
	return &Session{s: s, engine: e}, nil
}

// retryAfter is how long in ns after a failed attempt a connection is tried
// again.
const retryAfter = int64(50 * time.Millisecond)

// newEngine picks the engine; Auto falls back to the portable one where the
// system refuses epoll.
func newEngine(s *settings) (engine, error) {
	if s.Engine == Portable || s.Protocol == HTTP3 {
		return newPortable(s), nil
	}
	kind := Epoll
	if s.Engine == Uring {
		kind = Uring
	}
	e, err := newLoop(s, kind)
	if err != nil && s.Engine == Auto && s.Streams == 1 {
		return newPortable(s), nil
	}
	return e, err
}

// Run sends what leg asks for and returns what came of it. A leg that was
// interrupted returns both what there is and the context's error; one that had
// no connection for as long as the timeout, an error that says so. Legs run
// one after another.
func (s *Session) Run(ctx context.Context, leg Leg) (*Result, error) {
	if err := leg.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
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
	result := r.result()
	s.all = s.all.plus(r.collector.all)
	return result, r.failure()
}

// Totals are what a session sent and got over all its legs, unmeasured parts
// included.
type Totals struct {
	Sent   int64 // requests
	Body   int64 // bytes of their bodies
	BodyIn int64 // bytes of whole answers' bodies
	Opened int64 // connections
	Acked  int64 // items of the requests that were answered whole and without an error of any class
}

func (t Totals) plus(o Totals) Totals {
	return Totals{t.Sent + o.Sent, t.Body + o.Body, t.BodyIn + o.BodyIn, t.Opened + o.Opened, t.Acked + o.Acked}
}

// Totals returns what was sent since Open, up to the end of the last leg.
func (s *Session) Totals() Totals {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// Rewind sets the counters of [Fill] to zero. It waits for the leg under way.
func (s *Session) Rewind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.s.counters {
		c.Store(0)
	}
}

// Close ends the leg that is under way, closes all connections and ends the
// threads. It may be called more than once.
func (s *Session) Close() {
	for !s.mu.TryLock() {
		if cancel := s.cancel.Load(); cancel != nil {
			(*cancel)()
		}
		time.Sleep(time.Millisecond)
	}
	defer s.mu.Unlock()
	if !s.gone {
		s.gone = true
		s.engine.close()
	}
}
