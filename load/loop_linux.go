//go:build linux && (amd64 || arm64)

package load

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
)

// loop is the engine for Linux: threads that each wait for many sockets, by epoll
// or by io_uring. What makes it cheap: a connection is registered once in its life,
// a request is a ready piece of memory, and no scheduler is asked while there is
// work.
type loop struct {
	s    *settings
	kind Engine // Epoll or Uring
	all  []*thread
	done chan struct{}
}

// newLoop starts the threads, which wait for a leg. It raises GOMAXPROCS to
// one more than there are threads where it is less: with none to spare the Go
// scheduler takes away the processor of each thread that waits, which made a
// request a fifth more expensive on a single one.
func newLoop(s *settings, kind Engine) (engine, error) {
	if runtime.GOMAXPROCS(0) <= s.Threads {
		runtime.GOMAXPROCS(s.Threads + 1)
	}
	e := &loop{s: s, kind: kind, done: make(chan struct{}, s.Threads)}
	for i := range s.Threads {
		t, err := newThread(e, i)
		if err != nil {
			e.close()
			return nil, fmt.Errorf("engine %s: %w", kind, err)
		}
		e.all = append(e.all, t)
	}
	return e, nil
}

func (e *loop) name() Engine   { return e.kind }
func (e *loop) threads() int   { return len(e.all) }
func (e *loop) parties() int   { return len(e.all) }
func (e *loop) recorders() int { return len(e.all) }

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
		t.net.ring()
	}
}

// used is what the threads have used; over TLS what all of the process has, whose
// other threads collect the garbage of handshakes.
func (e *loop) used() usage {
	sum := e.usedByThreads()
	if e.s.Target.TLS != nil {
		sum.cpu = processCPU()
	}
	return sum
}

func (e *loop) usedByThreads() usage {
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

// maxDialing is how many connections a thread opens at a time: a server's
// backlog is not endless, and a connection it turns away waits for a second.
const maxDialing = 64

// conn is a place for one request at a time on a connection: HTTP/1.1 has one of
// them on each, HTTP/2 as many as streams may be open. It is in one of its thread's
// lists, and which one says what it is doing. Those of a connection that is not open
// are in none, but for the first, which stands for the connection; so are those of
// an open one that the server has no room for.
type conn struct {
	prev, next *conn
	in         *list
	since      int64 // ns when it was put there
	link       *link
	number     int  // among the places of its connection
	last       bool // HTTP/1.1: the connection is closed after this answer
	x          exchange
}

// link is one connection.
type link struct {
	index   int32
	turn    int32 // grows when the descriptor is closed: events of an old one are told by it
	fd      int
	addr    int     // of the engine's addresses, the one to try
	made    bool    // in this leg, at least once
	again   bool    // it was open before
	opened  bool    // requests can be sent
	gone    bool    // the other side has closed: the end is still to be read
	deaf    bool    // nothing more can be sent
	owes    bool    // it is among the thread's owing
	more    bool    // it is among the thread's unread
	uses    int     // requests since it was opened
	rest    []byte  // still to be sent; over TLS still to be encrypted
	own     []byte  // room for a request with numbers of its own
	numbers []int64 // HTTP/1.1: room for those
	f       framer1
	secure  *secure // TLS; nil: plain text
	places  []conn

	h    *http2 // nil: HTTP/1.1
	used int    // HTTP/2: places in a list
	busy int    // HTTP/2: requests under way
	got  int64  // HTTP/2: bytes received that no request's account has yet
	sent int    // HTTP/2: the same of bytes sent
}

// first is the place that stands for the connection.
func (l *link) first() *conn { return &l.places[0] }

// list is a list of connections in the order they were put in, and so in that
// of their times.
type list struct {
	head, tail *conn
	n          int
}

func (l *list) push(c *conn, now int64) {
	c.in.remove(c)
	c.in, c.since, c.prev, c.next = l, now, l.tail, nil
	if l.tail != nil {
		l.tail.next = c
	} else {
		l.head = c
	}
	l.tail = c
	l.n++
}

// insert puts c where its time belongs, which is near the end.
func (l *list) insert(c *conn, since int64) {
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

func (l *list) remove(c *conn) {
	if l == nil {
		return
	}
	c.in = nil
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

// due is when the first in the list has been there for d; never for an empty
// one.
func (l *list) due(d int64) int64 {
	if l.head == nil {
		return never
	}
	return l.head.since + d
}

// sockets is how a thread reaches its sockets, and hears what has happened to them.
type sockets interface {
	// watch begins to watch l.fd, which is being connected.
	watch(l *link) error
	// send has the socket take b, and returns how much of it was taken since the
	// last call. With EAGAIN an event says when to call again, with the rest, which
	// the caller keeps as it is until then.
	send(l *link, b []byte) (n int, errno syscall.Errno)
	// receive takes what has come: nothing without an error is the end. b is room,
	// or lent until the next call; more says that there may be more.
	receive(l *link, room []byte) (b []byte, more bool, errno syscall.Errno)
	// shut closes l.fd; what happens to it afterwards is nobody's.
	shut(l *link)
	// wait hands what happens to the thread, and waits for it for d at most. It
	// returns how many events there were.
	wait(d time.Duration) int
	// settle does what was put off until the next wait.
	settle()
	// ring ends a wait, or the next one; other threads call it.
	ring()
	close()
}

// event is what has happened to a connection.
type event struct {
	index, turn int32
	in          bool // something has come, or the end
	out         bool // the socket takes more, or is connected
	gone        bool // the other side has closed
}

// address is one to connect to.
type address struct {
	family int
	sa     syscall.Sockaddr
}
