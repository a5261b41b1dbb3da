//go:build linux && (amd64 || arm64)

package load

import (
	"fmt"
	"runtime"
	"syscall"
)

// loop is the engine Epoll, for Linux: a few threads, each of which waits for many sockets with epoll. It
// is cheap: a connection is registered once and a request is a prepared buffer. The Go scheduler takes no
// part while there is work.
//
// Each connection is a link, with one slot for each request that may be in flight. A slot is in the list of
// its state, such as idle or busy. A thread takes due slots from its lists (thread.runDue), waits for
// events (thread.waitEvents) and processes them (thread.handleEvent).
type loop struct {
	s    *settings
	all  []*thread
	done chan struct{} // a value per thread at the end of a phase, and one at its own end
}

// newLoop starts the threads. It raises GOMAXPROCS to at least one more than their number. Without a spare
// processor, the Go scheduler takes the processor of each waiting thread. With one thread, requests were a
// fifth more expensive.
func newLoop(s *settings) (engine, error) {
	if runtime.GOMAXPROCS(0) <= s.Threads {
		runtime.GOMAXPROCS(s.Threads + 1)
	}
	e := &loop{s: s, done: make(chan struct{}, s.Threads)}
	for i := range s.Threads {
		t, err := newThread(e, i)
		if err != nil {
			e.close()
			return nil, fmt.Errorf("engine %s: %w", Epoll, err)
		}
		e.all = append(e.all, t)
	}
	return e, nil
}

func (e *loop) name() Engine       { return Epoll }
func (e *loop) threadCount() int   { return len(e.all) }
func (e *loop) dialerCount() int   { return len(e.all) }
func (e *loop) recorderCount() int { return len(e.all) }

func (e *loop) run(r *run) {
	for _, t := range e.all {
		t.work <- r
	}
	for range e.all {
		<-e.done
	}
}

func (e *loop) wake() {
	for _, t := range e.all {
		t.net.endWait()
	}
}

// readUsage returns the usage of the threads. With TLS the CPU time is that of the process: other threads
// collect the garbage of handshakes.
func (e *loop) readUsage() usage {
	sum := e.readThreadUsage()
	if e.s.Target.TLS != nil {
		sum.cpu = processCPU()
	}
	return sum
}

func (e *loop) readThreadUsage() usage {
	var sum usage
	for _, t := range e.all {
		sum.cpu += threadCPU(t.tid)
		if w := threadWait(t.tid); w >= 0 && sum.wait >= 0 {
			sum.wait += w
		} else {
			sum.wait = -1
		}
	}
	return sum
}

func (e *loop) close() {
	for _, t := range e.all {
		close(t.work)
	}
	for range e.all {
		<-e.done
	}
}

// maxDialing is the number of connections that a thread opens at a time. More could exceed the backlog of
// the server. The kernel retries such a connection only after a second.
const maxDialing = 64

// slot carries one request at a time on a connection. A connection of HTTP/1.1 has one slot, one of HTTP/2
// a slot per stream. The list of a slot is its state. The first slot also represents its connection. The
// others are in a list only if the server allows that many streams.
type slot struct {
	prev, next *slot // neighbours in list
	list       *list // nil if the slot is in none
	since      int64 // ns at which the slot entered the list
	link       *link
	number     int  // index in link.slots
	last       bool // HTTP/1.1: last request of the connection
	request    exchange
}

type link struct {
	index         int32
	generation    int32 // increases when fd is closed, to recognise late events of fd
	fd            int
	addr          int  // address to try, modulo their number
	wasOpened     bool // opened at least once in this phase
	isReopened    bool // it was open before: the next connection is a reconnect
	opened        bool
	peerClosed    bool // the peer has closed, but not all input is read
	isWriteClosed bool
	toFlush       bool
	toRead        bool
	uses          int    // requests since it was opened
	rest          []byte // bytes to send, before encryption
	filled        []byte // HTTP/1.1: buffer of a request with numbers
	numbers       []int64
	parser        http1Parser
	tls           *tlsConn // nil in plain text
	slots         []slot

	http2         *http2 // nil for HTTP/1.1
	usedSlots     int    // HTTP/2: slots in a list
	busySlots     int    // HTTP/2: requests in flight
	unassignedIn  int64  // HTTP/2: received bytes of no request yet
	unassignedOut int    // HTTP/2: sent bytes of no request yet
}

func (l *link) firstSlot() *slot { return &l.slots[0] }

type list struct {
	head, tail *slot
	n          int
}

func (l *list) push(c *slot, now int64) {
	c.list.remove(c)
	c.list, c.since, c.prev, c.next = l, now, l.tail, nil
	if l.tail != nil {
		l.tail.next = c
	} else {
		l.head = c
	}
	l.tail = c
	l.n++
}

// insert moves c to its position in l, which is sorted by entry time. since is the entry time of c. It
// searches from the end, where the position usually is.
func (l *list) insert(c *slot, since int64) {
	l.push(c, since)
	for p := c.prev; p != nil && p.since > since; p = c.prev {
		p.next, c.prev = c.next, p.prev
		if c.next != nil {
			c.next.prev = p
		} else {
			l.tail = p
		}
		if p.prev != nil {
			p.prev.next = c
		} else {
			l.head = c
		}
		p.prev, c.next = c, p
	}
}

func (l *list) remove(c *slot) {
	if l == nil {
		return
	}
	c.list = nil
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		l.head = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		l.tail = c.prev
	}
	l.n--
}

// dueAt returns when the first entry will have been in the list for d, in ns. It returns never for an empty
// list.
func (l *list) dueAt(d int64) int64 {
	if l.head == nil {
		return never
	}
	return l.head.since + d
}

type event struct {
	index, generation int32
	in                bool // bytes have arrived, or the peer has closed
	out               bool
	peerClosed        bool
}

type address struct {
	family int
	sa     syscall.Sockaddr
}
