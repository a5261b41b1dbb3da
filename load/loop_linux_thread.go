//go:build linux && (amd64 || arm64)

package load

import (
	"crypto/tls"
	"runtime"
	"syscall"
	"time"
)

// thread is one operating system thread of the engine with its connections.
type thread struct {
	e     *loop
	s     *settings
	addrs []address // its own: connecting writes to them
	cpus  []int     // it may run on; nil: any
	tid   int
	net   sockets
	work  chan *run

	links []link
	tls   *tls.Config // nil: plain text
	buf   []byte
	known head

	closed  list // no descriptor, to be opened
	failed  list // the same, but not before retryAfter
	dialing list
	idle    list
	pausing list       // think time
	busy    list       // a request is under way
	owing   []*link    // that have something to send
	unread  []*link    // that had more to be read than was read at a time
	left    []exchange // that are to be sent again, by the time they were first sent

	r      *run
	rec    recorder
	now    int64 // ns, as last read
	timer  timer
	turn   int  // index of the next request
	unmade int  // connections that were to be opened at the start, and have not been
	said   bool // that all have
	final  bool // the last requests of an open loop were sent
	held   ticket
	holds  bool
}

// newThread starts thread n of an engine.
func newThread(e *loop, n int) (*thread, error) {
	t := &thread{
		e: e, s: e.s, cpus: e.s.CPUs, work: make(chan *run),
		buf: make([]byte, 64<<10), rec: recorder{thread: n, s: e.s},
	}
	if len(t.cpus) == e.s.Threads {
		t.cpus = t.cpus[n : n+1]
	}
	for _, a := range e.s.addrs {
		to, err := parseAddress(a)
		if err != nil {
			return nil, err
		}
		t.addrs = append(t.addrs, to)
	}
	own := e.s.Connections / e.s.Threads
	if n < e.s.Connections%e.s.Threads {
		own++
	}
	if e.s.Target.TLS != nil {
		t.tls = e.s.secured()
	}
	t.links = make([]link, own)
	for i := range t.links {
		l := &t.links[i]
		l.index, l.fd, l.places = int32(i), -1, make([]conn, e.s.Streams)
		l.f.known, l.f.kept.room = &t.known, &e.s.room
		if e.s.Protocol != HTTP1 {
			l.h = newHTTP2(e.s.Protocol == GRPC, e.s.Streams, &e.s.room)
		}
		for k := range l.places {
			l.places[k].link, l.places[k].number = l, k
		}
		t.closed.push(l.first(), 0)
	}
	ready := make(chan error)
	go t.live(ready)
	return t, <-ready
}

// live is the thread's life. It stays locked, so the system's thread ends with
// it, and what was set on it.
func (t *thread) live(ready chan<- error) {
	runtime.LockOSThread()
	err := t.setUp()
	ready <- err
	if err != nil {
		t.tearDown()
		return
	}
	for r := range t.work {
		t.leg(r)
		t.e.done <- struct{}{}
	}
	t.tearDown()
	t.e.done <- struct{}{}
}

func (t *thread) setUp() (err error) {
	t.tid = syscall.Gettid()
	sharpen()
	if t.cpus != nil {
		if err := tie(t.cpus); err != nil {
			return err
		}
	}
	if t.e.kind == Uring {
		t.net, err = newUringSockets(t)
	} else {
		t.net, err = newEpollSockets(t)
	}
	return err
}

func (t *thread) tearDown() {
	if t.net == nil {
		return
	}
	for i := range t.links {
		t.links[i].close(t.net)
	}
	t.net.close()
}

// leg carries the thread's part of one leg through.
func (t *thread) leg(r *run) {
	t.r, t.said, t.final, t.holds = r, false, false, false
	t.rec.start(r)
	t.now = t.s.now()
	t.arrive()
	for !r.aborted.Load() {
		next := t.turnOver()
		if r.over() && t.busy.n == 0 && len(t.left) == 0 {
			break
		}
		t.wait(next)
	}
	t.depart()
	t.rec.stop()
	t.r = nil
}

// arrive sees what became of the connections since the last leg.
func (t *thread) arrive() {
	for i := range t.links {
		if t.links[i].opened {
			t.r.conns.Add(1)
		}
	}
	for range 1 + len(t.links)/16 { // a wait returns so many events
		if t.wait(0) == 0 {
			break
		}
	}
	for t.failed.head != nil {
		t.closed.push(t.failed.head, t.now)
	}
	for c := t.closed.head; c != nil; c = c.next {
		c.link.made = false
	}
	t.unmade = t.closed.n
}

// depart leaves idle and closed connections only.
func (t *thread) depart() {
	for t.busy.head != nil {
		t.drop(t.busy.head.link)
	}
	for t.dialing.head != nil {
		t.shut(t.dialing.head.link)
	}
	for t.pausing.head != nil {
		t.idle.push(t.pausing.head, t.now)
	}
	t.left = t.left[:0]
	if t.holds {
		t.r.queue.giveBack(t.held)
		t.holds = false
	}
	t.net.settle()
}

// turnOver does everything whose time has come and returns when there will be
// more to do, should nothing happen before.
func (t *thread) turnOver() (next int64) {
	limit := int64(t.s.Timeout)
	t.readOn()
	for t.busy.due(limit) <= t.now {
		t.tooLate(t.busy.head)
	}
	next = never
	if t.closed.n+t.failed.n+t.dialing.n > 0 || !t.said {
		next = min(next, t.connect(t.r.over() && len(t.left) == 0))
	}
	if t.r.started.Load() == 0 {
		return next
	}
	next = min(next, t.r.look(t.now), t.resend())
	if t.r.queue != nil {
		next = min(next, t.pump())
	} else if !t.r.over() {
		next = min(next, t.resume())
	}
	if t.r.begin.Load() != 0 && !t.r.over() {
		t.rec.roll(t.now)
		next = min(next, t.rec.until)
	}
	return min(next, t.busy.due(limit)) // of what was sent just now, too
}

// resume sends on connections of a closed loop that are free and have paused
// long enough.
func (t *thread) resume() (next int64) {
	for t.idle.head != nil {
		if !t.r.admit() {
			return never
		}
		t.now = t.s.now()
		t.send(t.idle.head, ticket{})
	}
	think := int64(t.r.leg.Think)
	for t.pausing.due(think) <= t.now {
		if !t.r.admit() {
			return never
		}
		t.send(t.pausing.head, ticket{})
	}
	return t.pausing.due(think)
}

// pump sends the requests of an open loop whose time has come, as long as
// there are free connections, and returns when the next is to be sent. After
// the end it does so once.
func (t *thread) pump() (next int64) {
	if t.final {
		return never
	}
	t.now = t.s.now()
	next = t.resend()
	over := t.r.over()
	for t.idle.head != nil {
		if !t.holds {
			if t.held, t.holds = t.r.queue.take(); !t.holds {
				break
			}
		}
		if t.held.at > t.now {
			return t.held.at
		}
		if t.held.measured && t.r.begin.Load() == 0 {
			t.r.look(t.now)
		}
		t.holds = false
		t.send(t.idle.head, t.held)
		t.now = t.s.now()
	}
	if t.holds {
		t.r.queue.giveBack(t.held)
		t.holds = false
	}
	t.final = over
	return next
}

// wait waits for events until next and handles them. It returns how many there
// were.
func (t *thread) wait(next int64) int {
	t.sendOwed()
	if len(t.unread) > 0 {
		next = t.now
	}
	d := t.timer.duration(next - t.now)
	end := t.now + d
	n := t.net.wait(time.Duration(d))
	if n == 0 { // or interrupted
		t.now = t.s.now()
		if d > 0 {
			t.timer.ended(t.now - end)
		}
	}
	return n
}
