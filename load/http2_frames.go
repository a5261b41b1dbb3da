package load

import (
	"github.com/tarebench/tare/load/h2"
)

// handle does what a frame asks for.
func (h *http2) handle(f h2.Frame) error {
	if !h.greeted && (f.Type != h2.Settings || f.Has(h2.Ack)) {
		return frameError("a connection that does not begin with SETTINGS")
	}
	if h.within && (f.Type != h2.Continuation || f.Stream != h.stream) {
		return frameError("a " + f.Type.String() + " frame in the middle of a head")
	}
	switch f.Type {
	case h2.Data, h2.Headers, h2.RSTStream, h2.WindowUpdate, h2.Continuation:
		if f.Stream > h.stream || f.Stream != 0 && f.Stream%2 == 0 {
			return frameError("a " + f.Type.String() + " frame of a stream that nobody opened")
		}
	}
	if f.Stream == h.stream && h.under {
		switch f.Type {
		case h2.Data:
			return h.data(f)
		case h2.Headers, h2.Continuation:
			return h.headers(f)
		case h2.RSTStream:
			h.under, h.content = false, nil
			return resetError("the server reset the stream: " + h2.Code(f.Number(0)).String())
		}
	}
	switch f.Type {
	case h2.Data, h2.Headers, h2.Continuation:
		return frameError("a " + f.Type.String() + " frame behind the end of its stream")
	case h2.PushPromise:
		return frameError("a PUSH_PROMISE, which was not allowed")
	case h2.Settings:
		return h.settings(f)
	case h2.WindowUpdate:
		return h.windowUpdate(f)
	case h2.Ping:
		if !f.Has(h2.Ack) {
			h.out = h2.AppendFrame(h.out, h2.Frame{Type: h2.Ping, Flags: h2.Ack, Payload: f.Payload})
		}
	case h2.GoAway:
		h.leaving = true
		if last := f.Number(0) &^ (1 << 31); h.under && h.stream > last {
			h.under, h.content = false, nil
			return resetError("the server went away and left the request: " + h2.Code(f.Number(4)).String())
		}
	}
	return nil
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
				return frameError("a window larger than can be")
			}
			h.sendStream += int64(v) - h.initial
			h.initial = int64(v)
			if h.under && h.sendStream > h2.MaxWindow {
				return frameError("a window larger than can be")
			}
		}
	}
	h.out = h2.AppendHeader(h.out, 0, h2.Settings, h2.Ack, 0)
	return nil
}

func (h *http2) windowUpdate(f h2.Frame) error {
	n := int64(f.Number(0) &^ (1 << 31))
	window := &h.sendConn
	switch {
	case n == 0:
		return frameError("a WINDOW_UPDATE of nothing")
	case f.Stream == h.stream && f.Stream != 0 && h.under:
		window = &h.sendStream
	case f.Stream != 0: // it is over
		return nil
	}
	if *window += n; *window > h2.MaxWindow {
		return frameError("a window larger than can be")
	}
	return nil
}

// data takes a piece of the body.
func (h *http2) data(f h2.Frame) error {
	n := int64(len(f.Payload)) // padding takes room, too
	h.roomConn, h.roomStream = h.roomConn-n, h.roomStream-n
	h.readConn, h.readStream = h.readConn+n, h.readStream+n
	b, err := f.Content()
	switch {
	case err != nil:
		return err
	case h.roomConn < 0 || h.roomStream < 0:
		return frameError("more DATA than there was room for")
	case !h.headed:
		return frameError("DATA before a head")
	case len(b) > 0 && h.bodyless():
		return frameError("DATA of an answer that has none")
	}
	if h.a.keep {
		if len(h.a.kept)+len(b) > maxKept {
			h.a.keep = false
		} else {
			h.a.kept = append(h.a.kept, b...)
		}
	}
	if h.came += int64(len(b)); h.known.length > 0 && h.came >= h.known.length {
		return frameError("a body longer than its Content-Length")
	}
	h.a.body = h.came
	if h.grpc && h.known.status == 200 {
		if err := h.msg.take(b); err != nil {
			return err
		}
		h.a.body = h.msg.body
	}
	if f.Has(h2.EndStream) {
		h.fields.code = noCode
		return h.finish()
	}
	return nil
}

// headers takes a head, or trailers, in one frame or several.
func (h *http2) headers(f h2.Frame) error {
	h.a.begun = true
	if h.size += h2.HeaderLen + len(f.Payload); h.size > maxHead {
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
			return h.head(b)
		}
		h.block = h.block[:0]
	} else if !h.within {
		return frameError("a CONTINUATION of nothing")
	}
	h.block, h.within = append(h.block, b...), !f.Has(h2.EndHeaders)
	if h.within {
		return nil
	}
	return h.head(h.block)
}

// What answers are refused for whose heads have no end, or become many times as
// long as what was sent of them.
const errHeadTooLong = frameError("the head of the answer is too long")

// take takes one field of a block.
func (h *http2) take(name, value []byte) error {
	if h.listed += len(name) + len(value); h.listed > maxHead {
		return errHeadTooLong
	}
	return h.fields.add(name, value)
}

// head reads a block: an interim head, the answer's, or trailers.
func (h *http2) head(block []byte) error {
	h.fields = fields{trailers: h.headed, code: noCode}
	if err := h.decoder.Decode(block, h.field); err != nil {
		return err
	}
	ends := h.blockEnds
	switch status := h.fields.status; {
	case h.headed && !ends:
		return frameError("trailers that are not the end")
	case h.headed:
		return h.finish()
	case status == 0:
		return frameError("a head without a status")
	case status == 101:
		return frameError("status 101, which HTTP/2 does not have")
	case status < 200 && ends:
		return frameError("an interim answer that is the end")
	case status < 200:
		return nil
	}
	h.headed, h.known = true, h.fields
	if ends {
		return h.finish()
	}
	return nil
}
