package loadtest

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/load/h2"
)

// act2 is the response to one request of HTTP/2 or gRPC.
type act2 struct {
	act
	id uint32
}

// respond responds to the request. It returns false if the connection is to be closed.
func (a *act2) respond() bool {
	switch a.s.behaviour {
	case Plain:
		a.writeText(a.plainResponse())
	case Split:
		return a.writeParts(a.plainResponse(), 5, 12, 30, 40)
	case Bytes, SlowBytes:
		text := a.plainResponse()
		for i := range text {
			if a.writeText(text[i : i+1]); a.s.behaviour == SlowBytes && !a.sleepFor(a.s.o.Pause) {
				return false
			}
		}
	case Slow:
		if !a.sleepFor(a.s.o.Pause) {
			return false
		}
		a.writeText(a.plainResponse())
	case Coalesced:
		a.writeText(a.headerBlock(0, ":status", "103", "link", "</a>") + a.chunkedResponse(5))
	case Chunked:
		a.writeText(a.chunkedResponse(3))
	case Interim:
		a.writeText(a.headerBlock(0, ":status", "100") + a.headerBlock(0, ":status", "102"))
		a.writeText(a.headerBlock(0, ":status", "103", "link", "</a>") + a.plainResponse())
	case NoContent:
		a.writeText(a.headerBlock(h2.EndStream, ":status", "204"))
	case NotModified:
		a.writeText(a.headerBlock(h2.EndStream, ":status", "304", "etag", `"a"`, "content-length", "5000"))
	case BigHead:
		fields := []string{":status", "200"}
		for range 110 {
			fields = append(fields, "x-fill", strings.Repeat("x", 990))
		}
		a.writeText(a.addBody(a.headerBlock(0, fields...)))
	case Announced:
		if a.k == a.s.o.After {
			a.writeText(string(h2.AppendGoAway(nil, a.id, h2.NoError)))
		}
		a.writeText(a.plainResponse())
		return a.k < a.s.o.After
	case Status:
		code := strconv.Itoa(a.s.o.Code)
		if a.s.o.GRPC && a.s.o.Code == 404 {
			a.writeText(a.headerBlock(h2.EndStream, ":status", "200", "content-type", "application/grpc", "grpc-status", "5", "grpc-message", "no such thing"))
			return true
		}
		a.writeText(a.headerBlock(0, ":status", code) + a.dataFrames(0, a.payload()) + a.dataFrames(h2.EndStream, ""))
	default:
		return a.respondInvalid()
	}
	return true
}

// respondInvalid is respond for behaviours that violate HTTP/2.
func (a *act2) respondInvalid() bool {
	whole := a.plainResponse()
	half := whole[:len(whole)-len(a.bodyText())/2]
	if a.s.o.GRPC { // within the message, not within the trailers
		half = a.headerBlock(0, ":status", "200") + a.dataFrames(0, a.payload()[:len(a.payload())/2])
	}
	lengths := []string{":status", "200", "content-length", strconv.Itoa(len(a.payload()))}
	switch a.s.behaviour {
	case Unannounced:
		a.writeText(whole)
		return a.k < a.s.o.After
	case CloseMidway:
		a.writeText(half)
		return false
	case ShortLength:
		lengths[3] = strconv.Itoa(len(a.payload()) / 2)
		a.writeText(a.addBody(a.headerBlock(0, lengths...)))
	case LongLength:
		lengths[3] = strconv.Itoa(len(a.payload()) + 10)
		a.writeText(a.headerBlock(0, lengths...) + a.dataFrames(0, a.payload()))
	case TwoLengths:
		a.writeText(a.addBody(a.headerBlock(0, append(lengths, "content-length", "1")...)))
	case Reset:
		a.writeText(half)
		a.sleepFor(5 * time.Millisecond) // so that the peer can read it
		a.resetConn()
		return false
	case ResetFirst:
		a.resetConn()
		return false
	case Garbage:
		a.writeText("\x16\x03\x01 this is no frame\r\n\r\n")
	case Twice:
		a.writeText(whole + whole)
	case Stall:
		a.sleepFor(time.Hour)
		return false
	}
	return true
}

// payload returns the payload of all DATA: a message with its prefix, or the body.
func (a *act2) payload() string {
	if !a.s.o.GRPC {
		return a.bodyText()
	}
	return string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(a.s.o.Body)))) + string(a.s.o.Body)
}

// plainResponse returns a valid response.
func (a *act2) plainResponse() string {
	fields := []string{":status", "200", "content-type", "text/plain", "content-length", strconv.Itoa(len(a.s.o.Body))}
	if a.s.o.GRPC {
		fields = []string{":status", "200", "content-type", "application/grpc"}
	}
	if a.head && !a.s.o.GRPC {
		return a.headerBlock(h2.EndStream, fields...)
	}
	return a.addBody(a.headerBlock(0, fields...))
}

// addBody appends DATA and, for gRPC, trailers to a header.
func (a *act2) addBody(head string) string {
	if !a.s.o.GRPC {
		return head + a.dataFrames(h2.EndStream, a.payload())
	}
	return head + a.dataFrames(0, a.payload()) + a.headerBlock(h2.EndStream, "grpc-status", "0", "grpc-message", "")
}

// chunkedResponse returns a response whose body is in padded frames of size bytes, with trailers.
func (a *act2) chunkedResponse(size int) string {
	var b strings.Builder
	b.WriteString(a.headerBlock(0, ":status", "200", "trailer", "digest"))
	for text := a.payload(); text != ""; {
		n := min(size, len(text))
		padding := make([]byte, n%4)
		payload := string(byte(len(padding))) + text[:n] + string(padding)
		b.Write(h2.AppendFrame(nil, h2.Frame{Type: h2.Data, Flags: h2.Padded, Stream: a.id, Payload: []byte(payload)}))
		text = text[n:]
	}
	b.WriteString(a.headerBlock(h2.EndStream, "digest", "none", "grpc-status", "0"))
	return b.String()
}

// headerBlock returns a header block of names and values, in as many frames as needed.
func (a *act2) headerBlock(flags uint8, fields ...string) string {
	var b, out []byte
	for i := 0; i < len(fields); i += 2 {
		b = h2.AppendField(b, fields[i], fields[i+1])
	}
	for kind := h2.Headers; ; kind, flags = h2.Continuation, 0 {
		n := min(len(b), h2.MaxFrame)
		if n == len(b) {
			flags |= h2.EndHeaders
		}
		out = h2.AppendFrame(out, h2.Frame{Type: kind, Flags: flags, Stream: a.id, Payload: b[:n]})
		if b = b[n:]; len(b) == 0 {
			return string(out)
		}
	}
}

// dataFrames returns text in DATA frames, the last of them with the flags.
func (a *act2) dataFrames(flags uint8, text string) string {
	var out []byte
	for len(text) > h2.MaxFrame {
		out = h2.AppendFrame(out, h2.Frame{Type: h2.Data, Stream: a.id, Payload: []byte(text[:h2.MaxFrame])})
		text = text[h2.MaxFrame:]
	}
	return string(h2.AppendFrame(out, h2.Frame{Type: h2.Data, Flags: flags, Stream: a.id, Payload: []byte(text)}))
}
