package load

import (
	"github.com/tarebench/tare/load/h3"
)

// responseHTTP3 parses the response on a stream of HTTP/3.
type responseHTTP3 struct {
	a       response
	bare    bool // the request was HEAD
	headed  bool // the final head has come
	ended   bool // trailers have come
	known   headerFields
	came    int64  // bytes of the body
	size    uint64 // bytes of all heads, encoded
	listed  int    // bytes of all heads, decoded
	section []byte // incomplete
	frames  h3.Reader
	decoder h3.Decoder
	fields  headerFields                   // of the section that is read
	field   func(name, value []byte) error // addField, made once
	body    func(b []byte) bool            // stores what is to be verified; false if there is no room
}

// reset prepares for the answer of another request.
func (h *responseHTTP3) reset(bare, keep bool) {
	if h.field == nil {
		h.field = h.addField
	}
	h.a, h.bare, h.headed, h.ended, h.came, h.size, h.listed = response{keep: keep}, bare, false, false, 0, 0, 0
	h.frames.Reset()
}

// feed takes bytes as they came. Its error says that there will be no answer.
func (h *responseHTTP3) feed(b []byte) error {
	h.a.begun = h.a.begun || len(b) > 0
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
		case h3.PushPromise, h3.Settings, h3.GoAway, h3.CancelPush, h3.MaxPushID, 0x2, 0x6, 0x8, 0x9:
			err = frameError("a frame that may not be in an answer")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readData takes a part of a DATA frame.
func (h *responseHTTP3) readData(p h3.Part) error {
	if !h.headed || h.ended {
		return frameError("DATA that does not follow a head")
	}
	h.came += int64(len(p.Payload))
	if h.known.length > 0 && h.came >= h.known.length && len(p.Payload) > 0 {
		return frameError("a body longer than its Content-Length")
	}
	h.a.body = h.came
	h.a.keep = h.a.keep && h.body(p.Payload)
	return nil
}

// readHeaders takes a part of a HEADERS frame.
func (h *responseHTTP3) readHeaders(p h3.Part) error {
	if p.First {
		if h.size += p.Length; p.Length > MaxHead || h.size > MaxHead {
			return errHeadTooLong
		}
		if h.ended {
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

// addField takes one field of a section.
func (h *responseHTTP3) addField(name, value []byte) error {
	if h.listed += len(name) + len(value); h.listed > MaxHead {
		return errHeadTooLong
	}
	return h.fields.addField(name, value)
}

// readSection reads an interim head, the final one, or trailers.
func (h *responseHTTP3) readSection(section []byte) error {
	h.fields = headerFields{trailers: h.headed, code: noCode}
	if err := h.decoder.Decode(section, h.field); err != nil {
		return err
	}
	switch status := h.fields.status; {
	case h.headed:
		h.ended = true
	case status == 0:
		return frameError("a head without a status")
	case status == 101:
		return frameError("status 101, which HTTP/3 does not have")
	case status >= 200:
		h.headed, h.known = true, h.fields
		h.a.status = status
	}
	return nil
}

// checkEnd returns an error unless the stream may end here: the response is complete.
func (h *responseHTTP3) checkEnd() error {
	bodyless := h.bare || h.known.status == 204 || h.known.status == 304
	switch {
	case h.frames.IsPartial():
		return frameError("a stream that ends within a frame")
	case !h.headed:
		return frameError("a stream that ends without a head")
	case !bodyless && h.known.length > 0 && h.known.length != h.came+1:
		return frameError("a body shorter than its Content-Length")
	}
	h.a.done = true
	return nil
}
