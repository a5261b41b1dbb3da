package load

import (
	"errors"

	"github.com/tarebench/tare/load/h2"
)

// handle does what a frame asks for.
func (h *http2) handle(f h2.Frame) error {
	if !h.greeted && (f.Type != h2.Settings || f.Has(h2.Ack)) {
		return frameError("a connection that does not begin with SETTINGS")
	}
	if h.within != nil && (f.Type != h2.Continuation || f.Stream != h.within.id) {
		return frameError("a " + f.Type.String() + " frame in the middle of a head")
	}
	switch f.Type {
	case h2.Data, h2.Headers, h2.RSTStream, h2.WindowUpdate, h2.Continuation:
		if f.Stream > h.stream || f.Stream != 0 && f.Stream%2 == 0 {
			return frameError("a " + f.Type.String() + " frame of a stream that was not opened")
		}
		if c := h.of(f.Stream); c != nil && f.Stream != 0 {
			if f.Type != h2.WindowUpdate {
				return h.answers(c, f)
			}
			err := h.windowUpdate(f, &c.sendRoom)
			if errors.Is(err, errWindow) {
				h.fail(c, err)
				err = nil
			}
			return err
		}
	}
	if h.beside += h2.HeaderLen + len(f.Payload); h.beside > mostBeside {
		return frameError("frames without end that belong to no answer")
	}
	switch f.Type {
	case h2.Data, h2.Headers, h2.Continuation:
		return frameError("a " + f.Type.String() + " frame behind the end of its stream")
	case h2.PushPromise:
		return frameError("a PUSH_PROMISE, which was not allowed")
	case h2.Settings:
		return h.settings(f)
	case h2.WindowUpdate:
		if f.Stream != 0 { // it is over
			return h.windowUpdate(f, new(int64))
		}
		return h.windowUpdate(f, &h.sendConn)
	case h2.Ping:
		if !f.Has(h2.Ack) {
			h.reply(h2.Frame{Type: h2.Ping, Flags: h2.Ack, Payload: f.Payload})
		}
	case h2.GoAway:
		h.leaving = true
		last := f.Number(0) &^ (1 << 31)
		for i := range h.calls {
			if c := &h.calls[i]; c.under && !c.muted && c.id > last {
				h.decide(c, c.left("the server went away and left the request: "+h2.Code(f.Number(4)).String()))
			}
		}
	}
	return nil
}

// answers takes a frame of an answer. What is wrong with the answer alone is the
// call's; what leaves the connection unreadable is an error.
func (h *http2) answers(c *call, f h2.Frame) error {
	if c.fed != h.fed {
		if c.fed = h.fed; c.pieces == 0 {
			c.first = h.now
		}
		c.pieces++
	}
	switch f.Type {
	case h2.Data:
		if err := h.data(c, f); err != nil {
			h.fail(c, err)
		}
	case h2.RSTStream:
		if c.muted {
			c.under = false
			return nil
		}
		code := h2.Code(f.Number(0))
		why := "the server reset the stream: " + code.String()
		if code == h2.RefusedStream {
			h.decide(c, c.left(why))
		} else {
			h.decide(c, resetError(why))
		}
	default:
		return h.headers(c, f)
	}
	return nil
}

// left is the error of a request that the server says it did not look at, unless
// it has begun to answer it.
func (c *call) left(why string) error {
	if c.a.begun {
		return resetError(why)
	}
	return leftError(why)
}

// settings takes the server's settings. Lists of headers as long as those it may
// refuse are not sent here.
func (h *http2) settings(f h2.Frame) error {
	if f.Has(h2.Ack) {
		return nil
	}
	h.greeted = true
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
				if c.sendRoom += int64(v) - h.initial; c.under && c.sendRoom > h2.MaxWindow {
					return errWindow
				}
			}
			h.initial = int64(v)
		case id == h2.MaxStreams:
			h.most = v
		}
	}
	h.reply(h2.Frame{Type: h2.Settings, Flags: h2.Ack})
	return nil
}

// reply owes the server what it wants to hear.
func (h *http2) reply(f h2.Frame) {
	h.out = h2.AppendFrame(h.out, f)
	h.replied += h2.HeaderLen + len(f.Payload)
}

func (h *http2) windowUpdate(f h2.Frame, window *int64) error {
	n := int64(f.Number(0) &^ (1 << 31))
	if n == 0 {
		return frameError("a WINDOW_UPDATE of nothing")
	}
	if *window += n; *window > h2.MaxWindow {
		return errWindow
	}
	return nil
}

// data takes a piece of the body.
func (h *http2) data(c *call, f h2.Frame) error {
	n := int64(len(f.Payload)) // padding takes room, too
	h.roomConn, c.room = h.roomConn-n, c.room-n
	h.readConn, c.read = h.readConn+n, c.read+n
	b, err := f.Content()
	switch {
	case err != nil:
		return err
	case h.roomConn < 0 || c.room < 0:
		return errRoom
	case !c.headed:
		return frameError("DATA before a head")
	case len(b) > 0 && c.bodyless():
		return frameError("DATA of an answer that has none")
	}
	c.a.keep = c.a.keep && c.kept.add(b)
	c.a.kept = c.kept.body
	if c.came += int64(len(b)); c.known.length > 0 && c.came >= c.known.length {
		return frameError("a body longer than its Content-Length")
	}
	c.a.body = c.came
	if h.grpc && c.known.status == 200 {
		if err := c.msg.take(b); err != nil {
			return err
		}
		c.a.body = c.msg.body
	}
	if f.Has(h2.EndStream) {
		h.fields.code = noCode
		return h.finish(c)
	}
	return nil
}

// headers takes a head, or trailers, in one frame or several.
func (h *http2) headers(c *call, f h2.Frame) error {
	c.a.begun = true
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
			return h.head(c, b)
		}
		h.block = h.block[:0]
	} else if h.within == nil {
		return frameError("a CONTINUATION of nothing")
	}
	h.block, h.within = append(h.block, b...), c
	if !f.Has(h2.EndHeaders) {
		return nil
	}
	h.within = nil
	return h.head(c, h.block)
}

// What answers are refused for whose heads have no end, or become many times as
// long as what was sent of them.
const (
	errWindow = frameError("a window larger than can be")
	errRoom   = frameError("more DATA than there was room for")
)

// codeOf is what a server is told of what is wrong with its frames.
func codeOf(err error) h2.Code {
	if errors.Is(err, errWindow) || errors.Is(err, errRoom) {
		return h2.FlowControl
	}
	return h2.ProtocolError
}

const errHeadTooLong = frameError("the head of the answer is too long")

// take takes one field of a block.
func (h *http2) take(name, value []byte) error {
	if *h.listed += len(name) + len(value); *h.listed > MaxHead {
		return errHeadTooLong
	}
	return h.fields.add(name, value)
}

// head reads a block: an interim head, the answer's, or trailers. Where it cannot be
// read, no later one can.
func (h *http2) head(c *call, block []byte) error {
	h.fields, h.listed = fields{trailers: c.headed, code: noCode}, &c.listed
	if err := h.decoder.Decode(block, h.field); err != nil {
		return err
	}
	if err := h.headRead(c); err != nil {
		h.fail(c, err)
	}
	return nil
}

// headRead takes the fields of a block.
func (h *http2) headRead(c *call) error {
	ends := h.blockEnds
	switch status := h.fields.status; {
	case c.headed && !ends:
		return frameError("trailers that are not the end")
	case c.headed:
		return h.finish(c)
	case status == 0:
		return frameError("a head without a status")
	case status == 101:
		return frameError("status 101, which HTTP/2 does not have")
	case status < 200 && ends:
		return frameError("an interim answer that is the end")
	case status < 200:
		return nil
	}
	c.headed, c.known = true, h.fields
	if ends {
		return h.finish(c)
	}
	return nil
}
