//go:build linux && (amd64 || arm64)

package load

import (
	"crypto/tls"
	"runtime"
	"syscall"
	"time"
)

// thread is one operating system thread of engine Epoll, with its share of the connections (links). Each
// link has slots, which carry one request at a time. A slot is in the list of its state.
type thread struct {
	engine *loop
	s      *settings
	addrs  []address // not shared between threads: connecting writes to them
	cpus   []int     // allowed processors; nil means any
	tid    int
	net    *epollSockets
	work   chan *run // phases to execute

	links []link
	tls   *tls.Config // nil means plain text
	buf   []byte
	known knownHead // see http1Parser.known

	closed  list // to open
	failed  list // to open, after retryAfter
	dialing list
	idle    list
	pausing list
	busy    list
	toFlush []*link
	toRead  []*link    // connections with input that was not read
	resends []exchange // requests to send again, sorted by their first try

	r             *run // the running phase, or nil
	rec           recorder
	now           int64 // time in ns, as last read
	timer         timer
	nextRequest   int // index in settings.requests
	undialed      int // connections not opened in this phase yet
	allDialed     bool
	isDrained     bool   // open loop: all requests of the phase were sent
	waitingTicket ticket // of an open loop, for a free slot; valid if hasTicket
	hasTicket     bool
}

// newThread returns thread n with its share of the connections, which are not opened yet.
func newThread(e *loop, n int) (*thread, error) {
	t := &thread{
		engine: e, s: e.s, cpus: e.s.CPUs, work: make(chan *run),
		buf: make([]byte, 64<<10), rec: recorder{thread: n, s: e.s},
	}
	if len(t.cpus) == e.s.Threads { // one processor for each thread
		t.cpus = t.cpus[n : n+1]
	}
	for _, a := range e.s.addrs {
		to, err := parseAddress(a)
		if err != nil {
			return nil, err
		}
		t.addrs = append(t.addrs, to)
	}
	count := e.s.Connections / e.s.Threads
	if n < e.s.Connections%e.s.Threads {
		count++
	}
	if e.s.Target.TLS != nil {
		t.tls = e.s.tlsConfig()
	}
	t.links = make([]link, count)
	for i := range t.links {
		l := &t.links[i]
		l.index, l.fd, l.slots = int32(i), -1, make([]slot, e.s.Streams)
		l.parser.known, l.parser.stored.budget = &t.known, &e.s.bodyBudget
		if e.s.Protocol != HTTP1 {
			l.http2 = newHTTP2(e.s.Protocol == GRPC, e.s.Streams, &e.s.bodyBudget)
		}
		for k := range l.slots {
			l.slots[k].link, l.slots[k].number = l, k
		}
		t.closed.push(l.firstSlot(), 0)
	}
	ready := make(chan error)
	go t.runThread(ready)
	return t, <-ready
}

// runThread executes phases until t.work is closed. It sends the error of setUp to ready. It never unlocks
// its operating system thread: that must end with the goroutine, because its affinity and timer slack were
// changed.
func (t *thread) runThread(ready chan<- error) {
	runtime.LockOSThread()
	err := t.setUp()
	ready <- err
	if err != nil {
		t.tearDown()
		return
	}
	for r := range t.work {
		t.runPhase(r)
		t.engine.done <- struct{}{}
	}
	t.tearDown()
	t.engine.done <- struct{}{}
}

func (t *thread) setUp() (err error) {
	t.tid = syscall.Gettid()
	setTimerSlack()
	if t.cpus != nil {
		if err := pinThread(t.cpus); err != nil {
			return err
		}
	}
	t.net, err = newEpollSockets(t)
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

func (t *thread) runPhase(r *run) {
	t.r, t.allDialed, t.isDrained, t.hasTicket = r, false, false, false
	t.rec.start(r)
	t.now = t.s.nowNS()
	t.preparePhase()
	for !r.aborted.Load() {
		next := t.runDue()
		if r.isOver() && t.busy.n == 0 && len(t.resends) == 0 {
			break
		}
		t.waitEvents(next)
	}
	t.cleanUpPhase()
	t.rec.stop()
	t.r = nil
}

// preparePhase counts the open connections and processes the events since the last phase. Closed
// connections are to be opened.
func (t *thread) preparePhase() {
	for i := range t.links {
		if t.links[i].opened {
			t.r.conns.Add(1)
		}
	}
	for range 1 + len(t.links)/16 { // one wait returns at most len(epollSockets.events) events
		if t.waitEvents(0) == 0 {
			break
		}
	}
	for t.failed.head != nil {
		t.closed.push(t.failed.head, t.now)
	}
	for c := t.closed.head; c != nil; c = c.next {
		c.link.wasOpened = false
	}
	t.undialed = t.closed.n
}

// cleanUpPhase makes every connection idle or closed, and ends think times. It gives back the thread's
// ticket, the permission to send one request.
func (t *thread) cleanUpPhase() {
	for t.busy.head != nil {
		t.dropLink(t.busy.head.link)
	}
	for t.dialing.head != nil {
		t.closeLink(t.dialing.head.link)
	}
	for t.pausing.head != nil {
		t.idle.push(t.pausing.head, t.now)
	}
	t.resends = t.resends[:0]
	if t.hasTicket {
		t.r.queue.giveBack(t.waitingTicket)
		t.hasTicket = false
	}
}

// runDue does everything that is due. It returns the time in ns of its next call if no event occurs before.
func (t *thread) runDue() (next int64) {
	limit := int64(t.s.Timeout)
	t.readQueued()
	for t.busy.dueAt(limit) <= t.now {
		t.timeOut(t.busy.head)
	}
	next = never
	if t.closed.n+t.failed.n+t.dialing.n > 0 || !t.allDialed {
		next = min(next, t.openLinks(t.r.isOver() && len(t.resends) == 0))
	}
	if t.r.started.Load() == 0 {
		return next
	}
	next = min(next, t.r.updatePhase(t.now), t.resendQueued())
	if t.r.queue != nil {
		next = min(next, t.sendOpenLoop())
	} else if !t.r.isOver() {
		next = min(next, t.sendClosedLoop())
	}
	if t.r.begin.Load() != 0 && !t.r.isOver() {
		t.rec.rollSecond(t.now)
		next = min(next, t.rec.secondEnd)
	}
	return min(next, t.busy.dueAt(limit)) // with the requests that were just sent
}

// sendClosedLoop sends requests on free slots after their think time. It returns the time at which the next
// think time ends.
func (t *thread) sendClosedLoop() (next int64) {
	for t.idle.head != nil {
		if !t.r.admitRequest() {
			return never
		}
		t.now = t.s.nowNS()
		t.sendRequest(t.idle.head, ticket{})
	}
	think := int64(t.r.leg.Think)
	for t.pausing.dueAt(think) <= t.now {
		if !t.r.admitRequest() {
			return never
		}
		t.sendRequest(t.pausing.head, ticket{})
	}
	return t.pausing.dueAt(think)
}

// sendOpenLoop sends the due requests while there are free slots, and returns the time of the next. After
// the measured part it sends only those that are still due.
func (t *thread) sendOpenLoop() (next int64) {
	if t.isDrained {
		return never
	}
	t.now = t.s.nowNS()
	next = t.resendQueued()
	over := t.r.isOver()
	for t.idle.head != nil {
		if !t.hasTicket {
			if t.waitingTicket, t.hasTicket = t.r.queue.takeTicket(); !t.hasTicket {
				break
			}
		}
		if t.waitingTicket.at > t.now {
			return t.waitingTicket.at
		}
		if t.waitingTicket.measured && t.r.begin.Load() == 0 {
			t.r.updatePhase(t.now)
		}
		t.hasTicket = false
		t.sendRequest(t.idle.head, t.waitingTicket)
		t.now = t.s.nowNS()
	}
	if t.hasTicket {
		t.r.queue.giveBack(t.waitingTicket)
		t.hasTicket = false
	}
	t.isDrained = over
	return next
}

func (t *thread) waitEvents(next int64) int {
	t.flushQueued()
	if len(t.toRead) > 0 {
		next = t.now
	}
	d := t.timer.waitTime(next - t.now)
	end := t.now + d
	n := t.net.wait(time.Duration(d))
	if n == 0 { // the wait timed out or was interrupted
		t.now = t.s.nowNS()
		if d > 0 {
			t.timer.adapt(t.now - end)
		}
	}
	return n
}
