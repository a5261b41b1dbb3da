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

// This file watches connections of HTTP/2, which consist of frames. A frame has a head and a payload. A request is a
// block of header fields, in one frame or several, and then frames of data. Its answer has the same form. All frames
// of a request and its answer have the id of one stream.

// frameScanner splits the bytes of one direction of an HTTP/2 connection into frames. The bytes arrive in parts of
// any size.
type frameScanner struct {
	head    [h2.HeaderLen]byte // head of the current frame
	headLen int                // number of bytes of head that have arrived
	missing int                // number of bytes of the payload that have not arrived
}

func (f *frameScanner) frameType() h2.Type { return h2.Type(f.head[3]) }
func (f *frameScanner) frameFlags() byte   { return f.head[4] }
func (f *frameScanner) streamID() uint32   { return binary.BigEndian.Uint32(f.head[5:]) & (1<<31 - 1) }
func (f *frameScanner) payloadSize() int {
	return int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
}

// framePart is a part of a frame. Its payload is valid until each, which receives it, returns.
type framePart struct {
	payload []byte
	begins  bool // the frame's head is complete; this part has no payload
	ends    bool // this is the last part of the frame
}

// scanFrames calls each for every part of a frame in text: first as soon as the frame's head is complete, and then for
// each part of the payload.
func (f *frameScanner) scanFrames(text []byte, each func(part framePart)) {
	for len(text) > 0 {
		var part framePart
		if f.headLen < h2.HeaderLen {
			n := copy(f.head[f.headLen:], text)
			text = text[n:]
			if f.headLen += n; f.headLen < h2.HeaderLen {
				return
			}
			f.missing = f.payloadSize()
			part.begins = true
		} else {
			n := min(f.missing, len(text))
			f.missing -= n
			part.payload, text = text[:n], text[n:]
		}
		part.ends = f.missing == 0
		each(part)
		if part.ends {
			f.headLen = 0
		}
	}
}

// watcher inspects the frames of a connection of HTTP/2, in both directions, as they pass between the client and
// the stack, the framework's server. It limits the time in which a request must arrive, and the time that an answer
// may wait for a client whose flow-control window is used up. Stacks differ in these limits: some wait for ever. The
// watcher also counts the bytes that requests in flight store.
type watcher struct {
	budget  *budget
	grow    func(n int) bool // reserves n bytes of the budget; false if it is used up
	shrink  func(n int64)    // gives n reserved bytes back
	timeout time.Duration    // for a request to arrive, and for an answer after the window was used up

	mu           sync.Mutex
	in, out      frameScanner            // frames from the client, and to the client
	inBlock      bool                    // the header fields of a request continue in the next frame
	partial      time.Time               // start of an incomplete frame or block; zero if all are complete
	streams      map[uint32]*streamState // open streams
	last         uint32                  // id of the last opened stream
	idle         time.Time               // start of the time without a stream
	window       int64                   // bytes that the server may still send, over all streams
	streamWindow int64                   // bytes that the server may send on each new stream
	settings     []byte                  // payload of a settings or window update frame so far
	err          error                   // why the connection must be closed; nil if it may continue
}

// streamState is the state of one stream.
type streamState struct {
	opened   time.Time
	arrived  bool      // the request has ended
	answered bool      // the answer has ended
	bytes    int64     // bytes of the request's body so far, which are reserved in the budget
	window   int64     // bytes that the server may still send on this stream
	stalled  time.Time // time when the window was first used up; zero if it was not
}

func newWatcher(b *budget, timeout time.Duration) *watcher {
	return &watcher{budget: b, timeout: timeout, streams: map[uint32]*streamState{}, window: h2.Window, streamWindow: h2.Window, idle: time.Now()}
}

// closeTime returns the time at which the first of the time limits is exceeded, so that the connection must be
// closed; zero means never. The time moves when a request ends, or when one starts on an idle connection.
func (w *watcher) closeTime() (earliest time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.streams) == 0 {
		earliest = w.idle.Add(IdleTimeout)
	}
	limit := func(start time.Time) {
		if end := start.Add(w.timeout); earliest.IsZero() || end.Before(earliest) {
			earliest = end
		}
	}
	if !w.partial.IsZero() {
		limit(w.partial)
	}
	for _, s := range w.streams {
		if !s.arrived {
			limit(s.opened)
		}
		if !s.stalled.IsZero() {
			limit(s.stalled)
		}
	}
	return earliest
}

// inspectInput processes bytes from the client. It returns an error if the connection must be closed.
func (w *watcher) inspectInput(text []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := &w.in
	unitEnded := false // text has the end of a unit: a block of header fields, or a frame outside of a block
	f.scanFrames(text, func(part framePart) {
		if part.begins {
			w.inspectHead(f)
		}
		if f.frameType() == h2.Settings || f.frameType() == h2.WindowUpdate {
			w.readWindows(f, part)
		}
		if !part.ends {
			return
		}
		isBlockPart := f.frameType() == h2.Headers || f.frameType() == h2.Continuation
		if isBlockPart && f.frameFlags()&h2.EndHeaders != 0 {
			w.inBlock = false
		}
		if !w.inBlock {
			unitEnded = true
		}
		if s := w.streams[f.streamID()]; s != nil {
			switch f.frameEffect() {
			case messageEnds:
				s.arrived = true
			case streamEnds:
				s.arrived, s.answered = true, true
			}
			w.removeEnded(f.streamID(), s)
		}
	})
	isUnitOpen := f.headLen > 0 || w.inBlock
	switch {
	case !isUnitOpen:
		w.partial = time.Time{}
	case unitEnded || w.partial.IsZero(): // the open unit has started within text
		w.partial = time.Now()
	}
	return w.err
}

// frameEffect is the effect of a complete frame on the request or the answer (the message) that it belongs to.
type frameEffect int

const (
	messageContinues frameEffect = iota // more frames follow, or the frame belongs to no message
	messageEnds                         // the frame is the last one of the message
	streamEnds                          // the frame ends the stream early, with its request and its answer
)

func (f *frameScanner) frameEffect() frameEffect {
	switch f.frameType() {
	case h2.RSTStream:
		return streamEnds
	case h2.Headers, h2.Data:
		if f.frameFlags()&h2.EndStream != 0 {
			return messageEnds
		}
	}
	return messageContinues
}

// inspectHead processes the head of a frame from the client.
func (w *watcher) inspectHead(f *frameScanner) {
	id := f.streamID()
	s := w.streams[id]
	switch f.frameType() {
	case h2.Headers:
		w.inBlock = true
		isTrailers := s != nil || id <= w.last // fields after the body: the stream was opened before
		if isTrailers {
			return
		}
		w.last = id
		tooManyStreams := w.budget.streams.Add(1) > maxAllStreams && len(w.streams) > 0 // each connection may have one
		if tooManyStreams {
			w.budget.refused.Add(1)
			w.err = errBusy
		}
		w.streams[id] = &streamState{opened: time.Now(), window: w.streamWindow}
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

// maxSettings limits the bytes of a settings frame that are read.
const maxSettings = 1 << 10

// readWindows processes a part of a settings or window update frame, which set how many bytes the client lets the
// server send. It ignores acknowledgements, and frames of an invalid or unusually large size.
func (w *watcher) readWindows(f *frameScanner, part framePart) {
	isUpdate := f.frameType() == h2.WindowUpdate
	isRead := f.payloadSize() == 4
	if !isUpdate {
		isRead = f.frameFlags()&h2.Ack == 0 && f.payloadSize() <= maxSettings
	}
	if !isRead {
		return
	}
	w.settings = append(w.settings, part.payload...)
	if !part.ends {
		return
	}
	text := w.settings
	w.settings = nil
	if isUpdate {
		w.addToWindow(f.streamID(), int64(binary.BigEndian.Uint32(text)&(1<<31-1)))
		return
	}
	const settingSize = 6 // bytes: the setting's id in two, its value in four
	for ; len(text) >= settingSize; text = text[settingSize:] {
		if binary.BigEndian.Uint16(text) == h2.InitialWindowSize {
			w.setStreamWindow(int64(binary.BigEndian.Uint32(text[2:])))
		}
	}
}

// addToWindow lets the server send n more bytes on a stream, or over all streams if id is 0.
func (w *watcher) addToWindow(id uint32, n int64) {
	if s := w.streams[id]; s != nil {
		s.window += n
	} else if id == 0 {
		w.window += n
	}
}

// setStreamWindow sets the initial window of each stream to n bytes. It applies to open streams, too, less the bytes
// that they have already used: RFC 9113, section 6.9.2.
func (w *watcher) setStreamWindow(n int64) {
	for _, s := range w.streams {
		s.window += n - w.streamWindow
	}
	w.streamWindow = n
}

// inspectOutput processes bytes from the server. It returns true if they have used up the window for an answer.
func (w *watcher) inspectOutput(text []byte) (stalls bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := &w.out
	f.scanFrames(text, func(part framePart) {
		s := w.streams[f.streamID()]
		if s == nil {
			return
		}
		if part.begins && f.frameType() == h2.Data {
			s.window -= int64(f.payloadSize())
			w.window -= int64(f.payloadSize())
		}
		if !part.ends {
			return
		}
		switch f.frameEffect() {
		case messageEnds:
			s.answered = true
		case streamEnds:
			s.answered = true
			// A stack that has a time limit, too, resets the stream of a slow request. Such a request
			// counts as not arrived, so that the stream remains in w.streams, and closeTime lets the
			// slow client's connection be closed.
			isLate := time.Since(s.opened) >= w.timeout
			s.arrived = s.arrived || !isLate
		case messageContinues:
			isAnswer := f.frameType() == h2.Headers || f.frameType() == h2.Data
			isUsedUp := s.window <= 0 || w.window <= 0
			if isAnswer && isUsedUp && s.stalled.IsZero() {
				s.stalled, stalls = time.Now(), true
			}
		}
		w.removeEnded(f.streamID(), s)
	})
	return stalls
}

// removeEnded removes a stream if its request and its answer have ended.
func (w *watcher) removeEnded(id uint32, s *streamState) {
	if s.arrived && s.answered {
		delete(w.streams, id)
		w.idle = time.Now()
		w.budget.streams.Add(-1)
		w.shrink(s.bytes)
	}
}

// removeAll removes all streams of a connection that is closed.
func (w *watcher) removeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.budget.streams.Add(-int64(len(w.streams)))
	clear(w.streams)
}

// speakHTTP2 switches the connection to HTTP/2: later bytes pass through, and a watcher inspects them.
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

// readFrames returns bytes from the client as they arrive. It returns an error, after which the stack closes the
// connection, if the client exceeds a limit.
func (c *gatedConn) readFrames(p []byte) (int, error) {
	if len(c.in) > 0 {
		n := copy(p, c.in)
		if c.in = c.in[n:]; len(c.in) == 0 {
			c.in = nil
		}
		return n, nil
	}
	for w := c.h2.Load(); c.err == nil; {
		isCloseTime, err := c.setDueDeadline(w)
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
		isStackDeadline := !isCloseTime && c.isExpired()
		switch {
		case !isTimeout(err), isStackDeadline:
			c.err = err
		case isPast(w.closeTime()):
			c.err = errSlow
		} // otherwise the deadline has moved: read again
	}
	return 0, c.err
}

// setDueDeadline sets the read deadline to the connection's close time or the stack's deadline, whichever is
// earlier. It returns true if the close time is the earlier one.
func (c *gatedConn) setDueDeadline(w *watcher) (isCloseTime bool, err error) {
	due := w.closeTime()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gatesDeadline = !due.IsZero() && (c.deadline.IsZero() || due.Before(c.deadline))
	if !c.gatesDeadline {
		due = c.deadline
	}
	return c.gatesDeadline, c.Conn.SetReadDeadline(due)
}

// isExpired reports whether the stack's deadline has passed.
func (c *gatedConn) isExpired() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return isPast(c.deadline)
}

// isPast reports whether a deadline has passed. A zero deadline never passes.
func isPast(deadline time.Time) bool { return !deadline.IsZero() && !time.Now().Before(deadline) }
