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

// frames splits the bytes of one direction into frames.
type frames struct {
	head  [h2.HeaderLen]byte
	known int // bytes of head
	left  int // bytes of the payload that have not arrived
}

func (f *frames) frameType() h2.Type { return h2.Type(f.head[3]) }
func (f *frames) frameFlags() byte   { return f.head[4] }
func (f *frames) streamID() uint32   { return binary.BigEndian.Uint32(f.head[5:]) & (1<<31 - 1) }
func (f *frames) payloadSize() int {
	return int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
}

// scanFrames calls each for every part of a frame in text: begins if it has the frame's head, n bytes of
// payload, and ends if these are the last.
func (f *frames) scanFrames(text []byte, each func(begins bool, payload []byte, ends bool)) {
	for len(text) > 0 {
		if f.known < h2.HeaderLen {
			n := copy(f.head[f.known:], text)
			text = text[n:]
			if f.known += n; f.known < h2.HeaderLen {
				return
			}
			if f.left = f.payloadSize(); f.left > 0 {
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

// watcher inspects the frames of a connection of HTTP/2, in both directions. Every request has [ReadTimeout]
// to arrive, and an answer for which the client has no window has [WriteTimeout] to be read. Stacks differ
// there: some wait for ever. It counts the bytes that requests in flight store.
type watcher struct {
	budget  *budget
	grow    func(n int) bool
	shrink  func(n int64)
	timeout time.Duration

	mu       sync.Mutex
	in, out  frames
	block    bool      // the header fields of a request continue in the next frame
	partial  time.Time // start of an incomplete frame or block; zero if there is none
	streams  map[uint32]*streamState
	last     uint32    // the last opened stream
	idle     time.Time // start of the time without a stream
	window   int64     // bytes that the server may send on all streams
	each     int64     // and on each new one
	settings []byte
	err      error
}

// streamState is the state of one stream.
type streamState struct {
	opened   time.Time
	arrived  bool // the request has ended
	answered bool // the answer has ended
	bytes    int64
	window   int64
	stalled  time.Time // time when the window was first used up; zero if it was not
}

func newWatcher(b *budget, timeout time.Duration) *watcher {
	return &watcher{budget: b, timeout: timeout, streams: map[uint32]*streamState{}, window: h2.Window, each: h2.Window, idle: time.Now()}
}

// closeTime returns when the connection must be closed, unless a request ends before that, or one starts on an
// idle connection. Zero means never.
func (w *watcher) closeTime() (at time.Time) {
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

// inspectInput processes bytes from the client.
func (w *watcher) inspectInput(text []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ended := &w.in, false
	f.scanFrames(text, func(begins bool, payload []byte, ends bool) {
		if begins {
			w.inspectHead(f)
		}
		switch f.frameType() {
		case h2.Settings, h2.WindowUpdate:
			w.readWindows(f, payload, ends)
		}
		if ends && f.frameFlags()&h2.EndHeaders != 0 && (f.frameType() == h2.Headers || f.frameType() == h2.Continuation) {
			w.block = false
		}
		ended = ended || ends && !w.block
		if s := w.streams[f.streamID()]; ends && s != nil {
			if f.frameFlags()&h2.EndStream != 0 && (f.frameType() == h2.Headers || f.frameType() == h2.Data) {
				s.arrived = true
			}
			if f.frameType() == h2.RSTStream {
				s.arrived, s.answered = true, true
			}
			w.removeEnded(f.streamID(), s)
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

// inspectHead processes the head of a frame from the client.
func (w *watcher) inspectHead(f *frames) {
	id := f.streamID()
	s := w.streams[id]
	switch f.frameType() {
	case h2.Headers:
		if w.block = true; s != nil || id <= w.last {
			return // trailers
		}
		if w.last = id; w.budget.streams.Add(1) > maxAllStreams && len(w.streams) > 0 {
			w.budget.refused.Add(1)
			w.err = errBusy
		}
		w.streams[id] = &streamState{opened: time.Now(), window: w.each}
	case h2.Data:
		if s == nil || f.payloadSize() == 0 {
			return
		}
		if !w.grow(f.payloadSize()) {
			w.budget.refused.Add(1)
			w.err = errBusy
			return
		}
		s.bytes += int64(f.payloadSize())
	}
}

// readWindows processes settings and updates of windows.
func (w *watcher) readWindows(f *frames, payload []byte, ends bool) {
	if f.frameType() == h2.Settings && (f.frameFlags()&h2.Ack != 0 || f.payloadSize() > maxSettings) || f.frameType() == h2.WindowUpdate && f.payloadSize() != 4 {
		return
	}
	w.settings = append(w.settings, payload...)
	if !ends {
		return
	}
	text := w.settings
	w.settings = nil
	if f.frameType() == h2.WindowUpdate {
		n := int64(binary.BigEndian.Uint32(text) & (1<<31 - 1))
		if s := w.streams[f.streamID()]; s != nil {
			s.window += n
		} else if f.streamID() == 0 {
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

// maxSettings limits the bytes of settings that are read.
const maxSettings = 1 << 10

// inspectOutput processes bytes from the server. It reports whether the client has no window for an answer
// now.
func (w *watcher) inspectOutput(text []byte) (stalls bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := &w.out
	f.scanFrames(text, func(begins bool, _ []byte, ends bool) {
		s := w.streams[f.streamID()]
		if s == nil {
			return
		}
		if begins && f.frameType() == h2.Data {
			s.window -= int64(f.payloadSize())
			w.window -= int64(f.payloadSize())
		}
		if !ends {
			return
		}
		switch {
		case f.frameType() == h2.RSTStream, f.frameFlags()&h2.EndStream != 0 && (f.frameType() == h2.Headers || f.frameType() == h2.Data):
			s.answered = true
			// A stack with a time limit of its own drops the request when its time ends:
			// the stream stays, and its connection is closed as that of a slow client.
			late := time.Since(s.opened) >= w.timeout
			s.arrived = s.arrived || f.frameType() == h2.RSTStream && !late
		case (s.window <= 0 || w.window <= 0) && s.stalled.IsZero() && (f.frameType() == h2.Headers || f.frameType() == h2.Data):
			s.stalled, stalls = time.Now(), true
		}
		w.removeEnded(f.streamID(), s)
	})
	return stalls
}

// removeEnded removes a stream that has ended.
func (w *watcher) removeEnded(id uint32, s *streamState) {
	if s.arrived && s.answered {
		delete(w.streams, id)
		w.idle = time.Now()
		w.budget.streams.Add(-1)
		w.shrink(s.bytes)
	}
}

// removeAll removes all streams.
func (w *watcher) removeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.budget.streams.Add(-int64(len(w.streams)))
	clear(w.streams)
}

// speakHTTP2 makes later bytes of the connection pass through.
func (c *gatedConn) speakHTTP2() {
	w := newWatcher(c.gate.budget, c.gate.timeout)
	w.grow = c.reserveBytes
	w.shrink = func(n int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed {
			c.share.removeBytes(n)
		}
	}
	c.first = false
	c.err = w.inspectInput(c.in[len(h2.Preface):])
	c.h2.Store(w)
}

// readFrames reads available bytes, and closes the connection of a slow client.
func (c *gatedConn) readFrames(p []byte) (int, error) {
	if len(c.in) > 0 {
		n := copy(p, c.in)
		if c.in = c.in[n:]; len(c.in) == 0 {
			c.in = nil
		}
		return n, nil
	}
	for w := c.h2.Load(); c.err == nil; {
		own, err := c.setDueDeadline(w)
		if err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(p)
		if n > 0 {
			if c.err = w.inspectInput(p[:n]); c.err == nil {
				return n, nil
			}
			break
		}
		due := w.closeTime()
		switch {
		case !isTimeout(err) || !own && c.isExpired():
			c.err = err
		case !due.IsZero() && !time.Now().Before(due):
			c.err = errSlow
		}
	}
	return 0, c.err
}

// setDueDeadline sets the earlier one of the connection's close time and the stack's deadline. It reports
// whether that is the close time.
func (c *gatedConn) setDueDeadline(w *watcher) (bool, error) {
	due := w.closeTime()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own = !due.IsZero() && (c.deadline.IsZero() || due.Before(c.deadline)); !c.own {
		due = c.deadline
	}
	return c.own, c.Conn.SetReadDeadline(due)
}

// isExpired reports whether the stack's deadline has passed.
func (c *gatedConn) isExpired() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.deadline.IsZero() && !time.Now().Before(c.deadline)
}
