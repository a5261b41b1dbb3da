package face

import (
	"bytes"
	"io"
	"slices"
	"strconv"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/load/h2"
)

// maxStreams limits the calls in flight on one connection.
const maxStreams = 250

// maxHead limits the bytes of a call's head.
const maxHead = 64 << 10

// http2Conn is one connection of HTTP/2: calls are answered one after another, each after it has completely
// arrived.
type http2Conn struct {
	*server.Conn
	f       *nullServer
	out     []byte
	reader  h2.Reader
	decoder *h2.Decoder
	encoder h2.Encoder
	known   h2.Fields
	kind    *h2.Field // content-type
	fine    *h2.Field // grpc-status: 0

	calls   map[uint32]*grpcCall // that have not completely arrived
	waiting []*grpcCall          // that wait for window
	spare   []*grpcCall
	last    uint32 // stream
	path    string // of the previous call
	room    int64  // window of all streams, in bytes
	initial int64  // initial window of each stream
	unread  int64
	head    *grpcCall // whose block is incomplete; nil if there is none
	block   []byte    // of it
	ends    bool      // the head is the complete call
	field   func(name, value []byte) error
}

// serveHTTP2 serves a connection of HTTP/2.
func (f *nullServer) serveHTTP2(conn *server.Conn) {
	preface := make([]byte, len(h2.Preface))
	if _, err := io.ReadFull(conn, preface); err != nil || string(preface) != h2.Preface {
		return
	}
	w := &http2Conn{Conn: conn, f: f, decoder: h2.NewDecoder(h2.TableSize), calls: map[uint32]*grpcCall{}, room: h2.Window, initial: h2.Window}
	w.encoder.Reset()
	w.kind, w.fine = w.known.Ready("content-type", "application/grpc"), w.known.Ready("grpc-status", "0")
	w.field = w.setField
	w.out = h2.AppendSettings(w.out, h2.Setting{ID: h2.MaxStreams, Value: maxStreams})
	buf := make([]byte, 16<<10)
	for {
		if _, err := conn.Write(w.out); err != nil {
			return
		}
		answered := len(w.out) > 0
		w.out = w.out[:0]
		idle := len(w.calls)+len(w.waiting) == 0 && w.head == nil && !w.reader.Partial()
		read := conn.Read
		if idle {
			read = conn.Await
		}
		n, err := read(buf)
		if err != nil {
			w.endConn(answered && idle && conn.Ends())
			return
		}
		if w.handleBytes(buf[:n]) != nil {
			_, _ = conn.Write(h2.AppendGoAway(w.out, w.last, protocolError))
			return
		}
	}
}

// protocolError is the code that ends an invalid connection (RFC 9113, section 7).
const protocolError h2.Code = 1

// endConn ends the connection, after its answers have arrived.
func (w *http2Conn) endConn(answered bool) {
	_, err := w.Write(h2.AppendGoAway(w.out[:0], w.last, h2.NoError))
	if answered && err == nil {
		w.Linger()
	}
}

// handleBytes processes received bytes.
func (w *http2Conn) handleBytes(b []byte) error {
	for len(b) > 0 {
		f, n, whole, err := w.reader.Next(b)
		if b = b[n:]; err == nil && whole {
			err = w.handleFrame(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *http2Conn) handleFrame(f h2.Frame) error {
	if (f.Type == h2.Continuation) != (w.head != nil) || w.head != nil && f.Stream != w.head.stream {
		return h2.Error("a head in pieces that do not follow each other")
	}
	switch f.Type {
	case h2.Headers, h2.Continuation:
		return w.handleHeaders(f)
	case h2.Data:
		return w.handleData(f)
	case h2.RSTStream:
		w.removeCall(f.Stream)
	case h2.Settings:
		if !f.Has(h2.Ack) {
			w.applySettings(f)
			w.out = h2.AppendHeader(w.out, 0, h2.Settings, h2.Ack, 0)
		}
	case h2.WindowUpdate:
		n := int64(f.Number(0) &^ (1 << 31))
		if c := w.findCall(f.Stream); c != nil {
			c.room += n
		} else if f.Stream == 0 {
			w.room += n
		}
	case h2.Ping:
		if !f.Has(h2.Ack) {
			w.out = h2.AppendFrame(w.out, h2.Frame{Type: h2.Ping, Flags: h2.Ack, Payload: f.Payload})
		}
	case h2.PushPromise:
		return h2.Error("a promise of a client")
	}
	w.sendAnswers()
	return nil
}

func (w *http2Conn) applySettings(f h2.Frame) {
	for id, v := range f.Values() {
		switch id {
		case h2.HeaderTableSize:
			w.encoder.Allow(v)
		case h2.InitialWindowSize:
			for _, c := range w.calls {
				c.room += int64(v) - w.initial
			}
			for _, c := range w.waiting {
				c.room += int64(v) - w.initial
			}
			w.initial = int64(v)
		}
	}
}

// findCall returns the call in progress on a stream; nil if there is none.
func (w *http2Conn) findCall(stream uint32) *grpcCall {
	if c := w.calls[stream]; c != nil {
		return c
	}
	if i := w.waitingIndex(stream); i >= 0 {
		return w.waiting[i]
	}
	return nil
}

func (w *http2Conn) waitingIndex(stream uint32) int {
	return slices.IndexFunc(w.waiting, func(c *grpcCall) bool { return c.stream == stream })
}

func (w *http2Conn) removeCall(stream uint32) {
	delete(w.calls, stream)
	if i := w.waitingIndex(stream); i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
}

// handleHeaders processes the head of a call, or its trailers.
func (w *http2Conn) handleHeaders(f h2.Frame) (err error) {
	b := f.Payload
	if f.Type == h2.Headers {
		if b, err = f.Content(); err != nil {
			return err
		}
		c := w.calls[f.Stream]
		if c == nil {
			if f.Stream%2 == 0 || f.Stream <= w.last {
				return h2.Error("a head of no call")
			}
			c, w.last = w.newCall(f.Stream), f.Stream
		}
		w.head, w.block, w.ends = c, w.block[:0], f.Has(h2.EndStream)
	}
	if w.block = append(w.block, b...); len(w.block) > maxHead {
		return h2.Error("a head that is too long")
	}
	if !f.Has(h2.EndHeaders) {
		return nil
	}
	err = w.decoder.Decode(w.block, w.field)
	c := w.head
	w.head = nil
	switch {
	case err != nil:
		return err
	case w.calls[c.stream] == nil && (len(w.calls) == maxStreams || w.Ends()):
		w.out = h2.AppendReset(w.out, c.stream, h2.RefusedStream)
	case w.ends:
		w.finishCall(c)
	default:
		w.calls[c.stream] = c
	}
	return nil
}

// newCall returns a new call on a stream.
func (w *http2Conn) newCall(stream uint32) *grpcCall {
	c := new(grpcCall)
	if n := len(w.spare); n > 0 {
		c, w.spare = w.spare[n-1], w.spare[:n-1]
	}
	*c = grpcCall{stream: stream, body: c.body[:0], answer: c.answer[:0], room: w.initial}
	return c
}

// setField stores one field of a head.
func (w *http2Conn) setField(name, value []byte) error {
	switch c := w.head; string(name) {
	case ":path":
		if w.path != string(value) {
			w.path = string(value)
		}
		c.path = w.path
	case "content-type":
		c.grpc = bytes.HasPrefix(value, []byte("application/grpc"))
	case "x-request-id":
		c.given = string(value)
	}
	return nil
}

// handleData appends a piece of a call's body, and opens the windows again after half of one is used.
func (w *http2Conn) handleData(f h2.Frame) error {
	const often = h2.Window / 2
	b, err := f.Content()
	if err != nil {
		return err
	}
	if w.unread += int64(len(f.Payload)); w.unread > often {
		w.out = h2.AppendWindowUpdate(w.out, 0, uint32(w.unread))
		w.unread = 0
	}
	c := w.calls[f.Stream]
	if c == nil { // it has ended
		return nil
	}
	c.body = append(c.body, b...)
	switch c.unread += int64(len(f.Payload)); {
	case len(c.body) > users.MaxBody+prefixLen:
		delete(w.calls, c.stream)
		e := users.RefusalOf(users.TooLarge())
		c.code, c.why, c.id = e.Code.GRPC(), e.Message, w.f.users.RequestID(c.given)
		w.out = w.appendHead(c)
		w.waiting = append(w.waiting, c)
		w.sendAnswers()
		w.out = h2.AppendReset(w.out, c.stream, h2.NoError)
	case f.Has(h2.EndStream):
		delete(w.calls, c.stream)
		w.finishCall(c)
	case c.unread > often:
		w.out = h2.AppendWindowUpdate(w.out, c.stream, uint32(c.unread))
		c.unread = 0
	}
	return nil
}

// finishCall answers a call that has completely arrived.
func (w *http2Conn) finishCall(c *grpcCall) {
	delete(w.calls, c.stream)
	if !c.grpc { // no other protocol is used over HTTP/2
		frame := len(w.out)
		w.out = h2.AppendField(w.encoder.Begin(h2.AppendHeader(w.out, 0, h2.Headers, h2.EndHeaders|h2.EndStream, c.stream)), ":status", "415")
		h2.SetLength(w.out[frame:])
		return
	}
	w.f.answerCall(c)
	w.out = w.appendHead(c)
	w.waiting = append(w.waiting, c)
	w.sendAnswers()
}

// appendHead appends the head of an answer, which is the complete answer if it is an error.
func (w *http2Conn) appendHead(c *grpcCall) []byte {
	flags := uint8(h2.EndHeaders)
	if c.code != codeOK {
		flags |= h2.EndStream
	}
	frame := len(w.out)
	b := w.encoder.Begin(h2.AppendHeader(w.out, 0, h2.Headers, flags, c.stream))
	b = w.encoder.Append(h2.AppendField(b, ":status", "200"), w.kind)
	b = h2.AppendLiteral(b, "x-request-id", c.id)
	if c.code != codeOK {
		b = h2.AppendLiteral(b, "grpc-status", strconv.Itoa(c.code))
		b = h2.AppendLiteral(b, "grpc-message", escapeText(c.why))
	}
	h2.SetLength(b[frame:])
	return b
}

// sendAnswers sends the waiting answers, in turn, as far as the windows allow.
func (w *http2Conn) sendAnswers() {
	for len(w.waiting) > 0 {
		c := w.waiting[0]
		for c.code == codeOK && c.sent < len(c.answer) {
			n := int(min(int64(len(c.answer)-c.sent), h2.MaxFrame, w.room, c.room))
			if n <= 0 {
				return
			}
			w.out = append(h2.AppendHeader(w.out, n, h2.Data, 0, c.stream), c.answer[c.sent:c.sent+n]...)
			c.sent, w.room, c.room = c.sent+n, w.room-int64(n), c.room-int64(n)
		}
		if c.code == codeOK {
			frame := len(w.out)
			w.out = w.encoder.Append(w.encoder.Begin(h2.AppendHeader(w.out, 0, h2.Headers, h2.EndHeaders|h2.EndStream, c.stream)), w.fine)
			h2.SetLength(w.out[frame:])
		}
		w.waiting = slices.Delete(w.waiting, 0, 1)
		w.spare = append(w.spare, c)
	}
}

// escapeText returns a text in the form of a header (github.com/grpc/grpc, PROTOCOL-HTTP2: Percent-Encoded).
func escapeText(text string) string {
	const digits = "0123456789ABCDEF"
	var b []byte
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '%' {
			b = append(b, '%', digits[c>>4], digits[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}
