package api

import (
	"bytes"
	"io"
	"slices"
	"strconv"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/load/h2"
)

// This file implements the part of HTTP/2 (RFC 9113) that gRPC needs. Each call has a separate stream on
// the connection. Windows limit the bytes that one side may send before the other acknowledges them.

// maxStreams limits the calls in flight on one connection.
const maxStreams = 250

// maxHead limits the encoded bytes of a call's headers.
const maxHead = 64 << 10

// http2Conn is one connection of HTTP/2. It runs a call when its last frame has arrived. Calls run one
// after another. A response that exceeds the client's windows waits for larger windows.
type http2Conn struct {
	*server.Conn
	server      *nullServer
	out         []byte // frames to write
	reader      h2.Reader
	decoder     *h2.Decoder
	encoder     h2.Encoder
	fields      h2.Fields
	contentType *h2.Field // application/grpc
	statusOK    *h2.Field // 0

	calls         map[uint32]*grpcCall // calls that have not completely arrived, by stream
	responding    []*grpcCall          // calls whose responses are not completely sent, the oldest first
	free          []*grpcCall          // ended calls, for reuse
	lastStream    uint32               // highest stream of a call
	lastPath      string               // path of the previous call, for reuse
	window        int64                // bytes that the client accepts on all streams together
	initialWindow int64                // of a new stream
	unacked       int64                // received bytes that no window update has acknowledged

	openCall   *grpcCall                      // call whose headers are arriving, or nil
	headBlock  []byte                         // its headers so far
	endsStream bool                           // its headers end the stream: no body follows
	onField    func(name, value []byte) error // setField, stored so that no request allocates it
}

func (f *nullServer) serveHTTP2(conn *server.Conn) {
	preface := make([]byte, len(h2.Preface))
	if _, err := io.ReadFull(conn, preface); err != nil || string(preface) != h2.Preface {
		return
	}
	w := &http2Conn{
		Conn:          conn,
		server:        f,
		decoder:       h2.NewDecoder(h2.TableSize),
		calls:         map[uint32]*grpcCall{},
		window:        h2.Window,
		initialWindow: h2.Window,
	}
	w.encoder.Reset()
	w.contentType, w.statusOK = w.fields.Ready("content-type", "application/grpc"), w.fields.Ready("grpc-status", "0")
	w.onField = w.setField
	w.out = h2.AppendSettings(w.out, h2.Setting{ID: h2.MaxStreams, Value: maxStreams})
	buf := make([]byte, 16<<10)
	for {
		if _, err := conn.Write(w.out); err != nil {
			return
		}
		hasWritten := len(w.out) > 0
		w.out = w.out[:0]
		isIdle := len(w.calls)+len(w.responding) == 0 && w.openCall == nil && !w.reader.Partial()
		read := conn.Read
		if isIdle { // the server may close the connection while it ends
			read = conn.Await
		}
		n, err := read(buf)
		if err != nil {
			w.endConn(hasWritten && isIdle && conn.Ends())
			return
		}
		if w.handleBytes(buf[:n]) != nil {
			_, _ = conn.Write(h2.AppendGoAway(w.out, w.lastStream, protocolError))
			return
		}
	}
}

// protocolError is the code of the GOAWAY after invalid frames (RFC 9113, section 7).
const protocolError h2.Code = 1

// endConn sends GOAWAY. linger means that the last responses may still be on their way, and must not be
// discarded.
func (w *http2Conn) endConn(linger bool) {
	_, err := w.Write(h2.AppendGoAway(w.out[:0], w.lastStream, h2.NoError))
	if linger && err == nil {
		w.Linger()
	}
}

// handleBytes processes received bytes. It fails if they are not valid HTTP/2.
func (w *http2Conn) handleBytes(b []byte) error {
	for len(b) > 0 {
		f, n, isComplete, err := w.reader.Next(b)
		if b = b[n:]; err == nil && isComplete {
			err = w.handleFrame(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// handleFrame processes one frame. Continuation frames must follow headers without an end, and may occur
// nowhere else.
func (w *http2Conn) handleFrame(f h2.Frame) error {
	headIsOpen := w.openCall != nil
	isContinuation := f.Type == h2.Continuation
	isOfOtherStream := headIsOpen && f.Stream != w.openCall.stream
	if headIsOpen != isContinuation || isOfOtherStream {
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
		n := int64(f.Number(0) &^ (1 << 31)) // without the reserved bit
		if c := w.findCall(f.Stream); c != nil {
			c.window += n
		} else if f.Stream == 0 {
			w.window += n
		}
	case h2.Ping:
		if !f.Has(h2.Ack) {
			w.out = h2.AppendFrame(w.out, h2.Frame{Type: h2.Ping, Flags: h2.Ack, Payload: f.Payload})
		}
	case h2.PushPromise:
		return h2.Error("a promise of a client")
	}
	w.sendResponses()
	return nil
}

// applySettings applies the settings of the client. A new initial window also changes open streams (RFC
// 9113, section 6.9.2).
func (w *http2Conn) applySettings(f h2.Frame) {
	for id, v := range f.Values() {
		switch id {
		case h2.HeaderTableSize:
			w.encoder.Allow(v)
		case h2.InitialWindowSize:
			for _, c := range w.calls {
				c.window += int64(v) - w.initialWindow
			}
			for _, c := range w.responding {
				c.window += int64(v) - w.initialWindow
			}
			w.initialWindow = int64(v)
		}
	}
}

// findCall returns the call on a stream, or nil.
func (w *http2Conn) findCall(stream uint32) *grpcCall {
	if c := w.calls[stream]; c != nil {
		return c
	}
	if i := w.respondingIndex(stream); i >= 0 {
		return w.responding[i]
	}
	return nil
}

func (w *http2Conn) respondingIndex(stream uint32) int {
	return slices.IndexFunc(w.responding, func(c *grpcCall) bool { return c.stream == stream })
}

// removeCall forgets the call on a stream, which the client has reset.
func (w *http2Conn) removeCall(stream uint32) {
	delete(w.calls, stream)
	if i := w.respondingIndex(stream); i >= 0 {
		w.responding = slices.Delete(w.responding, i, i+1)
	}
}

func (w *http2Conn) handleHeaders(f h2.Frame) (err error) {
	b := f.Payload
	if f.Type == h2.Headers {
		if b, err = f.Content(); err != nil {
			return err
		}
		c := w.calls[f.Stream]
		if c == nil {
			if f.Stream%2 == 0 || f.Stream <= w.lastStream { // clients open streams with odd, increasing numbers
				return h2.Error("a head of no call")
			}
			c, w.lastStream = w.newCall(f.Stream), f.Stream
		}
		w.openCall = c
		w.headBlock = w.headBlock[:0]
		w.endsStream = f.Has(h2.EndStream)
	}
	if w.headBlock = append(w.headBlock, b...); len(w.headBlock) > maxHead {
		return h2.Error("a head that is too long")
	}
	if !f.Has(h2.EndHeaders) {
		return nil
	}
	err = w.decoder.Decode(w.headBlock, w.onField)
	c := w.openCall
	w.openCall = nil
	isNew := w.calls[c.stream] == nil
	switch {
	case err != nil:
		return err
	case isNew && (len(w.calls) == maxStreams || w.Ends()): // too many calls, or the server is ending
		w.out = h2.AppendReset(w.out, c.stream, h2.RefusedStream)
	case w.endsStream:
		w.finishCall(c)
	default:
		w.calls[c.stream] = c
	}
	return nil
}

func (w *http2Conn) newCall(stream uint32) *grpcCall {
	c := new(grpcCall)
	if n := len(w.free); n > 0 {
		c, w.free = w.free[n-1], w.free[:n-1]
	}
	*c = grpcCall{stream: stream, body: c.body[:0], response: c.response[:0], window: w.initialWindow}
	return c
}

// setField stores a header field of w.openCall. It ignores unknown fields.
func (w *http2Conn) setField(name, value []byte) error {
	switch c := w.openCall; string(name) {
	case ":path":
		if w.lastPath != string(value) { // the comparison does not allocate
			w.lastPath = string(value)
		}
		c.path = w.lastPath
	case "content-type":
		c.isGRPC = bytes.HasPrefix(value, []byte("application/grpc"))
	case "x-request-id":
		c.clientID = string(value)
	}
	return nil
}

// handleData appends a part of a call's body. After half a window it sends a window update, so that the
// client need not wait. If the message is too long it responds with an error and resets the stream.
func (w *http2Conn) handleData(f h2.Frame) error {
	const maxUnacked = h2.Window / 2
	b, err := f.Content()
	if err != nil {
		return err
	}
	if w.unacked += int64(len(f.Payload)); w.unacked > maxUnacked {
		w.out = h2.AppendWindowUpdate(w.out, 0, uint32(w.unacked))
		w.unacked = 0
	}
	c := w.calls[f.Stream]
	if c == nil { // the call has ended
		return nil
	}
	c.body = append(c.body, b...)
	switch c.unacked += int64(len(f.Payload)); {
	case len(c.body) > users.MaxBody+prefixLen:
		delete(w.calls, c.stream)
		e := users.RefusalOf(users.TooLarge())
		c.code, c.message = e.Code.GRPC(), e.Message
		c.requestID = w.server.users.RequestID(c.clientID)
		w.out = w.appendResponseHead(c)
		w.responding = append(w.responding, c)
		w.sendResponses()
		w.out = h2.AppendReset(w.out, c.stream, h2.NoError)
	case f.Has(h2.EndStream):
		delete(w.calls, c.stream)
		w.finishCall(c)
	case c.unacked > maxUnacked:
		w.out = h2.AppendWindowUpdate(w.out, c.stream, uint32(c.unacked))
		c.unacked = 0
	}
	return nil
}

func (w *http2Conn) finishCall(c *grpcCall) {
	delete(w.calls, c.stream)
	if !c.isGRPC { // no other protocol: status 415, unsupported media type
		frame := len(w.out)
		w.out = h2.AppendField(w.encoder.Begin(h2.AppendHeader(w.out, 0, h2.Headers, h2.EndHeaders|h2.EndStream, c.stream)), ":status", "415")
		h2.SetLength(w.out[frame:])
		return
	}
	w.server.respondCall(c)
	w.out = w.appendResponseHead(c)
	w.responding = append(w.responding, c)
	w.sendResponses()
}

// appendResponseHead appends the headers of a response. For an error they are the complete response.
func (w *http2Conn) appendResponseHead(c *grpcCall) []byte {
	flags := uint8(h2.EndHeaders)
	if c.code != codeOK {
		flags |= h2.EndStream
	}
	frame := len(w.out)
	b := w.encoder.Begin(h2.AppendHeader(w.out, 0, h2.Headers, flags, c.stream))
	b = w.encoder.Append(h2.AppendField(b, ":status", "200"), w.contentType)
	b = h2.AppendLiteral(b, "x-request-id", c.requestID)
	if c.code != codeOK {
		b = h2.AppendLiteral(b, "grpc-status", strconv.Itoa(c.code))
		b = h2.AppendLiteral(b, "grpc-message", escapeText(c.message))
	}
	h2.SetLength(b[frame:])
	return b
}

// sendResponses sends the rest of responses, one after another, as far as the client's windows allow.
func (w *http2Conn) sendResponses() {
	for len(w.responding) > 0 {
		c := w.responding[0]
		for c.code == codeOK && c.sent < len(c.response) {
			n := int(min(int64(len(c.response)-c.sent), h2.MaxFrame, w.window, c.window))
			if n <= 0 {
				return
			}
			w.out = append(h2.AppendHeader(w.out, n, h2.Data, 0, c.stream), c.response[c.sent:c.sent+n]...)
			c.sent += n
			w.window -= int64(n)
			c.window -= int64(n)
		}
		if c.code == codeOK { // trailers
			frame := len(w.out)
			w.out = w.encoder.Append(w.encoder.Begin(h2.AppendHeader(w.out, 0, h2.Headers, h2.EndHeaders|h2.EndStream, c.stream)), w.statusOK)
			h2.SetLength(w.out[frame:])
		}
		w.responding = slices.Delete(w.responding, 0, 1)
		w.free = append(w.free, c)
	}
}

// escapeText encodes a text for the header grpc-message (github.com/grpc/grpc, PROTOCOL-HTTP2:
// Percent-Encoded).
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
