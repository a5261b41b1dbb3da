package load

import (
	"context"
	"crypto/tls"
	"runtime"
	"sync"
	"time"

	"github.com/tarebench/tare/load/nap"
)

// portable is the engine on package net: a goroutine for each connection. It
// runs everywhere and speaks TLS, and costs about twice what epoll does.
//
// Goroutines run on any thread there is, so where it is given processors, all of
// the process keeps to them for the time of a leg.
type portable struct {
	s      *settings
	tls    *tls.Config // nil: plain text
	conns  []*stream
	shards []*shard
	dials  chan struct{} // holds a token for each connection being made

	mu  sync.Mutex
	leg *stretch // under way

	cores  int                   // that the last leg could use
	waits  map[int]time.Duration // of each thread, as last seen
	waited time.Duration         // of all of them, since they were first seen
}

// shard is a recorder that several connections share, with their turn of
// requests.
type shard struct {
	mu   sync.Mutex
	rec  recorder
	turn int
}

// stretch is what the goroutines of one leg share.
type stretch struct {
	r       *run
	ctx     context.Context // of dialling: ends with the leg
	cancel  context.CancelFunc
	sending context.Context // of requests under way: ends when the leg is given up
	giveUp  context.CancelFunc
	tickets chan ticket // open loop; closed when no more will be sent
	started chan struct{}
	begun   bool // started is closed
}

func newPortable(s *settings) engine {
	p := &portable{s: s, dials: make(chan struct{}, 64), cores: usable(), waits: map[int]time.Duration{}}
	if s.Target.TLS != nil {
		p.tls = s.secured()
	}
	for i := range min(s.Connections, runtime.GOMAXPROCS(0)) {
		p.shards = append(p.shards, &shard{rec: recorder{thread: i, s: s}})
	}
	for i := range s.Connections {
		c := &stream{p: p, s: s, shard: p.shards[i%len(p.shards)]}
		if s.Protocol == HTTP3 {
			c.w = newCourier(p)
		} else {
			c.w = newSocket(p)
		}
		p.conns = append(p.conns, c)
	}
	return p
}

func (p *portable) name() Engine   { return Portable }
func (p *portable) threads() int   { return p.cores }
func (p *portable) parties() int   { return len(p.conns) }
func (p *portable) recorders() int { return len(p.shards) }

// usable is how many processors goroutines may run on at a time.
func usable() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }

// used is what all of the process has used.
func (p *portable) used() usage {
	for tid, w := range threadWaits() {
		p.waited += max(0, w-p.waits[tid]) // of threads that have ended it is what was seen
		p.waits[tid] = w
	}
	u := usage{cpu: processCPU(), wait: p.waited}
	if len(p.waits) == 0 {
		u.wait = -1
	}
	return u
}

// run keeps to the processors it was given, if any, while it carries a leg
// through.
func (p *portable) run(r *run) {
	if p.s.CPUs == nil {
		p.cores = usable()
		p.carry(r)
		return
	}
	c := confine(p.s.CPUs)
	defer c.end()
	n := c.allowed()
	at := n
	if r.queue != nil {
		at++ // of who keeps the time, and is asleep mostly
	}
	if n > 0 {
		defer limit(at)()
	}
	p.carry(r)
	if p.cores = usable(); n > 0 {
		p.cores = min(p.cores, max(n, c.allowed()))
	}
}

// limit has goroutines run on so many threads at a time at most, until it is
// undone: more of them than processors would wait for each other.
func limit(at int) (undo func()) {
	before := runtime.GOMAXPROCS(0)
	if before <= at {
		return func() {}
	}
	runtime.GOMAXPROCS(at)
	return func() {
		if runtime.GOMAXPROCS(0) <= at { // else somebody has set it since
			runtime.GOMAXPROCS(before)
		}
	}
}

// carry carries a leg through.
func (p *portable) carry(r *run) {
	l := &stretch{r: r, started: make(chan struct{}), tickets: make(chan ticket)}
	l.sending, l.giveUp = context.WithCancel(context.Background())
	defer l.giveUp()
	l.ctx, l.cancel = context.WithCancel(l.sending)
	defer l.cancel()
	for _, sh := range p.shards {
		sh.rec.start(r)
	}
	p.set(l)
	p.wake() // the leg may have been given up before
	var wg sync.WaitGroup
	for _, c := range p.conns {
		wg.Go(func() { c.run(l) })
	}
	if r.queue != nil {
		wg.Go(func() { l.pace() })
	}
	p.watch(l)
	wg.Wait()
	p.set(nil)
	for _, sh := range p.shards {
		sh.rec.stop()
	}
}

func (p *portable) set(l *stretch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leg = l
}

// wake tells the goroutines that the leg has started, that it is over, or that
// it is given up.
func (p *portable) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.leg
	if l == nil {
		return
	}
	if l.r.over() {
		l.cancel()
	}
	if !l.begun && (l.r.over() || l.r.started.Load() != 0) {
		l.begun = true
		close(l.started)
	}
	if l.r.aborted.Load() {
		l.giveUp()
		for _, c := range p.conns {
			c.w.interrupt()
		}
	}
}

// watch keeps the leg's time until it is over.
func (p *portable) watch(l *stretch) {
	const often = 20 * time.Millisecond
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !l.r.over() {
		now := p.s.now()
		next := int64(never)
		l.r.patience(now)
		if l.r.started.Load() != 0 {
			next = l.r.look(now)
		}
		for _, sh := range p.shards {
			sh.mu.Lock()
			sh.rec.roll(now)
			sh.mu.Unlock()
		}
		timer.Reset(min(often, time.Duration(next-now)))
		select {
		case <-l.ctx.Done():
		case <-timer.C:
		}
	}
}

// pace hands the tickets of an open loop to free connections, each at its
// time.
func (l *stretch) pace() {
	defer close(l.tickets)
	<-l.started
	clock := nap.New()
	defer clock.Close()
	for {
		t, ok := l.r.queue.take()
		if !ok {
			return
		}
		for now := l.r.s.now(); now < t.at; now = l.r.s.now() {
			if l.ctx.Err() != nil { // it was given up
				l.r.queue.giveBack(t)
				return
			}
			clock.Sleep(min(time.Duration(t.at-now), 20*time.Millisecond))
		}
		if t.measured && l.r.begin.Load() == 0 {
			l.r.look(l.r.s.now())
		}
		select {
		case l.tickets <- t:
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
		c.w.shut()
	}
}
