package h2

import (
	"encoding/binary"
	"strconv"
)

// Reader splits the input of an HTTP/2 connection into frames. The input may arrive in parts of any size.
// Its zero value is ready for use.
type Reader struct {
	part []byte // start of an incomplete frame
	used bool   // part is the frame that Next returned last
}

// Next consumes the first n bytes of b and returns the frame that they complete. If no frame is complete
// yet, whole is false and n is len(b). The payload is valid until the next call, as long as b is unchanged.
// Next rejects invalid lengths as soon as the header has arrived.
func (r *Reader) Next(b []byte) (f Frame, n int, whole bool, err error) {
	if r.used {
		r.part, r.used = r.part[:0], false
	}
	head := b
	if len(r.part) > 0 || len(b) < HeaderLen {
		n = min(len(b), max(0, HeaderLen-len(r.part)))
		r.part = append(r.part, b[:n]...)
		if head = r.part; len(head) < HeaderLen {
			return f, n, false, nil
		}
	}
	length := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
	if length > MaxFrame {
		return f, n, false, Error("a frame of " + strconv.Itoa(length) + " bytes")
	}
	whole = true
	if length += HeaderLen; len(r.part) == 0 && len(b) >= length { // do not copy the frame
		head, n = b[:length], length
	} else {
		more := min(len(b)-n, length-len(r.part))
		r.part = append(r.part, b[n:n+more]...)
		n += more
		if head = r.part; len(head) < length {
			return f, n, false, nil
		}
		r.used = true
	}
	f = Frame{Type: Type(head[3]), Flags: head[4], Stream: binary.BigEndian.Uint32(head[5:]) &^ (1 << 31), Payload: head[HeaderLen:]}
	return f, n, whole, f.checkLength()
}

// Partial reports whether part of a frame has arrived.
func (r *Reader) Partial() bool { return len(r.part) > 0 && !r.used }

// Reset forgets the input.
func (r *Reader) Reset() { r.part, r.used = r.part[:0], false }
