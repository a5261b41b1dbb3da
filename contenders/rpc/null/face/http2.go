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

// mostStreams is how many calls may be under way on one connection.
const mostStreams = 250

// mostHead is how many bytes a call's head may have.
const mostHead = 64 << 10

// talk2 is one connection of HTTP/2: calls are answered one after another, each
// when it has come whole.
type talk2 struct {
	*server.Conn
	f       *face
	out     []byte
	reader  h2.Reader
	decoder *h2.Decoder
	encoder h2.Encoder
	known   h2.Fields
	kind    *h2.Field // content-type
	fine    *h2.Field // grpc-status: 0

	calls   map[uint32]*call // that have not come whole
	waiting []*call          // for room to be answered
	spare   []*call
	last    uint32 // stream
	path    string // of the call before
	room    int64  // bytes that may still be sent, of all streams
	initial int64  // that each may have at first
	unread  int64
	head    *call  // whose block has not come whole; nil: there is none
	block   []byte // of it
	ends    bool   // it is all there is of the call
	field   func(name, value []byte) error
}

// serve2 serves a connection of HTTP/2.
func (f *face) serve2(conn *server.Conn) {
	preface := make([]byte, len(h2.Preface))
	if _, err := io.ReadFull(conn, preface); err != nil || string(preface) != h2.Preface {
		return
	}
	w := &talk2{Conn: conn, f: f, decoder: h2.NewDecoder(h2.TableSize), calls: map[uint32]*call{}, room: h2.Window, initial: h2.Window}
	w.encoder.Reset()
	w.kind, w.fine = w.known.Ready("content-type", "application/grpc"), w.known.Ready("grpc-status", "0")
	w.field = w.take
	w.out = h2.AppendSettings(w.out, h2.Setting{ID: h2.MaxStreams, Value: mostStreams})
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
			w.leave(answered && idle && conn.Ends())
			return
		}
		if w.feed(buf[:n]) != nil {
			_, _ = conn.Write(h2.AppendGoAway(w.out, w.last, protocolError))
			return
		}
	}
}

// protocolError is what a connection ends with that makes no sense (RFC 9113,
// section 7).
const protocolError h2.Code = 1

// leave ends the connection, after what was answered has arrived.
func (w *talk2) leave(answered bool) {
	_, err := w.Write(h2.AppendGoAway(w.out[:0], w.last, h2.NoError))
	if answered && err == nil {
		w.Linger()
	}
}

// feed takes what came.
func (w *talk2) feed(b []byte) error {
	for len(b) > 0 {
		f, n, whole, err := w.reader.Next(b)
		if b = b[n:]; err == nil && whole {
			err = w.handle(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *talk2) handle(f h2.Frame) error {
	if (f.Type == h2.Continuation) != (w.head != nil) || w.head != nil && f.Stream != w.head.stream {
		return h2.Error("a head in pieces that do not follow each other")
	}
	switch f.Type {
	case h2.Headers, h2.Continuation:
		return w.headers(f)
	case h2.Data:
		return w.data(f)
	case h2.RSTStream:
		w.forget(f.Stream)
	case h2.Settings:
		if !f.Has(h2.Ack) {
			w.settings(f)
			w.out = h2.AppendHeader(w.out, 0, h2.Settings, h2.Ack, 0)
		}
	case h2.WindowUpdate:
		n := int64(f.Number(0) &^ (1 << 31))
		if c := w.at(f.Stream); c != nil {
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
	w.send()
	return nil
}

func (w *talk2) settings(f h2.Frame) {
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

// at returns the call in progress on a stream; nil if there is none.
func (w *talk2) at(stream uint32) *call {
	if c := w.calls[stream]; c != nil {
		return c
	}
	if i := w.inLine(stream); i >= 0 {
		return w.waiting[i]
	}
	return nil
}

func (w *talk2) inLine(stream uint32) int {
	return slices.IndexFunc(w.waiting, func(c *call) bool { return c.stream == stream })
}

func (w *talk2) forget(stream uint32) {
	delete(w.calls, stream)
	if i := w.inLine(stream); i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
}

// headers takes the head of a call, or its trailers.
func (w *talk2) headers(f h2.Frame) (err error) {
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
			c, w.last = w.begin(f.Stream), f.Stream
		}
		w.head, w.block, w.ends = c, w.block[:0], f.Has(h2.EndStream)
	}
	if w.block = append(w.block, b...); len(w.block) > mostHead {
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
	case w.calls[c.stream] == nil && (len(w.calls) == mostStreams || w.Ends()):
		w.out = h2.AppendReset(w.out, c.stream, h2.RefusedStream)
	case w.ends:
		w.whole(c)
	default:
		w.calls[c.stream] = c
	}
	return nil
}

// begin returns a new call on a stream.
func (w *talk2) begin(stream uint32) *call {
	c := new(call)
	if n := len(w.spare); n > 0 {
		c, w.spare = w.spare[n-1], w.spare[:n-1]
	}
	*c = call{stream: stream, body: c.body[:0], answer: c.answer[:0], room: w.initial}
	return c
}

// take takes one field of a head.
func (w *talk2) take(name, value []byte) error {
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

// data takes a piece of a call's body, and says now and then that there is room
// for more.
func (w *talk2) data(f h2.Frame) error {
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
	if c == nil { // it is over
		return nil
	}
	c.body = append(c.body, b...)
	switch c.unread += int64(len(f.Payload)); {
	case len(c.body) > users.MaxBody+prefixLen:
		delete(w.calls, c.stream)
		e := users.RefusalOf(users.TooLarge())
		c.code, c.why, c.id = e.Code.GRPC(), e.Message, w.f.users.RequestID(c.given)
		w.out = w.begins(c)
		w.waiting = append(w.waiting, c)
		w.send()
		w.out = h2.AppendReset(w.out, c.stream, h2.NoError)
	case f.Has(h2.EndStream):
		delete(w.calls, c.stream)
		w.whole(c)
	case c.unread > often:
		w.out = h2.AppendWindowUpdate(w.out, c.stream, uint32(c.unread))
		c.unread = 0
	}
	return nil
}

// whole has a call answered.
func (w *talk2) whole(c *call) {
	delete(w.calls, c.stream)
	if !c.grpc { // nobody asks for anything else over HTTP/2
		frame := len(w.out)
		w.out = h2.AppendField(w.encoder.Begin(h2.AppendHeader(w.out, 0, h2.Headers, h2.EndHeaders|h2.EndStream, c.stream)), ":status", "415")
		h2.SetLength(w.out[frame:])
		return
	}
	w.f.reply(c)
	w.out = w.begins(c)
	w.waiting = append(w.waiting, c)
	w.send()
}

// begins appends the head of an answer; that of a refusal is all there is of it.
func (w *talk2) begins(c *call) []byte {
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
		b = h2.AppendLiteral(b, "grpc-message", escaped(c.why))
	}
	h2.SetLength(b[frame:])
	return b
}

// send sends of answers what there is room for, in turn.
func (w *talk2) send() {
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

// escaped returns a text as a header may have it (github.com/grpc/grpc, PROTOCOL-HTTP2:
// Percent-Encoded).
func escaped(text string) string {
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
