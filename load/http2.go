package load

import (
	"math"
	"sync/atomic"

	"github.com/tarebench/tare/load/h2"
)

// What this side settles in bytes: how much of an answer's body may be under way,
// of one stream and of all, before the server has to hear that it was read.
const (
	streamRoom = 1 << 20
	connRoom   = 4 << 20
)

const (
	mostOffered = 64 << 10 // bytes of DATA handed out at a time
	mostOwed    = 64 << 10 // bytes of replies to what a server sends, beyond which it only wants replies
	mostBeside  = 4 << 20  // bytes of frames that belong to no answer, unknown ones too, from one answer to the next
)

// http2 speaks HTTP/2 (RFC 9113), and gRPC over it, with as many streams open at a
// time as it has calls. It is as strict as framer1 is: what a server must not send
// is refused.
//
// Both sides' header blocks use dynamic tables of the usual size, as clients' do.
type http2 struct {
	grpc    bool
	reader  h2.Reader
	decoder *h2.Decoder
	encoder h2.Encoder
	fields  fields
	field   func(name, value []byte) error // take, made once

	out, handed []byte // to be sent, and what was last handed out
	written     int64  // bytes handed out since the connection began
	replied     int    // bytes of out that are replies

	greeted bool   // the server's settings have come
	leaving bool   // it will take no more streams
	stream  uint32 // the last that was opened; 0: none
	most    uint32 // streams the server lets be open at a time
	now     int64  // ns: when what is fed came; the engines of threads set it
	fed     int    // times something was
	beside  int    // bytes of frames since the last answer that belong to none

	calls []call
	over  []int // calls that were decided by what was fed last

	// What may still be sent, of all streams, and what streams begin with. Less
	// than none where the server has changed its mind.
	sendConn, initial int64
	// The same for what may come, with what was read since the server last heard.
	roomConn, readConn int64

	block     []byte // of a head that has not come whole
	within    *call  // whose head that is; nil: there is none
	blockEnds bool   // the stream ends with it
	listed    *int   // of the fields that they came to
}

// call is one request and its answer: the streams of a call follow each other.
type call struct {
	id      uint32 // its last stream; 0: there was none
	under   bool   // it is under way
	muted   bool   // it was given up: what comes of it is nobody's
	own     []byte // room for a body with numbers of its own
	content []byte // of the request, still to be sent
	upTo    int64  // where what was handed out of it ends, in bytes since the connection began

	sendRoom   int64 // what may still be sent
	room, read int64 // what may come, and what was read since the server last heard

	headed bool  // the head that is not interim has come
	bare   bool  // the request was HEAD
	size   int   // bytes of heads and trailers
	listed int   // of the fields that they came to
	came   int64 // bytes of DATA
	known  fields
	msg    message
	kept   keptBody
	a      answer
	lost   error // why there will be no answer

	pieces, fed int   // in which the answer came
	first       int64 // ns, the first of them
}

func newHTTP2(grpc bool, streams int, room *atomic.Int64) *http2 {
	h := &http2{grpc: grpc, decoder: h2.NewDecoder(h2.TableSize), calls: make([]call, streams), over: make([]int, 0, streams)}
	for i := range h.calls {
		h.calls[i].kept.room = room
	}
	h.field = h.take
	return h
}

func (h *http2) open() {
	h.reader.Reset()
	h.decoder.Reset()
	h.encoder.Reset()
	h.greeted, h.leaving, h.stream, h.within, h.most, h.replied = false, false, 0, nil, math.MaxUint32, 0
	h.beside, h.written = 0, 0
	h.sendConn, h.initial = h2.Window, h2.Window
	h.roomConn, h.readConn = connRoom, 0
	h.over = h.over[:0]
	for i := range h.calls {
		c := &h.calls[i]
		c.kept.empty()
		*c = call{own: c.own, kept: c.kept}
	}
	h.out = append(h.out[:0], h2.Preface...)
	h.out = h2.AppendSettings(h.out, h2.Setting{ID: h2.EnablePush}, h2.Setting{ID: h2.InitialWindowSize, Value: streamRoom})
	h.out = h2.AppendWindowUpdate(h.out, 0, connRoom-h2.Window)
}

func (h *http2) ask(q *encoded, numbers []int64, _, keep bool) error {
	return h.askOn(0, q, numbers, keep)
}

// askOn begins a request of a call that is free.
func (h *http2) askOn(i int, q *encoded, numbers []int64, keep bool) error {
	c := &h.calls[i]
	c.kept.empty()
	first := h.stream == 0
	h.stream += 2
	if first {
		h.stream = 1
	}
	*c = call{
		id: h.stream, under: true, bare: q.head, sendRoom: h.initial, room: streamRoom,
		own: c.own, kept: c.kept, content: q.content, msg: message{many: q.stream}, a: answer{keep: keep},
	}
	if len(q.draws) > 0 {
		c.own = append(c.own[:0], q.content...)
		c.content = c.own
	}
	flags := uint8(h2.EndHeaders)
	if len(c.content) == 0 {
		flags |= h2.EndStream
	}
	frame := len(h.out)
	h.out = h.encoder.Begin(h2.AppendHeader(h.out, 0, h2.Headers, flags, c.id))
	head := len(h.out)
	h.out = append(h.out, q.wire...)
	for _, f := range q.known {
		h.out = h.encoder.Append(h.out, f)
	}
	h.out = append(h.out, q.tail...)
	h2.SetLength(h.out[frame:])
	if len(q.draws) > 0 {
		if err := q.fill(h.out[head:], c.content, numbers); err != nil {
			return err
		}
	}
	h.offer(c, mostOffered)
	return nil
}

func (h *http2) owed() []byte {
	if h.readConn >= connRoom/2 {
		h.out = h2.AppendWindowUpdate(h.out, 0, uint32(h.readConn))
		h.roomConn, h.readConn = h.roomConn+h.readConn, 0
	}
	offered := 0
	for i := range h.calls {
		if c := &h.calls[i]; c.under {
			offered += h.offer(c, mostOffered-offered)
		}
	}
	h.out, h.handed, h.replied = h.handed[:0], h.out, 0
	h.written += int64(len(h.handed))
	return h.handed
}

// offer gives the server room for more of an answer, and sends it more of the
// request: about so many bytes at most.
func (h *http2) offer(c *call, most int) (offered int) {
	if c.read >= streamRoom/2 {
		h.out = h2.AppendWindowUpdate(h.out, c.id, uint32(c.read))
		c.room, c.read = c.room+c.read, 0
	}
	for len(c.content) > 0 && offered < most {
		n := min(int64(len(c.content)), h2.MaxFrame, h.sendConn, c.sendRoom)
		if n <= 0 {
			break
		}
		var flags uint8
		if n == int64(len(c.content)) {
			flags = h2.EndStream
		}
		h.out = append(h2.AppendHeader(h.out, int(n), h2.Data, flags, c.id), c.content[:n]...)
		c.content = c.content[n:]
		h.sendConn, c.sendRoom, offered = h.sendConn-n, c.sendRoom-n, offered+int(n)
		c.upTo = h.written + int64(len(h.out))
	}
	return offered
}

// feed is for one call: its error, or else that of the connection.
func (h *http2) feed(b []byte) error {
	err := h.hear(b)
	if c := &h.calls[0]; c.lost != nil {
		h.leaving = h.leaving || err != nil // what follows belongs to no request
		err, c.lost = c.lost, nil
	}
	return err
}

// hear takes what has come and says in over which calls were decided by it. Its
// error is one of the connection: nothing more can be read.
func (h *http2) hear(b []byte) error {
	h.over = h.over[:0]
	h.fed++
	for len(b) > 0 {
		f, n, whole, err := h.reader.Next(b)
		b = b[n:]
		if err == nil && whole {
			err = h.handle(f)
		}
		if err != nil {
			return h.goodbye(h.explain(err))
		}
	}
	if h.replied > mostOwed {
		return h.goodbye(frameError("frames that want nothing but replies"))
	}
	return nil
}

// goodbye has the server told why the connection ends, as the last thing.
func (h *http2) goodbye(err error) error {
	for i := range h.calls {
		h.calls[i].content = nil
	}
	h.leaving, h.readConn = true, 0
	h.out = h2.AppendGoAway(h.out[:0], 0, codeOf(err))
	return err
}

// decide ends a call that something has become of.
func (h *http2) decide(c *call, lost error) {
	h.beside = 0
	c.under, c.lost = false, lost
	c.a.unsent = lost == nil && len(c.content) > 0
	c.content = nil
	for i := range h.calls {
		if &h.calls[i] == c {
			h.over = append(h.over, i)
		}
	}
}

// fail ends a call whose server does not keep to the protocol. The connection takes
// no other, and what still comes of this one is nobody's.
func (h *http2) fail(c *call, why error) {
	if !c.muted {
		h.decide(c, why)
		h.giveUp(c, codeOf(why))
	}
}

// giveUp ends a call that nobody waits for any longer.
func (h *http2) giveUp(c *call, why h2.Code) {
	c.under, c.muted, c.content, h.leaving = true, true, nil, true
	h.out = h2.AppendReset(h.out, c.id, why)
}

// of is the call that a stream belongs to; nil: it is over.
func (h *http2) of(stream uint32) *call {
	for i := range h.calls {
		if c := &h.calls[i]; c.id == stream && c.under {
			return c
		}
	}
	return nil
}

// explain says of a connection that does not even begin as one of HTTP/2 that it
// is none.
func (h *http2) explain(err error) error {
	if !h.greeted {
		return frameError("not HTTP/2")
	}
	return err
}

func (h *http2) idle(b []byte) error { return h.feed(b) }

func (h *http2) end() error { return h.calls[0].end() }

func (c *call) end() error {
	if !c.a.begun {
		return errUnanswered
	}
	return errCut
}

func (h *http2) answer() answer {
	a := h.calls[0].a
	a.closes = h.closes()
	return a
}

// closes reports whether no more streams can be opened.
func (h *http2) closes() bool { return h.leaving || h.stream >= h2.MaxStream }

// finish ends the answer, and with it the stream.
func (h *http2) finish(c *call) error {
	switch k := &c.known; {
	case !c.bodyless() && k.length > 0 && k.length != c.came+1:
		return frameError("a body shorter than its Content-Length")
	case h.grpc && k.status == 200:
		status, err := c.msg.end(h.fields.code)
		if err != nil {
			return err
		}
		c.a.status, c.a.rpc, c.a.code = status, true, h.fields.code
	default:
		c.a.status = k.status
	}
	if c.muted {
		c.under = false
		return nil
	}
	c.a.done = true
	h.decide(c, nil)
	return nil
}

// bodyless reports whether the answer has no body, whatever its length says.
func (c *call) bodyless() bool {
	return c.bare || c.known.status == 204 || c.known.status == 304
}
