package load

import (
	"math"
	"sync/atomic"

	"github.com/tarebench/tare/load/h2"
)

// Receive windows in bytes. The server may send that many bytes of bodies before it needs a WINDOW_UPDATE.
const (
	streamRoom = 1 << 20 // of each stream
	connRoom   = 4 << 20 // of the connection
)

const (
	maxOffered   = 64 << 10 // most bytes of DATA at a time
	maxReplies   = 64 << 10 // most bytes of waiting replies to PING and SETTINGS
	maxUnrelated = 4 << 20  // most bytes of unrelated frames between two responses
)

// http2 is the client's side of HTTP/2 (RFC 9113), and of gRPC, on one connection. It makes the bytes to
// send and parses the received bytes, but does no input or output. Each stream that may be open at a time
// has a call. It rejects everything that a server must not send.
//
// Header blocks use dynamic tables of 4096 bytes, the initial size of the protocol.
type http2 struct {
	grpc    bool
	reader  h2.Reader
	decoder *h2.Decoder
	encoder h2.Encoder
	fields  headerFields
	field   func(name, value []byte) error // the method takeField, bound once to avoid allocations

	out, lastOutput []byte // bytes to send, and those that takeOutput returned last
	written         int64  // bytes that takeOutput has returned
	replied         int    // bytes of replies in out

	hasSettings   bool
	noMoreStreams bool
	stream        uint32 // id of the last stream; 0 means none
	maxStreams    uint32 // the server's limit of open streams
	now           int64  // arrival time of the input in ns; only set by engine Epoll
	feedCount     int
	unrelated     int // bytes of unrelated frames since the last response

	calls   []call
	decided []int // indices of the calls that the last input has ended

	sendConn int64 // send window of the connection in bytes; negative if the server has reduced it
	initial  int64
	roomConn int64 // receive window of the connection
	readConn int64 // bytes read since its last WINDOW_UPDATE

	block     []byte // start of an incomplete header block
	blockCall *call  // or nil
	blockEnds bool
	listed    *int
}

// call is one request and its response, on one stream. It is then reused for the next request.
type call struct {
	id        uint32 // id of the current or last stream; 0 means none
	inFlight  bool
	abandoned bool // this side has reset the stream: ignore its frames
	filled    []byte
	content   []byte // rest of the body
	upTo      int64  // end of the call's last DATA, in bytes of the connection's output

	sendRoom   int64
	room, read int64 // receive window, and bytes read since the last WINDOW_UPDATE

	hasHead   bool
	isHead    bool         // the request was HEAD
	size      int          // bytes of encoded headers and trailers
	listed    int          // bytes of decoded headers and trailers
	dataBytes int64        // bytes of DATA without padding
	header    headerFields // of the final header
	msg       message
	stored    storedBody
	response  response
	lost      error // why the response is lost, or nil

	parts, lastFeed int   // number of parts of the response; feedCount of the last one
	first           int64 // arrival time of the first part in ns
}

// newHTTP2 returns an http2. bodyBudget is the number of bytes that all stored bodies may still take.
func newHTTP2(grpc bool, streams int, bodyBudget *atomic.Int64) *http2 {
	h := &http2{grpc: grpc, decoder: h2.NewDecoder(h2.TableSize), calls: make([]call, streams), decided: make([]int, 0, streams)}
	for i := range h.calls {
		h.calls[i].stored.budget = bodyBudget
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
		c.stored.release()
		*c = call{filled: c.filled, stored: c.stored}
	}
	h.out = append(h.out[:0], h2.Preface...)
	h.out = h2.AppendSettings(h.out, h2.Setting{ID: h2.EnablePush}, h2.Setting{ID: h2.InitialWindowSize, Value: streamRoom})
	h.out = h2.AppendWindowUpdate(h.out, 0, connRoom-h2.Window)
}

func (h *http2) startRequest(q *encodedRequest, numbers []int64, _, storeBody bool) error {
	return h.startCall(0, q, numbers, storeBody)
}

// startCall outputs a request as call i, which must be free. numbers are the numbers drawn for the request.
func (h *http2) startCall(i int, q *encodedRequest, numbers []int64, storeBody bool) error {
	c := &h.calls[i]
	c.stored.release()
	if isFirst := h.stream == 0; isFirst { // a client's streams have the ids 1, 3, 5 and so on
		h.stream = 1
	} else {
		h.stream += 2
	}
	*c = call{
		id: h.stream, inFlight: true, isHead: q.head, sendRoom: h.initial, room: streamRoom,
		filled: c.filled, stored: c.stored, content: q.content, msg: message{many: q.stream}, response: response{storeBody: storeBody},
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

// takeOutput returns the bytes to send, with about maxOffered bytes of DATA. They are valid until the next
// call.
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

// sendMore outputs frames of a call: a WINDOW_UPDATE if half the receive window is used, and DATA of the
// request. It ends after about limit bytes of DATA, and returns their number.
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

// feed parses the input of a connection with a single call, and returns the error of the call or the
// connection.
func (h *http2) feed(b []byte) error {
	err := h.feedAll(b)
	if c := &h.calls[0]; c.lost != nil {
		h.noMoreStreams = h.noMoreStreams || err != nil // the connection is unusable
		err, c.lost = c.lost, nil
	}
	return err
}

// feedAll parses the input, and sets h.decided to the calls that it has ended. After an error the
// connection is unusable.
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

// sendGoAway replaces the output by a GOAWAY with the code of err, and returns err.
func (h *http2) sendGoAway(err error) error {
	for i := range h.calls {
		h.calls[i].content = nil
	}
	h.noMoreStreams, h.readConn = true, 0
	h.out = h2.AppendGoAway(h.out[:0], 0, goAwayCode(err))
	return err
}

func (h *http2) finishCall(c *call, lost error) {
	h.unrelated = 0
	c.inFlight, c.lost = false, lost
	c.response.unsent = lost == nil && len(c.content) > 0
	c.content = nil
	for i := range h.calls {
		if &h.calls[i] == c {
			h.decided = append(h.decided, i)
		}
	}
}

// failCall ends a call whose response violates the protocol. The connection opens no more streams.
func (h *http2) failCall(c *call, why error) {
	if !c.abandoned {
		h.finishCall(c, why)
		h.abandonCall(c, goAwayCode(why))
	}
}

// abandonCall resets the stream of a call whose response is not needed. The connection opens no more
// streams. The call stays in flight until the server ends the stream, so that its frames are recognised.
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

// explainError returns err, or "not HTTP/2" if the server has not sent its SETTINGS.
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
	if !c.response.begun {
		return errUnanswered
	}
	return errCut
}

func (h *http2) currentResponse() response {
	a := h.calls[0].response
	a.closes = h.isClosing()
	return a
}

func (h *http2) isClosing() bool { return h.noMoreStreams || h.stream >= h2.MaxStream }

func (h *http2) finishResponse(c *call) error {
	switch k := &c.header; {
	case !c.hasNoBody() && k.length > 0 && k.length != c.dataBytes+1: // length is Content-Length plus 1, or 0
		return frameError("a body shorter than its Content-Length")
	case h.grpc && k.status == 200:
		status, err := c.msg.finish(h.fields.code)
		if err != nil {
			return err
		}
		c.response.status, c.response.rpc, c.response.code = status, true, h.fields.code
	default:
		c.response.status = k.status
	}
	if c.abandoned {
		c.inFlight = false
		return nil
	}
	c.response.done = true
	h.finishCall(c, nil)
	return nil
}

func (c *call) hasNoBody() bool {
	return c.isHead || c.header.status == 204 || c.header.status == 304
}
