package server

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/tarebench/tare/load/h2"
)

var (
	errSlow = errors.New("a request did not arrive, or an answer was not read, in time")
	errBusy = errors.New("there are as many requests as the service can store")
)

// frames finds the frames in what is sent one way.
type frames struct {
	head  [h2.HeaderLen]byte
	known int // bytes of head
	left  int // bytes of the payload that have not come
}

func (f *frames) kind() h2.Type  { return h2.Type(f.head[3]) }
func (f *frames) flags() byte    { return f.head[4] }
func (f *frames) stream() uint32 { return binary.BigEndian.Uint32(f.head[5:]) & (1<<31 - 1) }
func (f *frames) size() int {
	return int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
}

// scan calls each for every part of a frame in text: begins if it has the frame's
// head, n bytes of payload, and ends if these are the last.
func (f *frames) scan(text []byte, each func(begins bool, payload []byte, ends bool)) {
	for len(text) > 0 {
		if f.known < h2.HeaderLen {
			n := copy(f.head[f.known:], text)
			text = text[n:]
			if f.known += n; f.known < h2.HeaderLen {
				return
			}
			if f.left = f.size(); f.left > 0 {
				each(true, nil, false)
				continue
			}
			each(true, nil, true)
			f.known = 0
			continue
		}
		n := min(f.left, len(text))
		f.left -= n
		each(false, text[:n], f.left == 0)
		text = text[n:]
		if f.left == 0 {
			f.known = 0
		}
	}
}

// watcher looks at the frames of a connection of HTTP/2, in both directions. Every
// request has [ReadTimeout] to arrive, and the answer that a client has no window for
// [WriteTimeout] to be taken. Stacks differ there: some wait for ever. It counts what
// requests in flight store.
type watcher struct {
	budget  *budget
	grow    func(n int) bool
	shrink  func(n int64)
	timeout time.Duration

	mu       sync.Mutex
	in, out  frames
	block    bool      // the header fields of a request go on in the next frame
	partial  time.Time // when what is not finished began; zero: nothing is
	streams  map[uint32]*watched
	last     uint32    // stream that was opened last
	idle     time.Time // since when there is no stream, while there is none
	window   int64     // bytes that the server may send on all streams
	each     int64     // and on a new one
	settings []byte
	err      error
}

// watched is a stream.
type watched struct {
	opened   time.Time
	arrived  bool // the request has ended
	answered bool // the answer has ended
	bytes    int64
	window   int64
	stalled  time.Time // when the window was used up first; zero: it was not
}

func newWatcher(b *budget, timeout time.Duration) *watcher {
	return &watcher{budget: b, timeout: timeout, streams: map[uint32]*watched{}, window: h2.Window, each: h2.Window, idle: time.Now()}
}

// due returns when the connection is to be closed, unless something ends before, or
// begins on an idle one. Zero means never.
func (w *watcher) due() (at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.streams) == 0 {
		at = w.idle.Add(IdleTimeout)
	}
	first := func(t time.Time) {
		if t = t.Add(w.timeout); at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if !w.partial.IsZero() {
		first(w.partial)
	}
	for _, s := range w.streams {
		if !s.arrived {
			first(s.opened)
		}
		if !s.stalled.IsZero() {
			first(s.stalled)
		}
	}
	return at
}

// received looks at what the client has sent.
func (w *watcher) received(text []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ended := &w.in, false
	f.scan(text, func(begins bool, payload []byte, ends bool) {
		if begins {
			w.begin(f)
		}
		switch f.kind() {
		case h2.Settings, h2.WindowUpdate:
			w.adjust(f, payload, ends)
		}
		if ends && f.flags()&h2.EndHeaders != 0 && (f.kind() == h2.Headers || f.kind() == h2.Continuation) {
			w.block = false
		}
		ended = ended || ends && !w.block
		if s := w.streams[f.stream()]; ends && s != nil {
			if f.flags()&h2.EndStream != 0 && (f.kind() == h2.Headers || f.kind() == h2.Data) {
				s.arrived = true
			}
			if f.kind() == h2.RSTStream {
				s.arrived, s.answered = true, true
			}
			w.forget(f.stream(), s)
		}
	})
	switch whole := f.known == 0 && !w.block; {
	case whole:
		w.partial = time.Time{}
	case ended || w.partial.IsZero():
		w.partial = time.Now()
	}
	return w.err
}

// begin looks at the head of a frame of the client's.
func (w *watcher) begin(f *frames) {
	id := f.stream()
	s := w.streams[id]
	switch f.kind() {
	case h2.Headers:
		if w.block = true; s != nil || id <= w.last {
			return // trailers
		}
		if w.last = id; w.budget.streams.Add(1) > maxAllStreams && len(w.streams) > 0 {
			w.budget.refused.Add(1)
			w.err = errBusy
		}
		w.streams[id] = &watched{opened: time.Now(), window: w.each}
	case h2.Data:
		if s == nil || f.size() == 0 {
			return
		}
		if !w.grow(f.size()) {
			w.budget.refused.Add(1)
			w.err = errBusy
			return
		}
		s.bytes += int64(f.size())
	}
}

// adjust reads settings and updates of windows.
func (w *watcher) adjust(f *frames, payload []byte, ends bool) {
	if f.kind() == h2.Settings && (f.flags()&h2.Ack != 0 || f.size() > maxSettings) || f.kind() == h2.WindowUpdate && f.size() != 4 {
		return
	}
	w.settings = append(w.settings, payload...)
	if !ends {
		return
	}
	text := w.settings
	w.settings = nil
	if f.kind() == h2.WindowUpdate {
		n := int64(binary.BigEndian.Uint32(text) & (1<<31 - 1))
		if s := w.streams[f.stream()]; s != nil {
			s.window += n
		} else if f.stream() == 0 {
			w.window += n
		}
		return
	}
	for ; len(text) >= 6; text = text[6:] {
		if binary.BigEndian.Uint16(text) == h2.InitialWindowSize {
			n := int64(binary.BigEndian.Uint32(text[2:]))
			for _, s := range w.streams {
				s.window += n - w.each
			}
			w.each = n
		}
	}
}

// maxSettings is how many bytes of settings are read.
const maxSettings = 1 << 10

// sent looks at what the server sends. It reports whether the client has no window for
// an answer now.
func (w *watcher) sent(text []byte) (stalls bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := &w.out
	f.scan(text, func(begins bool, _ []byte, ends bool) {
		s := w.streams[f.stream()]
		if s == nil {
			return
		}
		if begins && f.kind() == h2.Data {
			s.window -= int64(f.size())
			w.window -= int64(f.size())
		}
		if !ends {
			return
		}
		switch {
		case f.kind() == h2.RSTStream, f.flags()&h2.EndStream != 0 && (f.kind() == h2.Headers || f.kind() == h2.Data):
			s.answered = true
			// A stack with a time limit of its own gives the request up as its time ends:
			// the stream stays, and its connection is closed as that of a slow client.
			late := time.Since(s.opened) >= w.timeout
			s.arrived = s.arrived || f.kind() == h2.RSTStream && !late
		case (s.window <= 0 || w.window <= 0) && s.stalled.IsZero() && (f.kind() == h2.Headers || f.kind() == h2.Data):
			s.stalled, stalls = time.Now(), true
		}
		w.forget(f.stream(), s)
	})
	return stalls
}

// forget forgets a stream that has ended.
func (w *watcher) forget(id uint32, s *watched) {
	if s.arrived && s.answered {
		delete(w.streams, id)
		w.idle = time.Now()
		w.budget.streams.Add(-1)
		w.shrink(s.bytes)
	}
}

// end forgets all streams.
func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.budget.streams.Add(-int64(len(w.streams)))
	clear(w.streams)
}

// speakHTTP2 lets the connection pass from now on.
func (c *gatedConn) speakHTTP2() {
	w := newWatcher(c.gate.budget, c.gate.timeout)
	w.grow = c.grow
	w.shrink = func(n int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed {
			c.share.shrink(n)
		}
	}
	c.first = false
	c.err = w.received(c.in[len(h2.Preface):])
	c.h2.Store(w)
}

// readFrames reads what has come, and closes the connection of a client that is slow.
func (c *gatedConn) readFrames(p []byte) (int, error) {
	if len(c.in) > 0 {
		n := copy(p, c.in)
		if c.in = c.in[n:]; len(c.in) == 0 {
			c.in = nil
		}
		return n, nil
	}
	for w := c.h2.Load(); c.err == nil; {
		own, err := c.untilDue(w)
		if err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(p)
		if n > 0 {
			if c.err = w.received(p[:n]); c.err == nil {
				return n, nil
			}
			break
		}
		due := w.due()
		switch {
		case !isTimeout(err) || !own && c.expired():
			c.err = err
		case !due.IsZero() && !time.Now().Before(due):
			c.err = errSlow
		}
	}
	return 0, c.err
}

// untilDue puts the earlier one in force of when the connection is to be closed and of
// the stack's deadline. It reports whether that is the first.
func (c *gatedConn) untilDue(w *watcher) (bool, error) {
	due := w.due()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own = !due.IsZero() && (c.deadline.IsZero() || due.Before(c.deadline)); !c.own {
		due = c.deadline
	}
	return c.own, c.Conn.SetReadDeadline(due)
}

// expired reports whether the stack's deadline is over.
func (c *gatedConn) expired() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.deadline.IsZero() && !time.Now().Before(c.deadline)
}
