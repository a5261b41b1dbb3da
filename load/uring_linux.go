//go:build linux && (amd64 || arm64)

package load

import (
	"math"
	"math/bits"
	"os"
	"syscall"
	"time"

	"github.com/tarebench/tare/load/uring"
)

const (
	maxQueued   = 256      // requests that are filled in before they are submitted
	maxFinished = 4096     // completions that wait to be taken
	bufferSize  = 16 << 10 // of what is received at a time
	maxBuffers  = 256
	maxBatch    = 8 // requests that are submitted together: the time of the first one is read before the last one is sent
)

// What a completion is about: the two lowest bits of its data. Above them are the
// connection's index and its turn.
const (
	ofNothing = iota // a descriptor was closed
	ofConnecting
	ofReceiving
	ofSending
	ofBell = math.MaxUint64 // no connection's
)

func dataOf(l *link, kind uint64) uint64 {
	return uint64(uint32(l.generation))<<32 | uint64(uint32(l.index))<<2 | kind
}

// uringSockets are a thread's sockets by io_uring: requests are handed to the
// kernel some at a time, and it goes on receiving on a connection until told
// otherwise, so that an answer takes no system call of its own.
type uringSockets struct {
	t       *thread
	kernel  *uring.Ring
	buffers *uring.Buffers
	bell    int
	flows   []flow // of each connection
	under   int    // requests to the kernel without their last completion
	next    int    // the completion to be taken next
	holder  *flow  // whose come is in buffer held
	held    int
}

// flow is what is under way between the kernel and a connection.
type flow struct {
	out    []byte // in memory that the kernel reads
	sends  bool   // the kernel is sending it
	sent   bool   // result is news
	result int32  // of sending; negative: an error

	come []byte        // that has been received
	own  []byte        // room for what outlives its buffer
	rest bool          // there is more to be received, or the end
	end  bool          // the end has come
	bad  syscall.Errno // or this
}

func newUringSockets(t *thread) (_ sockets, err error) {
	u := &uringSockets{t: t, bell: -1, flows: make([]flow, len(t.links))}
	if u.kernel, err = uring.Open(maxQueued, maxFinished); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			u.close()
		}
	}()
	n := min(maxBuffers, max(16, 1<<bits.Len(uint(len(t.links)-1))))
	if u.buffers, err = u.kernel.Buffers(n, bufferSize); err != nil {
		return nil, err
	}
	if u.bell, err = newBell(); err != nil {
		return nil, os.NewSyscallError("eventfd2", err)
	}
	u.listen()
	return u, nil
}

// listen hears the bell.
func (u *uringSockets) listen() {
	u.kernel.PollIn(u.bell, ofBell)
	u.under++
}

func (u *uringSockets) watch(l *link) error {
	f := &u.flows[l.index]
	*f = flow{own: f.own[:0]}
	u.kernel.PollOut(l.fd, dataOf(l, ofConnecting))
	u.under++
	return nil
}

func (u *uringSockets) send(l *link, b []byte) (n int, errno syscall.Errno) {
	f := &u.flows[l.index]
	if f.sends {
		return 0, syscall.EAGAIN
	}
	if f.sent {
		f.sent = false
		switch e := syscall.Errno(max(0, -f.result)); e {
		case 0:
			n = int(f.result)
		case syscall.EAGAIN, syscall.EINTR:
		default:
			return 0, e
		}
	}
	if len(b) == n {
		return n, 0
	}
	f.out, f.sends = b[n:], true
	u.kernel.Send(l.fd, f.out, dataOf(l, ofSending))
	u.under++
	if u.kernel.Queued() >= maxBatch {
		_ = u.kernel.Submit() // requests that were not taken stay queued
	}
	return n, syscall.EAGAIN
}

func (u *uringSockets) receive(l *link, room []byte) (b []byte, more bool, errno syscall.Errno) {
	f := &u.flows[l.index]
	if len(f.come) == 0 && f.rest {
		u.ahead(l)
	}
	switch {
	case len(f.come) > 0:
		n := min(len(room), len(f.come))
		b, f.come = f.come[:n], f.come[n:]
		return b, len(f.come) > 0 || f.rest, 0
	case f.bad != 0:
		return nil, false, f.bad
	case f.end:
		return nil, false, 0
	}
	return nil, false, syscall.EAGAIN
}

// ahead takes what has come of a connection before its turn: the kernel has said
// that there is more.
func (u *uringSockets) ahead(l *link) {
	data := dataOf(l, ofReceiving)
	for i := u.next; i < u.kernel.Ready(); i++ {
		if c := u.kernel.At(i); c.Data == data {
			u.received(l, *c)
			*c = uring.Completion{Data: ofNothing}
			return
		}
	}
}

// received takes what has come, and reports whether it is news to the connection.
func (u *uringSockets) received(l *link, c uring.Completion) bool {
	u.release()
	f := &u.flows[l.index]
	id, buffered := c.Buffer()
	f.rest = c.Res > 0 && c.Rest()
	switch errno := syscall.Errno(max(0, -c.Res)); {
	case c.Res > 0 && l.secure != nil: // crypto/tls may leave some of it
		f.own = append(f.own[:copy(f.own[:cap(f.own)], f.come)], u.buffers.Bytes(id, int(c.Res))...)
		f.come = f.own
	case c.Res > 0:
		f.come, u.holder, u.held = u.buffers.Bytes(id, int(c.Res)), f, id
		buffered = false
	case c.Res == 0:
		f.end = true
	case errno != syscall.ENOBUFS && errno != syscall.EINTR:
		f.bad = errno
	}
	if buffered {
		u.buffers.Return(id)
	}
	if !c.More() {
		u.under--
		if !f.end && f.bad == 0 {
			u.begin(l)
		}
	}
	return len(f.come) > 0 || f.end || f.bad != 0
}

// begin has the kernel receive on a connection.
func (u *uringSockets) begin(l *link) {
	u.kernel.Receive(l.fd, dataOf(l, ofReceiving))
	u.under++
}

// release gives the buffer back that was lent.
func (u *uringSockets) release() {
	if u.holder != nil {
		u.buffers.Return(u.held)
		u.holder.come, u.holder = nil, nil
	}
}

func (u *uringSockets) shut(l *link) { u.kernel.Shut(l.fd, ofNothing) }

func (u *uringSockets) wait(d time.Duration) (n int) {
	u.release()
	u.kernel.Wait(min(d, time.Hour))
	for all := u.kernel.Ready(); u.next < all; {
		c := *u.kernel.At(u.next)
		u.next++
		if u.finished(c) {
			n++
		}
	}
	u.kernel.Take(u.next)
	u.next = 0
	return n
}

// finished hands a completion to its connection, and reports whether it was news
// to it.
func (u *uringSockets) finished(c uring.Completion) bool {
	kind := c.Data & 3
	switch {
	case c.Data == ofBell:
		if !c.More() {
			u.under--
			u.listen()
		}
		return false
	case kind == ofNothing:
		return false
	}
	ev := event{index: int32(uint32(c.Data) >> 2), generation: int32(c.Data >> 32)}
	l := &u.t.links[ev.index]
	if l.generation != ev.generation { // of a connection that was shut
		u.gone(c)
		return false
	}
	f := &u.flows[l.index]
	switch kind {
	case ofReceiving:
		if !u.received(l, c) {
			return false
		}
		ev.in, ev.peerClosed = true, f.end || f.bad != 0
	case ofSending:
		u.under--
		f.sends, f.sent, f.result = false, true, c.Res
		ev.out = true
	case ofConnecting:
		u.under--
		ev.out = true
	}
	u.t.handleEvent(ev)
	if kind == ofConnecting && l.generation == ev.generation {
		u.begin(l)
	}
	return true
}

// gone takes a completion that concerns no connection any more.
func (u *uringSockets) gone(c uring.Completion) {
	if id, buffered := c.Buffer(); buffered {
		u.buffers.Return(id)
	}
	if !c.More() {
		u.under--
	}
}

func (u *uringSockets) settle() {
	u.release()
	u.kernel.Wait(0)
}

func (u *uringSockets) ring() { ringBell(u.bell) }

// close waits until the kernel has let go of what it was to do: it reads and writes
// memory of this process.
func (u *uringSockets) close() {
	if u.bell >= 0 {
		u.kernel.Shut(u.bell, ofNothing)
	}
	for end := time.Now().Add(time.Second); (u.under > 0 || u.kernel.Queued() > 0) && time.Now().Before(end); {
		u.kernel.Wait(10 * time.Millisecond)
		n := u.kernel.Ready()
		for i := range n {
			if c := *u.kernel.At(i); c.Data&3 != ofNothing {
				u.gone(c)
			}
		}
		u.kernel.Take(n)
	}
	u.kernel.Close()
}
