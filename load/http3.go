package load

import (
	"github.com/tarebench/tare/load/h3"
)

// responseHTTP3 parses the response to one request from the bytes of its stream. It is reused for the next
// request. HTTP/3 calls an encoded header, or the trailers, a field section.
type responseHTTP3 struct {
	response    response
	isHead      bool // the request was HEAD
	hasHead     bool
	hasTrailers bool
	header      headerFields
	bodyBytes   int64
	size        uint64 // bytes of all field sections, encoded
	listed      int    // bytes of all field sections, decoded
	section     []byte // start of an incomplete field section
	frames      h3.Reader
	decoder     h3.Decoder
	fields      headerFields                   // of the current section
	field       func(name, value []byte) error // the method addField, bound once
	body        func(b []byte) bool            // stores a part of the body; false means no room
}

func (h *responseHTTP3) reset(isHead, storeBody bool) {
	if h.field == nil {
		h.field = h.addField
	}
	h.response, h.isHead, h.hasHead, h.hasTrailers, h.bodyBytes, h.size, h.listed = response{storeBody: storeBody}, isHead, false, false, 0, 0, 0
	h.frames.Reset()
}

// feed parses the next bytes of the stream. If it fails, the response is lost.
func (h *responseHTTP3) feed(b []byte) error {
	h.response.begun = h.response.begun || len(b) > 0
	for len(b) > 0 {
		p, n, ok := h.frames.Next(b)
		if b = b[n:]; !ok {
			return nil
		}
		var err error
		switch p.Type {
		case h3.Data:
			err = h.readData(p)
		case h3.Headers:
			err = h.readHeaders(p)
		case h3.PushPromise, h3.Settings, h3.GoAway, h3.CancelPush, h3.MaxPushID,
			0x2, 0x6, 0x8, 0x9: // types that only HTTP/2 has (RFC 9114, section 7.2.8)
			err = frameError("a frame that may not be in an answer")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *responseHTTP3) readData(p h3.Part) error {
	if !h.hasHead || h.hasTrailers {
		return frameError("DATA that does not follow a head")
	}
	h.bodyBytes += int64(len(p.Payload))
	if h.header.length > 0 && h.bodyBytes >= h.header.length && len(p.Payload) > 0 {
		return frameError("a body longer than its Content-Length")
	}
	h.response.body = h.bodyBytes
	h.response.storeBody = h.response.storeBody && h.body(p.Payload)
	return nil
}

func (h *responseHTTP3) readHeaders(p h3.Part) error {
	if p.First {
		if h.size += p.Length; p.Length > MaxHead || h.size > MaxHead {
			return errHeadTooLong
		}
		if h.hasTrailers {
			return frameError("a head after trailers")
		}
		if p.Last {
			return h.readSection(p.Payload)
		}
		h.section = h.section[:0]
	}
	if h.section = append(h.section, p.Payload...); !p.Last {
		return nil
	}
	return h.readSection(h.section)
}

func (h *responseHTTP3) addField(name, value []byte) error {
	if h.listed += len(name) + len(value); h.listed > MaxHead {
		return errHeadTooLong
	}
	return h.fields.addField(name, value)
}

func (h *responseHTTP3) readSection(section []byte) error {
	h.fields = headerFields{trailers: h.hasHead, code: noCode}
	if err := h.decoder.Decode(section, h.field); err != nil {
		return err
	}
	switch status := h.fields.status; {
	case h.hasHead:
		h.hasTrailers = true
	case status == 0:
		return frameError("a head without a status")
	case status == 101:
		return frameError("status 101, which HTTP/3 does not have")
	case status >= 200:
		h.hasHead, h.header = true, h.fields
		h.response.status = status
	}
	return nil
}

// checkEnd marks the response as done at the end of the stream. It fails if the response is incomplete.
func (h *responseHTTP3) checkEnd() error {
	bodyless := h.isHead || h.header.status == 204 || h.header.status == 304
	switch {
	case h.frames.IsPartial():
		return frameError("a stream that ends within a frame")
	case !h.hasHead:
		return frameError("a stream that ends without a head")
	case !bodyless && h.header.length > 0 && h.header.length != h.bodyBytes+1: // length is Content-Length plus 1, or 0
		return frameError("a body shorter than its Content-Length")
	}
	h.response.done = true
	return nil
}
