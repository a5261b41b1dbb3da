// Package h3 reads and writes what HTTP/3 consists of: frames and unidirectional streams
// (RFC 9114), and field sections without a dynamic table (QPACK, RFC 9204). It works on
// bytes; streams are the caller's.
package h3

import (
	"encoding/binary"
	"strconv"
)

// Error says why bytes are not HTTP/3.
type Error string

// Error returns one line.
func (e Error) Error() string { return string(e) }

// Types of frames.
const (
	Data        = 0x0
	Headers     = 0x1
	CancelPush  = 0x3
	Settings    = 0x4
	PushPromise = 0x5
	GoAway      = 0x7
	MaxPushID   = 0xd
)

// Settings that a client sends. It leaves the table's capacity (0x1) and the blocked
// streams (0x7) at their default of 0: servers use no dynamic table then.
const maxFieldSection = 0x6

// Code is the code of an application error, with which a stream or a connection ends.
type Code uint64

// Codes that are sent or have a meaning to a client.
const (
	NoError              Code = 0x100
	GeneralProtocolError Code = 0x101
	StreamCreationError  Code = 0x103
	ClosedCriticalStream Code = 0x104
	FrameUnexpected      Code = 0x105
	FrameError           Code = 0x106
	ExcessiveLoad        Code = 0x107
	IDError              Code = 0x108
	SettingsError        Code = 0x109
	MissingSettings      Code = 0x10a
	RequestRejected      Code = 0x10b
	RequestCancelled     Code = 0x10c
	MessageError         Code = 0x10e
	EncoderStreamError   Code = 0x201
)

// String returns the code's name in RFC 9114 or RFC 9204.
func (c Code) String() string {
	names := [...]string{
		"H3_NO_ERROR", "H3_GENERAL_PROTOCOL_ERROR", "H3_INTERNAL_ERROR", "H3_STREAM_CREATION_ERROR", "H3_CLOSED_CRITICAL_STREAM", "H3_FRAME_UNEXPECTED",
		"H3_FRAME_ERROR", "H3_EXCESSIVE_LOAD", "H3_ID_ERROR", "H3_SETTINGS_ERROR", "H3_MISSING_SETTINGS", "H3_REQUEST_REJECTED", "H3_REQUEST_CANCELLED",
		"H3_REQUEST_INCOMPLETE", "H3_MESSAGE_ERROR", "H3_CONNECT_ERROR", "H3_VERSION_FALLBACK",
	}
	switch {
	case c >= NoError && c-NoError < Code(len(names)):
		return names[c-NoError]
	case c >= 0x200 && c <= 0x202:
		return [...]string{"QPACK_DECOMPRESSION_FAILED", "QPACK_ENCODER_STREAM_ERROR", "QPACK_DECODER_STREAM_ERROR"}[c-0x200]
	}
	return "error code 0x" + strconv.FormatUint(uint64(c), 16)
}

// AppendVarint appends a variable-length integer of QUIC (RFC 9000, section 16). n is
// below 2^62.
func AppendVarint(b []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(b, byte(n))
	case n < 1<<14:
		return binary.BigEndian.AppendUint16(b, uint16(n)|1<<14)
	case n < 1<<30:
		return binary.BigEndian.AppendUint32(b, uint32(n)|2<<30)
	}
	return binary.BigEndian.AppendUint64(b, n|3<<62)
}

// ReadVarint returns the variable-length integer that b begins with and its size in
// bytes. The size is 0 if b does not hold all of it.
func ReadVarint(b []byte) (n uint64, size int) {
	if len(b) == 0 {
		return 0, 0
	}
	size = 1 << (b[0] >> 6)
	if len(b) < size {
		return 0, 0
	}
	n = uint64(b[0] & 0x3f)
	for _, c := range b[1:size] {
		n = n<<8 | uint64(c)
	}
	return n, size
}

// AppendFrame appends a frame.
func AppendFrame(b []byte, frameType uint64, payload []byte) []byte {
	b = AppendVarint(AppendVarint(b, frameType), uint64(len(payload)))
	return append(b, payload...)
}

// Part is a part of a frame: all of it if it is both the first and the last.
type Part struct {
	Type        uint64
	Length      uint64 // of the frame's payload
	Payload     []byte
	First, Last bool
}

// Reader cuts the bytes of a stream, which come in pieces of any size, into parts of
// frames. It buffers the header of a frame only. The zero value is ready.
type Reader struct {
	head    [16]byte // of the frame, incomplete
	size    int      // bytes in head
	kind    uint64
	length  uint64
	left    uint64 // bytes of the payload that have not come
	started bool   // the payload has begun
}

// Next takes bytes from b and returns the next part, and how many bytes it took: at
// least one. It returns false if all of b belongs to a header that is not complete.
func (r *Reader) Next(b []byte) (p Part, n int, ok bool) {
	if !r.started {
		if n, ok = r.readHead(b); !ok {
			return p, n, false
		}
		p.First = true
	}
	take := min(r.left, uint64(len(b)-n))
	p.Type, p.Length, p.Payload = r.kind, r.length, b[n:n+int(take)]
	r.left -= take
	p.Last = r.left == 0
	r.started = !p.Last
	return p, n + int(take), true
}

// readHead takes the header of a frame and returns how many bytes of b belong to it.
func (r *Reader) readHead(b []byte) (n int, ok bool) {
	head := b
	if r.size > 0 {
		n = copy(r.head[r.size:], b)
		head = r.head[:r.size+n]
	}
	kind, first := ReadVarint(head)
	length, second := uint64(0), 0
	if first > 0 {
		length, second = ReadVarint(head[first:])
	}
	if second == 0 {
		if r.size == 0 {
			n = copy(r.head[:], b)
		}
		r.size += n
		return n, false
	}
	n = first + second - r.size
	r.size, r.kind, r.length, r.left = 0, kind, length, length
	return n, true
}

// IsPartial reports whether the stream would end within a frame.
func (r *Reader) IsPartial() bool { return r.size > 0 || r.started }

// Reset prepares r for another stream.
func (r *Reader) Reset() { r.size, r.started = 0, false }

// IsReserved reports whether a frame type means something in HTTP/2 only, so that a
// server must not send it (RFC 9114, section 7.2.8).
func IsReserved(frameType uint64) bool {
	return frameType == 0x2 || frameType == 0x6 || frameType == 0x8 || frameType == 0x9
}
