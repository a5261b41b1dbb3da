package load

import (
	"context"
	"crypto/tls"
	"runtime"
	"sync"
	"time"

	"github.com/tarebench/tare/load/nap"
)

// portable is the engine on package net: one goroutine per connection. It runs on every system, and uses
// about twice as much CPU time as the engine with epoll.
//
// Goroutines run on any thread. So Options.CPUs restricts all threads of the process during a phase.
type portable struct {
	s      *settings
	tls    *tls.Config // nil means plain text
	conns  []*portableConn
	shards []*shard      // one for each processor, shared by the connections
	dials  chan struct{} // a value for each connection that is being opened; limits their number

	mu    sync.Mutex
	phase *portablePhase // the running phase, or nil

	cores  int                   // of the last phase
	waits  map[int]time.Duration // time each thread waited for a processor at the last reading, by thread id
	waited time.Duration         // sum over all threads, also those that have ended
}

// shard records outcomes for several connections. They also share the position in the list of requests.
type shard struct {
	mu          sync.Mutex
	rec         recorder
	nextRequest int // index in settings.requests
}

// portablePhase is the state that the goroutines of one phase share.
type portablePhase struct {
	r        *run
	ctx      context.Context // for connecting: done at the end of the phase
	cancel   context.CancelFunc
	requests context.Context // for requests in flight: done when the phase is aborted
	giveUp   context.CancelFunc
	tickets  chan ticket   // open loop: requests that are due; closed after the last
	started  chan struct{} // closed when requests may be sent, or the phase is over
	begun    bool
}

func newPortable(s *settings) engine {
	p := &portable{s: s, dials: make(chan struct{}, 64), cores: usableProcessors(), waits: map[int]time.Duration{}}
	if s.Target.TLS != nil {
		p.tls = s.tlsConfig()
	}
	for i := range min(s.Connections, runtime.GOMAXPROCS(0)) {
		p.shards = append(p.shards, &shard{rec: recorder{thread: i, s: s}})
	}
	// Only HTTP/3 has several Streams. Each portableConn then carries one stream, and a connGroup shares a
	// QUIC connection.
	var g *connGroup
	for i := range s.Connections * s.Streams {
		c := &portableConn{p: p, s: s, shard: p.shards[i%len(p.shards)]}
		if s.Protocol == HTTP3 {
			if i%s.Streams == 0 {
				g = new(connGroup)
			}
			c.transport = newCarriedConn(p, g)
		} else {
			c.transport = newSocket(p)
		}
		p.conns = append(p.conns, c)
	}
	return p
}

func (p *portable) name() Engine       { return Portable }
func (p *portable) threadCount() int   { return p.cores }
func (p *portable) dialerCount() int   { return len(p.conns) }
func (p *portable) recorderCount() int { return len(p.shards) }

func usableProcessors() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }

func (p *portable) readUsage() usage {
	for tid, w := range threadWaits() {
		p.waited += max(0, w-p.waits[tid]) // ended threads count with their last reading
		p.waits[tid] = w
	}
	u := usage{cpu: processCPU(), wait: p.waited}
	if len(p.waits) == 0 {
		u.wait = -1
	}
	return u
}

// run executes a phase, restricted to the processors of Options.CPUs if it is set.
func (p *portable) run(r *run) {
	if p.s.CPUs == nil {
		p.cores = usableProcessors()
		p.runPhase(r)
		return
	}
	c := confineThreads(p.s.CPUs)
	defer c.release()
	n := c.countAllowed() // 0 if the system does not permit it
	procs := n            // value of GOMAXPROCS
	if r.queue != nil {
		procs++ // for the goroutine that sends tickets, which mostly sleeps
	}
	if n > 0 {
		defer limitProcs(procs)()
	}
	p.runPhase(r)
	if p.cores = usableProcessors(); n > 0 {
		p.cores = min(p.cores, max(n, c.countAllowed()))
	}
}

// limitProcs lowers GOMAXPROCS to n until undo is called. Otherwise more threads than processors would wait
// for each other.
func limitProcs(n int) (undo func()) {
	before := runtime.GOMAXPROCS(0)
	if before <= n {
		return func() {}
	}
	runtime.GOMAXPROCS(n)
	return func() {
		if runtime.GOMAXPROCS(0) <= n { // otherwise other code has changed it
			runtime.GOMAXPROCS(before)
		}
	}
}

func (p *portable) runPhase(r *run) {
	l := &portablePhase{r: r, started: make(chan struct{}), tickets: make(chan ticket)}
	l.requests, l.giveUp = context.WithCancel(context.Background())
	defer l.giveUp()
	l.ctx, l.cancel = context.WithCancel(l.requests)
	defer l.cancel()
	for _, sh := range p.shards {
		sh.rec.start(r)
	}
	p.setPhase(l)
	p.wake() // the phase may already have been aborted
	var wg sync.WaitGroup
	for _, c := range p.conns {
		wg.Go(func() { c.runPhase(l) })
	}
	if r.queue != nil {
		wg.Go(func() { l.sendTickets() })
	}
	if p.s.Protocol == HTTP3 {
		defer p.cancelLate()()
	}
	p.watchPhase(l)
	wg.Wait()
	p.setPhase(nil)
	for _, sh := range p.shards {
		sh.rec.stop()
	}
}

func (p *portable) setPhase(l *portablePhase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase = l
}

// wake notifies the goroutines that the phase has started, is over, or is aborted.
func (p *portable) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.phase
	if l == nil {
		return
	}
	if l.r.isOver() {
		l.cancel()
	}
	if !l.begun && (l.r.isOver() || l.r.started.Load() != 0) {
		l.begun = true
		close(l.started)
	}
	if l.r.aborted.Load() {
		l.giveUp()
		for _, c := range p.conns {
			c.transport.interrupt()
		}
	}
}

func (p *portable) watchPhase(l *portablePhase) {
	const pollInterval = 20 * time.Millisecond
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !l.r.isOver() {
		now := p.s.nowNS()
		next := int64(never)
		l.r.startIfOverdue(now)
		if l.r.started.Load() != 0 {
			next = l.r.updatePhase(now)
		}
		for _, sh := range p.shards {
			sh.mu.Lock()
			sh.rec.rollSecond(now)
			sh.mu.Unlock()
		}
		timer.Reset(min(pollInterval, time.Duration(next-now)))
		select {
		case <-l.ctx.Done():
		case <-timer.C:
		}
	}
}

// cancelLate cancels requests of HTTP/3 that exceed the timeout, until stop is called. It polls: a timer
// for each request would cost more than sending the request.
func (p *portable) cancelLate() (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			now := p.s.nowNS()
			for _, c := range p.conns {
				if k, ok := c.transport.(*carriedConn); ok {
					k.cancelLate(now, false)
				}
			}
		}
	}()
	return func() { close(done) }
}

// sendTickets passes tickets to free connections at their intended times. Each ticket is one request of an
// open loop.
func (l *portablePhase) sendTickets() {
	defer close(l.tickets)
	<-l.started
	clock := nap.New()
	defer clock.Close()
	for {
		t, ok := l.r.queue.takeTicket()
		if !ok {
			return
		}
		for now := l.r.s.nowNS(); now < t.at; now = l.r.s.nowNS() {
			if l.ctx.Err() != nil {
				l.r.queue.giveBack(t)
				return
			}
			clock.Sleep(min(time.Duration(t.at-now), 20*time.Millisecond))
		}
		if t.measured && l.r.begin.Load() == 0 {
			l.r.updatePhase(l.r.s.nowNS())
		}
		select {
		case l.tickets <- t: // a connection is free, even if the phase has just ended
			continue
		default:
		}
		select {
		case l.tickets <- t:
		case <-l.ctx.Done():
			l.r.queue.giveBack(t)
			return
		}
	}
}

func (p *portable) close() {
	for _, c := range p.conns {
		c.transport.shut()
	}
}
