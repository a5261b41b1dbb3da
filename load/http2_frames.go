package load

import (
	"errors"

	"github.com/tarebench/tare/load/h2"
)

// This file processes the frames of a server on one connection of HTTP/2. A frame of a request's stream
// belongs to a call.

// handleFrame processes a frame. After an error the connection is unusable.
func (h *http2) handleFrame(f h2.Frame) error {
	if !h.hasSettings && (f.Type != h2.Settings || f.Has(h2.Ack)) {
		return frameError("a connection that does not begin with SETTINGS")
	}
	if h.blockCall != nil && (f.Type != h2.Continuation || f.Stream != h.blockCall.id) {
		return frameError("a " + f.Type.String() + " frame in the middle of a head")
	}
	switch f.Type {
	case h2.Data, h2.Headers, h2.RSTStream, h2.WindowUpdate, h2.Continuation:
		isServers := f.Stream != 0 && f.Stream%2 == 0 // streams that a client opens have odd ids
		if f.Stream > h.stream || isServers {
			return frameError("a " + f.Type.String() + " frame of a stream that was not opened")
		}
		if c := h.callOf(f.Stream); c != nil && f.Stream != 0 {
			if f.Type != h2.WindowUpdate {
				return h.handleCallFrame(c, f)
			}
			err := h.handleWindowUpdate(f, &c.sendRoom)
			if errors.Is(err, errWindow) { // an error of this stream only
				h.failCall(c, err)
				err = nil
			}
			return err
		}
	}
	return h.handleUnrelated(f)
}

// handleUnrelated processes a frame that belongs to no call in flight.
func (h *http2) handleUnrelated(f h2.Frame) error {
	if h.unrelated += h2.HeaderLen + len(f.Payload); h.unrelated > maxUnrelated {
		return frameError("frames without end that belong to no answer")
	}
	switch f.Type {
	case h2.Data, h2.Headers, h2.Continuation:
		return frameError("a " + f.Type.String() + " frame behind the end of its stream")
	case h2.PushPromise:
		return frameError("a PUSH_PROMISE, which was not allowed")
	case h2.Settings:
		return h.handleSettings(f)
	case h2.WindowUpdate:
		if f.Stream != 0 { // the stream is closed: only check the frame
			return h.handleWindowUpdate(f, new(int64))
		}
		return h.handleWindowUpdate(f, &h.sendConn)
	case h2.Ping:
		if !f.Has(h2.Ack) {
			h.replyFrame(h2.Frame{Type: h2.Ping, Flags: h2.Ack, Payload: f.Payload})
		}
	case h2.GoAway:
		h.handleGoAway(f)
	}
	return nil
}

// handleGoAway ends the calls that the server will not process.
func (h *http2) handleGoAway(f h2.Frame) {
	h.noMoreStreams = true
	last := f.Number(0) &^ (1 << 31) // without the reserved bit
	for i := range h.calls {
		if c := &h.calls[i]; c.inFlight && !c.abandoned && c.id > last {
			h.finishCall(c, c.lossError("the server went away and left the request: "+h2.Code(f.Number(4)).String()))
		}
	}
}

// handleCallFrame processes a frame of a call. If only this response is invalid, it ends the call and
// returns nil. After an error the connection is unusable.
func (h *http2) handleCallFrame(c *call, f h2.Frame) error {
	if c.lastFeed != h.feedCount {
		if c.lastFeed = h.feedCount; c.parts == 0 {
			c.first = h.now
		}
		c.parts++
	}
	switch f.Type {
	case h2.Data:
		if err := h.handleData(c, f); err != nil {
			h.failCall(c, err)
		}
	case h2.RSTStream:
		if c.abandoned {
			c.inFlight = false
			return nil
		}
		code := h2.Code(f.Number(0))
		why := "the server reset the stream: " + code.String()
		if code == h2.RefusedStream {
			h.finishCall(c, c.lossError(why))
		} else {
			h.finishCall(c, resetError(why))
		}
	default:
		return h.handleHeaders(c, f)
	}
	return nil
}

// lossError returns the error of a request that the server did not process. If a response has begun, the
// request must not be sent again.
func (c *call) lossError(why string) error {
	if c.response.begun {
		return resetError(why)
	}
	return unprocessedError(why)
}

// handleSettings applies the server's settings. MAX_HEADER_LIST_SIZE is ignored: headers of requests are
// never that long.
func (h *http2) handleSettings(f h2.Frame) error {
	if f.Has(h2.Ack) {
		return nil
	}
	h.hasSettings = true
	for id, v := range f.Values() {
		switch {
		case id == h2.EnablePush && v != 0:
			return frameError("a server that lets itself be pushed to")
		case id == h2.MaxFrameSize && (v < h2.MaxFrame || v >= 1<<24):
			return frameError("frames of a size that cannot be")
		case id == h2.HeaderTableSize:
			h.encoder.Allow(v)
		case id == h2.InitialWindowSize:
			if v > h2.MaxWindow {
				return errWindow
			}
			for i := range h.calls {
				c := &h.calls[i]
				if c.sendRoom += int64(v) - h.initial; c.inFlight && c.sendRoom > h2.MaxWindow {
					return errWindow
				}
			}
			h.initial = int64(v)
		case id == h2.MaxStreams:
			h.maxStreams = v
		}
	}
	h.replyFrame(h2.Frame{Type: h2.Settings, Flags: h2.Ack})
	return nil
}

func (h *http2) replyFrame(f h2.Frame) {
	h.out = h2.AppendFrame(h.out, f)
	h.replied += h2.HeaderLen + len(f.Payload)
}

func (h *http2) handleWindowUpdate(f h2.Frame, window *int64) error {
	n := int64(f.Number(0) &^ (1 << 31)) // without the reserved bit
	if n == 0 {
		return frameError("a WINDOW_UPDATE of nothing")
	}
	if *window += n; *window > h2.MaxWindow {
		return errWindow
	}
	return nil
}

func (h *http2) handleData(c *call, f h2.Frame) error {
	n := int64(len(f.Payload)) // padding uses the window, too
	h.roomConn, c.room = h.roomConn-n, c.room-n
	h.readConn, c.read = h.readConn+n, c.read+n
	b, err := f.Content()
	switch {
	case err != nil:
		return err
	case h.roomConn < 0 || c.room < 0:
		return errRoom
	case !c.hasHead:
		return frameError("DATA before a head")
	case len(b) > 0 && c.hasNoBody():
		return frameError("DATA of an answer that has none")
	}
	c.response.storeBody = c.response.storeBody && c.stored.appendPart(b)
	c.response.stored = c.stored.body
	if c.dataBytes += int64(len(b)); c.header.length > 0 && c.dataBytes >= c.header.length {
		return frameError("a body longer than its Content-Length")
	}
	c.response.body = c.dataBytes
	if h.grpc && c.header.status == 200 {
		if err := c.msg.takeData(b); err != nil {
			return err
		}
		c.response.body = c.msg.body
	}
	if f.Has(h2.EndStream) {
		h.fields.code = noCode
		return h.finishResponse(c)
	}
	return nil
}

// handleHeaders collects a block from HEADERS and CONTINUATION frames, and decodes it at its end.
func (h *http2) handleHeaders(c *call, f h2.Frame) error {
	c.response.begun = true
	if c.size += h2.HeaderLen + len(f.Payload); c.size > MaxHead {
		return errHeadTooLong
	}
	b := f.Payload
	if f.Type == h2.Headers {
		var err error
		if b, err = f.Content(); err != nil {
			return err
		}
		h.blockEnds = f.Has(h2.EndStream)
		if f.Has(h2.EndHeaders) {
			return h.decodeBlock(c, b)
		}
		h.block = h.block[:0]
	} else if h.blockCall == nil {
		return frameError("a CONTINUATION of nothing")
	}
	h.block, h.blockCall = append(h.block, b...), c
	if !f.Has(h2.EndHeaders) {
		return nil
	}
	h.blockCall = nil
	return h.decodeBlock(c, h.block)
}

// Errors of flow control.
const (
	errWindow = frameError("a window larger than can be")
	errRoom   = frameError("more DATA than there was room for")
)

// goAwayCode returns the code of the GOAWAY or RST_STREAM that err leads to.
func goAwayCode(err error) h2.Code {
	if errors.Is(err, errWindow) || errors.Is(err, errRoom) {
		return h2.FlowControl
	}
	return h2.ProtocolError
}

const errHeadTooLong = frameError("the head of the answer is too long")

// takeField processes one field of the current block, and limits the size of all fields of the call.
func (h *http2) takeField(name, value []byte) error {
	if *h.listed += len(name) + len(value); *h.listed > MaxHead {
		return errHeadTooLong
	}
	return h.fields.addField(name, value)
}

// decodeBlock decodes an interim header, the final header, or trailers. After an error the connection is
// unusable: the block may have changed the dynamic table.
func (h *http2) decodeBlock(c *call, block []byte) error {
	h.fields, h.listed = headerFields{trailers: c.hasHead, code: noCode}, &c.listed
	if err := h.decoder.Decode(block, h.field); err != nil {
		return err
	}
	if err := h.handleBlock(c); err != nil {
		h.failCall(c, err)
	}
	return nil
}

// handleBlock processes a decoded block. An error concerns only this call.
func (h *http2) handleBlock(c *call) error {
	ends := h.blockEnds
	switch status := h.fields.status; {
	case c.hasHead && !ends:
		return frameError("trailers that are not the end")
	case c.hasHead:
		return h.finishResponse(c)
	case status == 0:
		return frameError("a head without a status")
	case status == 101:
		return frameError("status 101, which HTTP/2 does not have")
	case status < 200 && ends:
		return frameError("an interim answer that is the end")
	case status < 200:
		return nil
	}
	c.hasHead, c.header = true, h.fields
	if ends {
		return h.finishResponse(c)
	}
	return nil
}
