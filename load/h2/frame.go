// Package h2 encodes and decodes HTTP/2: frames (RFC 9113) and header blocks (HPACK, RFC 7541). Its callers
// implement the exchange.
package h2

import (
	"encoding/binary"
	"iter"
	"strconv"
)

// Preface is the start of a client's connection, before its SETTINGS.
const Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Sizes in bytes, and the initial values of settings.
const (
	HeaderLen = 9         // length of a frame's header
	MaxFrame  = 1 << 14   // largest payload of a frame
	Window    = 1<<16 - 1 // initial window of a stream and of a connection
	MaxWindow = 1<<31 - 1 // largest window
	MaxStream = 1<<31 - 1 // largest stream id
	TableSize = 4096      // size of the dynamic table
)

// Error is the reason why bytes are not valid HTTP/2.
type Error string

// Error returns one line.
func (e Error) Error() string { return string(e) }

// Type is the type of a frame.
type Type uint8

// Types of frames.
const (
	Data Type = iota
	Headers
	Priority
	RSTStream
	Settings
	PushPromise
	Ping
	GoAway
	WindowUpdate
	Continuation
)

// String returns the type's name in RFC 9113.
func (t Type) String() string {
	names := [...]string{"DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION"}
	if int(t) < len(names) {
		return names[t]
	}
	return "frame type " + strconv.Itoa(int(t))
}

// Flags of frames.
const (
	EndStream   = 0x1  // DATA, HEADERS
	Ack         = 0x1  // SETTINGS, PING
	EndHeaders  = 0x4  // HEADERS, CONTINUATION
	Padded      = 0x8  // DATA, HEADERS
	HasPriority = 0x20 // HEADERS
)

// Settings by number.
const (
	HeaderTableSize   = 1
	EnablePush        = 2
	MaxStreams        = 3
	InitialWindowSize = 4
	MaxFrameSize      = 5
	MaxHeaderListSize = 6
)

// Code is the reason for the end of a stream or a connection.
type Code uint32

// Codes that are sent.
const (
	NoError       Code = 0
	ProtocolError Code = 1
	FlowControl   Code = 3
	RefusedStream Code = 7
	Cancel        Code = 8
)

// String returns the code's name in RFC 9113.
func (c Code) String() string {
	names := [...]string{
		"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
		"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
	}
	if int64(c) < int64(len(names)) {
		return names[c]
	}
	return "error code " + strconv.FormatUint(uint64(c), 10)
}

// Frame is one frame.
type Frame struct {
	Type    Type
	Flags   uint8
	Stream  uint32
	Payload []byte
}

// Has reports whether a flag is set.
func (f Frame) Has(flag uint8) bool { return f.Flags&flag != 0 }

const priorityLen = 5

// checkLength checks the length and stream of a frame against its type (RFC 9113, section 6).
func (f Frame) checkLength() error {
	n := len(f.Payload)
	fits, onConnection := true, false // fits: the length is valid; onConnection: only stream 0 is allowed
	switch f.Type {
	case Priority:
		fits = n == priorityLen
	case RSTStream:
		fits = n == 4
	case Settings:
		fits, onConnection = n%6 == 0 && (n == 0 || !f.Has(Ack)), true
	case Ping:
		fits, onConnection = n == 8, true
	case GoAway:
		fits, onConnection = n >= 8, true
	case WindowUpdate: // on any stream
		fits, onConnection = n == 4, f.Stream == 0
	case Data, Headers, PushPromise, Continuation: // any length, on a stream
	default: // an unknown type
		return nil
	}
	switch {
	case !fits:
		return Error("a " + f.Type.String() + " frame of " + strconv.Itoa(n) + " bytes")
	case onConnection != (f.Stream == 0):
		return Error("a " + f.Type.String() + " frame of stream " + strconv.FormatUint(uint64(f.Stream), 10))
	}
	return nil
}

// Content returns the payload of DATA and HEADERS without padding and priority.
func (f Frame) Content() ([]byte, error) {
	b, pad := f.Payload, 0
	if f.Has(Padded) {
		if len(b) == 0 {
			return nil, Error("a padded frame without a length of its padding")
		}
		b, pad = b[1:], int(b[0])
	}
	if f.Type == Headers && f.Has(HasPriority) {
		if len(b) < priorityLen {
			return nil, Error("a HEADERS frame too short for its priority")
		}
		b = b[priorityLen:]
	}
	if pad > len(b) {
		return nil, Error("more padding than frame")
	}
	return b[:len(b)-pad], nil
}

// Number returns the four-byte number at an offset of the payload: a code, a stream, or an increment.
func (f Frame) Number(offset int) uint32 { return binary.BigEndian.Uint32(f.Payload[offset:]) }

// Values yields the settings of a SETTINGS frame, in order.
func (f Frame) Values() iter.Seq2[int, uint32] {
	return func(yield func(int, uint32) bool) {
		for b := f.Payload; len(b) >= 6; b = b[6:] {
			if !yield(int(binary.BigEndian.Uint16(b)), binary.BigEndian.Uint32(b[2:])) {
				return
			}
		}
	}
}
