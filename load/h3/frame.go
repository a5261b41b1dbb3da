// Package h3 encodes and decodes HTTP/3: frames and unidirectional streams (RFC 9114), and field sections
// (QPACK, RFC 9204). It uses no dynamic table. Its callers implement the streams.
package h3

import (
	"encoding/binary"
	"strconv"
)

// Error is the reason why bytes are not valid HTTP/3.
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

// maxFieldSection is the id of SETTINGS_MAX_FIELD_SECTION_SIZE, the only setting that a client sends. The
// defaults of the others already forbid dynamic tables.
const maxFieldSection = 0x6

// Code is the reason for the end of a stream or a connection.
type Code uint64

// Codes that a client sends or handles.
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

// AppendVarint appends a variable-length integer of QUIC (RFC 9000, section 16). n must be below 2^62.
func AppendVarint(b []byte, n uint64) []byte {
	switch { // the two highest bits are the logarithm of the size in bytes
	case n < 1<<6:
		return append(b, byte(n))
	case n < 1<<14:
		return binary.BigEndian.AppendUint16(b, uint16(n)|1<<14)
	case n < 1<<30:
		return binary.BigEndian.AppendUint32(b, uint32(n)|2<<30)
	}
	return binary.BigEndian.AppendUint64(b, n|3<<62)
}

// ReadVarint returns the variable-length integer at the start of b and its size in bytes. The size is 0 if
// b is too short.
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

// Part is a part of a frame. If First and Last are both set, it is the complete frame.
type Part struct {
	Type        uint64
	Length      uint64 // of the frame's payload
	Payload     []byte
	First, Last bool
}

// Reader splits the bytes of a stream into parts of frames. It buffers only the headers of frames. Its zero
// value is ready for use.
type Reader struct {
	head    [16]byte // incomplete header of a frame: two integers of up to 8 bytes
	size    int      // bytes in head
	kind    uint64
	length  uint64
	missing uint64 // bytes of the payload still to arrive
	started bool   // the header is complete, but not the payload
}

// Next consumes n bytes of b, at least one, and returns the next part. It returns false if the frame's
// header is still incomplete.
func (r *Reader) Next(b []byte) (p Part, n int, ok bool) {
	if !r.started {
		if n, ok = r.readHead(b); !ok {
			return p, n, false
		}
		p.First = true
	}
	size := min(r.missing, uint64(len(b)-n))
	p.Type, p.Length, p.Payload = r.kind, r.length, b[n:n+int(size)]
	r.missing -= size
	p.Last = r.missing == 0
	r.started = !p.Last
	return p, n + int(size), true
}

// readHead reads the header of a frame from the first n bytes of b, and reports whether it is complete.
func (r *Reader) readHead(b []byte) (n int, ok bool) {
	head := b
	if r.size > 0 {
		n = copy(r.head[r.size:], b)
		head = r.head[:r.size+n]
	}
	kind, kindSize := ReadVarint(head)
	length, lengthSize := uint64(0), 0
	if kindSize > 0 {
		length, lengthSize = ReadVarint(head[kindSize:])
	}
	if lengthSize == 0 {
		if r.size == 0 {
			n = copy(r.head[:], b)
		}
		r.size += n
		return n, false
	}
	n = kindSize + lengthSize - r.size
	r.size, r.kind, r.length, r.missing = 0, kind, length, length
	return n, true
}

// IsPartial reports whether the last frame is incomplete.
func (r *Reader) IsPartial() bool { return r.size > 0 || r.started }

// Reset prepares r for another stream.
func (r *Reader) Reset() { r.size, r.started = 0, false }

// IsReserved reports whether a server must not send frames of a type. HTTP/2 has these types; HTTP/3 does
// not (RFC 9114, section 7.2.8).
func IsReserved(frameType uint64) bool {
	return frameType == 0x2 || frameType == 0x6 || frameType == 0x8 || frameType == 0x9
}
