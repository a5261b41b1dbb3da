package load

import (
	"math"
	"sync/atomic"

	"github.com/tarebench/tare/load/h2"
)

// Receive windows of this side in bytes: the server may send that many bytes of bodies
// before it needs a WINDOW_UPDATE.
const (
	streamRoom = 1 << 20 // of each stream
	connRoom   = 4 << 20 // of the connection
)

const (
	maxOffered   = 64 << 10 // most bytes of DATA that takeOutput returns at a time
	maxReplies   = 64 << 10 // most bytes of replies to PING and SETTINGS that wait in the output
	maxUnrelated = 4 << 20  // most bytes of frames outside of responses, unknown ones included, between two responses
)

// http2 implements HTTP/2 (RFC 9113), and gRPC over it, on one connection. It has one
// call for each stream that may be open at a time. Like http1Parser it is strict: it rejects
// everything that a server must not send.
//
// Header blocks of both sides use dynamic tables of the usual size, as those of other
// clients do.
type http2 struct {
	grpc    bool
	reader  h2.Reader
	decoder *h2.Decoder
	encoder h2.Encoder
	fields  headerFields
	field   func(name, value []byte) error // the method takeField, bound once

	out, lastOutput []byte // bytes to send, and the bytes that takeOutput returned last
	written         int64  // bytes that takeOutput has returned since the connection was opened
	replied         int    // bytes of replies in out

	hasSettings   bool   // the server's SETTINGS have arrived
	noMoreStreams bool   // no more streams may be opened
	stream        uint32 // id of the last stream that was opened; 0 if none was
	maxStreams    uint32 // number of streams that the server allows at a time
	now           int64  // arrival time of the input in ns; only set by engine Epoll
	feedCount     int    // calls of feedAll
	unrelated     int    // bytes of frames outside of responses since the last response

	calls   []call
	decided []int // indices of the calls that ended with the last input

	// Send windows of the connection, and of new streams. The former is
	// negative if the server has reduced it.
	sendConn, initial int64
	// Receive window of the connection, and bytes read since the last WINDOW_UPDATE.
	roomConn, readConn int64

	block     []byte // start of an incomplete header block
	blockCall *call  // call of the incomplete block, or nil
	blockEnds bool   // the incomplete block ends its stream
	listed    *int   // call.listed of the call whose block is decoded
}

// call is one request and its response. It is reused: each request opens a new stream.
type call struct {
	id        uint32 // id of the stream, or of the last one; 0 if there was none
	inFlight  bool   // the stream is open
	abandoned bool   // the stream was reset: its further frames are ignored
	filled    []byte // buffer of a body with numbers
	content   []byte // rest of the body to send
	upTo      int64  // position after the last sent DATA of this call, in bytes since the connection was opened

	sendRoom   int64 // send window
	room, read int64 // receive window, and bytes read since the last WINDOW_UPDATE

	hasHead   bool         // the final header has arrived
	isHead    bool         // the request was HEAD
	size      int          // bytes of header blocks and trailers, encoded
	listed    int          // bytes of header fields and trailers, decoded
	dataBytes int64        // bytes of DATA without padding
	known     headerFields // of the final header
	msg       message
	kept      storedBody
	a         response
	lost      error // why the response is lost, or nil

	parts, lastFeed int   // number of parts in which the response arrived; feedCount of the last one
	first           int64 // arrival time of the first part in ns
}

func newHTTP2(grpc bool, streams int, room *atomic.Int64) *http2 {
	h := &http2{grpc: grpc, decoder: h2.NewDecoder(h2.TableSize), calls: make([]call, streams), decided: make([]int, 0, streams)}
	for i := range h.calls {
		h.calls[i].kept.budget = room
	}
	h.field = h.takeField
	return h
}

func (h *http2) open() {
	h.reader.Reset()
	h.decoder.Reset()
	h.encoder.Reset()
	h.hasSettings, h.noMoreStreams, h.stream, h.blockCall, h.maxStreams, h.replied = false, false, 0, nil, math.MaxUint32, 0
	h.unrelated, h.written = 0, 0
	h.sendConn, h.initial = h2.Window, h2.Window
	h.roomConn, h.readConn = connRoom, 0
	h.decided = h.decided[:0]
	for i := range h.calls {
		c := &h.calls[i]
		c.kept.release()
		*c = call{filled: c.filled, kept: c.kept}
	}
	h.out = append(h.out[:0], h2.Preface...)
	h.out = h2.AppendSettings(h.out, h2.Setting{ID: h2.EnablePush}, h2.Setting{ID: h2.InitialWindowSize, Value: streamRoom})
	h.out = h2.AppendWindowUpdate(h.out, 0, connRoom-h2.Window)
}

func (h *http2) startRequest(q *encodedRequest, numbers []int64, _, keep bool) error {
	return h.startCall(0, q, numbers, keep)
}

// startCall starts a request on call i, which must be free.
func (h *http2) startCall(i int, q *encodedRequest, numbers []int64, keep bool) error {
	c := &h.calls[i]
	c.kept.release()
	first := h.stream == 0
	h.stream += 2
	if first {
		h.stream = 1
	}
	*c = call{
		id: h.stream, inFlight: true, isHead: q.head, sendRoom: h.initial, room: streamRoom,
		filled: c.filled, kept: c.kept, content: q.content, msg: message{many: q.stream}, a: response{keep: keep},
	}
	if len(q.draws) > 0 {
		c.filled = append(c.filled[:0], q.content...)
		c.content = c.filled
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
		if err := q.writeNumbers(h.out[head:], c.content, numbers); err != nil {
			return err
		}
	}
	h.sendMore(c, maxOffered)
	return nil
}

func (h *http2) takeOutput() []byte {
	if h.readConn >= connRoom/2 {
		h.out = h2.AppendWindowUpdate(h.out, 0, uint32(h.readConn))
		h.roomConn, h.readConn = h.roomConn+h.readConn, 0
	}
	offered := 0
	for i := range h.calls {
		if c := &h.calls[i]; c.inFlight {
			offered += h.sendMore(c, maxOffered-offered)
		}
	}
	h.out, h.lastOutput, h.replied = h.lastOutput[:0], h.out, 0
	h.written += int64(len(h.lastOutput))
	return h.lastOutput
}

// sendMore adds to the output: a WINDOW_UPDATE if the receive window is half used, and DATA of the request until
// at least limit bytes are added or a window is full. It returns the number of bytes of DATA.
func (h *http2) sendMore(c *call, limit int) (offered int) {
	if c.read >= streamRoom/2 {
		h.out = h2.AppendWindowUpdate(h.out, c.id, uint32(c.read))
		c.room, c.read = c.room+c.read, 0
	}
	for len(c.content) > 0 && offered < limit {
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

// feed parses the input of a connection with one call. It returns the error of the call if there is one,
// otherwise that of the connection.
func (h *http2) feed(b []byte) error {
	err := h.feedAll(b)
	if c := &h.calls[0]; c.lost != nil {
		h.noMoreStreams = h.noMoreStreams || err != nil // the connection is unusable
		err, c.lost = c.lost, nil
	}
	return err
}

// feedAll parses the input and fills decided with the calls that it ended. Its error means that the connection
// is unusable.
func (h *http2) feedAll(b []byte) error {
	h.decided = h.decided[:0]
	h.feedCount++
	for len(b) > 0 {
		f, n, whole, err := h.reader.Next(b)
		b = b[n:]
		if err == nil && whole {
			err = h.handleFrame(f)
		}
		if err != nil {
			return h.sendGoAway(h.explainError(err))
		}
	}
	if h.replied > maxReplies {
		return h.sendGoAway(frameError("frames that want nothing but replies"))
	}
	return nil
}

// sendGoAway replaces the output by a GOAWAY with the code of err.
func (h *http2) sendGoAway(err error) error {
	for i := range h.calls {
		h.calls[i].content = nil
	}
	h.noMoreStreams, h.readConn = true, 0
	h.out = h2.AppendGoAway(h.out[:0], 0, goAwayCode(err))
	return err
}

// finishCall ends a call with a response, or with the error lost.
func (h *http2) finishCall(c *call, lost error) {
	h.unrelated = 0
	c.inFlight, c.lost = false, lost
	c.a.unsent = lost == nil && len(c.content) > 0
	c.content = nil
	for i := range h.calls {
		if &h.calls[i] == c {
			h.decided = append(h.decided, i)
		}
	}
}

// failCall ends a call whose response violates the protocol. The connection opens no more streams, and further
// frames of the call are ignored.
func (h *http2) failCall(c *call, why error) {
	if !c.abandoned {
		h.finishCall(c, why)
		h.abandonCall(c, goAwayCode(why))
	}
}

// abandonCall resets the stream of a call whose response is no longer needed. The connection opens no more
// streams.
func (h *http2) abandonCall(c *call, why h2.Code) {
	c.inFlight, c.abandoned, c.content, h.noMoreStreams = true, true, nil, true
	h.out = h2.AppendReset(h.out, c.id, why)
}

// callOf returns the open call of a stream, or nil.
func (h *http2) callOf(stream uint32) *call {
	for i := range h.calls {
		if c := &h.calls[i]; c.id == stream && c.inFlight {
			return c
		}
	}
	return nil
}

// explainError replaces an error that occurs before the SETTINGS of the server: the protocol is not HTTP/2.
func (h *http2) explainError(err error) error {
	if !h.hasSettings {
		return frameError("not HTTP/2")
	}
	return err
}

func (h *http2) feedIdle(b []byte) error { return h.feed(b) }

func (h *http2) closeError() error { return h.calls[0].closeError() }

// closeError returns the error of a call whose connection the server closed.
func (c *call) closeError() error {
	if !c.a.begun {
		return errUnanswered
	}
	return errCut
}

func (h *http2) currentResponse() response {
	a := h.calls[0].a
	a.closes = h.isClosing()
	return a
}

// isClosing reports whether no more streams can be opened.
func (h *http2) isClosing() bool { return h.noMoreStreams || h.stream >= h2.MaxStream }

// finishResponse ends the response at the end of its stream.
func (h *http2) finishResponse(c *call) error {
	switch k := &c.known; {
	case !c.hasNoBody() && k.length > 0 && k.length != c.dataBytes+1:
		return frameError("a body shorter than its Content-Length")
	case h.grpc && k.status == 200:
		status, err := c.msg.finish(h.fields.code)
		if err != nil {
			return err
		}
		c.a.status, c.a.rpc, c.a.code = status, true, h.fields.code
	default:
		c.a.status = k.status
	}
	if c.abandoned {
		c.inFlight = false
		return nil
	}
	c.a.done = true
	h.finishCall(c, nil)
	return nil
}

// hasNoBody reports whether the response has no body, even if it has a Content-Length.
func (c *call) hasNoBody() bool {
	return c.isHead || c.known.status == 204 || c.known.status == 304
}
