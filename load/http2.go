package load

import (
	"errors"

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
)

// http2 speaks HTTP/2 (RFC 9113), and gRPC over it, with one stream open at a
// time. It is as strict as framer1 is: what a server must not send is refused.
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
	own         []byte // room for a body with numbers of its own
	content     []byte // of the request, still to be sent

	greeted bool   // the server's settings have come
	leaving bool   // it will take no more streams
	stream  uint32 // the last that was opened; 0: none
	under   bool   // it is under way

	// What may still be sent, of all streams and of this one, and what streams
	// begin with. Less than none where the server has changed its mind.
	sendConn, sendStream, initial int64
	// The same for what may come, with what was read since the server last heard.
	roomConn, roomStream int64
	readConn, readStream int64

	block     []byte // of a head that has not come whole
	within    bool   // there is one
	blockEnds bool   // the stream ends with it

	headed bool  // the head that is not interim has come
	bare   bool  // the request was HEAD
	size   int   // bytes of heads and trailers
	listed int   // of the fields that they came to
	came   int64 // bytes of DATA
	known  fields
	msg    message
	a      answer
}

func newHTTP2(grpc bool) *http2 {
	h := &http2{grpc: grpc, decoder: h2.NewDecoder(h2.TableSize)}
	h.field = h.take
	return h
}

func (h *http2) open() {
	h.reader.Reset()
	h.decoder.Reset()
	h.encoder.Reset()
	h.greeted, h.leaving, h.stream, h.under, h.within = false, false, 0, false, false
	h.sendConn, h.sendStream, h.initial = h2.Window, 0, h2.Window
	h.roomConn, h.roomStream, h.readConn, h.readStream = connRoom, 0, 0, 0
	h.content, h.a = nil, answer{}
	h.out = append(h.out[:0], h2.Preface...)
	h.out = h2.AppendSettings(h.out, h2.Setting{ID: h2.EnablePush}, h2.Setting{ID: h2.InitialWindowSize, Value: streamRoom})
	h.out = h2.AppendWindowUpdate(h.out, 0, connRoom-h2.Window)
}

func (h *http2) ask(q *encoded, _, keep bool) error {
	first := h.stream == 0
	h.stream += 2
	if first {
		h.stream = 1
	}
	h.under, h.headed, h.bare, h.size, h.listed, h.came, h.known = true, false, q.head, 0, 0, 0, fields{}
	h.sendStream, h.roomStream, h.readStream = h.initial, streamRoom, 0
	h.msg = message{}
	h.a = answer{keep: keep, kept: h.a.kept[:0]}
	h.content = q.content
	if len(q.draws) > 0 {
		h.own = append(h.own[:0], q.content...)
		h.content = h.own
	}
	flags := uint8(h2.EndHeaders)
	if len(h.content) == 0 {
		flags |= h2.EndStream
	}
	frame := len(h.out)
	h.out = h.encoder.Begin(h2.AppendHeader(h.out, 0, h2.Headers, flags, h.stream))
	head := len(h.out)
	h.out = append(h.out, q.wire...)
	for _, f := range q.known {
		h.out = h.encoder.Append(h.out, f)
	}
	h.out = append(h.out, q.tail...)
	h2.SetLength(h.out[frame:])
	if len(q.draws) == 0 {
		return nil
	}
	return q.fill(h.out[head:], h.content)
}

func (h *http2) owed() []byte {
	if h.readConn >= connRoom/2 {
		h.out = h2.AppendWindowUpdate(h.out, 0, uint32(h.readConn))
		h.roomConn, h.readConn = h.roomConn+h.readConn, 0
	}
	if h.readStream >= streamRoom/2 && h.under {
		h.out = h2.AppendWindowUpdate(h.out, h.stream, uint32(h.readStream))
		h.roomStream, h.readStream = h.roomStream+h.readStream, 0
	}
	for offered := 0; len(h.content) > 0 && offered < mostOffered; {
		n := min(int64(len(h.content)), h2.MaxFrame, h.sendConn, h.sendStream)
		if n <= 0 {
			break
		}
		var flags uint8
		if n == int64(len(h.content)) {
			flags = h2.EndStream
		}
		h.out = append(h2.AppendHeader(h.out, int(n), h2.Data, flags, h.stream), h.content[:n]...)
		h.content = h.content[n:]
		h.sendConn, h.sendStream, offered = h.sendConn-n, h.sendStream-n, offered+int(n)
	}
	h.out, h.handed = h.handed[:0], h.out
	return h.handed
}

func (h *http2) feed(b []byte) error {
	for len(b) > 0 {
		f, n, whole, err := h.reader.Next(b)
		b = b[n:]
		if err == nil && whole {
			err = h.handle(f)
		}
		if err == nil {
			continue
		}
		var lost resetError
		if !errors.As(err, &lost) {
			return h.explain(err)
		}
		h.leaving = h.feed(b) != nil || h.leaving // what follows belongs to no request
		return lost
	}
	if len(h.out) > mostOwed {
		return frameError("frames that want nothing but replies")
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

func (h *http2) end() error {
	if !h.a.begun {
		return errUnanswered
	}
	return errCut
}

func (h *http2) answer() answer {
	a := h.a
	a.closes = h.leaving || h.stream >= h2.MaxStream
	return a
}

// finish ends the answer, and with it the stream.
func (h *http2) finish() error {
	switch k := &h.known; {
	case !h.bodyless() && k.length > 0 && k.length != h.came+1:
		return frameError("a body shorter than its Content-Length")
	case h.grpc && k.status == 200:
		status, err := h.msg.end(h.fields.code)
		if err != nil {
			return err
		}
		h.a.status = status
	default:
		h.a.status = k.status
	}
	h.a.done, h.a.unsent = true, len(h.content) > 0
	h.under, h.content = false, nil
	return nil
}

// bodyless reports whether the answer has no body, whatever its length says.
func (h *http2) bodyless() bool {
	return h.bare || h.known.status == 204 || h.known.status == 304
}
