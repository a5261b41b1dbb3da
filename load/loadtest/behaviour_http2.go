package loadtest

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/load/h2"
)

type responseHTTP2 struct {
	response
	stream uint32
}

// respond responds to the request. It returns false to close the connection.
func (r *responseHTTP2) respond() bool {
	switch r.server.behaviour {
	case Plain:
		r.writeText(r.plainResponse())
	case Split:
		return r.writeParts(r.plainResponse(), 5, 12, 30, 40) // within a frame header and within payloads
	case Bytes, SlowBytes:
		text := r.plainResponse()
		for i := range text {
			if r.writeText(text[i : i+1]); r.server.behaviour == SlowBytes && !r.sleepFor(r.server.options.Pause) {
				return false
			}
		}
	case Slow:
		if !r.sleepFor(r.server.options.Pause) {
			return false
		}
		r.writeText(r.plainResponse())
	case Coalesced:
		r.writeText(r.headerBlock(0, ":status", "103", "link", "</a>") + r.chunkedResponse(5))
	case Chunked:
		r.writeText(r.chunkedResponse(3))
	case Interim:
		r.writeText(r.headerBlock(0, ":status", "100") + r.headerBlock(0, ":status", "102"))
		r.writeText(r.headerBlock(0, ":status", "103", "link", "</a>") + r.plainResponse())
	case NoContent:
		r.writeText(r.headerBlock(h2.EndStream, ":status", "204"))
	case NotModified:
		r.writeText(r.headerBlock(h2.EndStream, ":status", "304", "etag", `"a"`, "content-length", "5000"))
	case BigHead:
		fields := []string{":status", "200"}
		for range 110 {
			fields = append(fields, "x-fill", strings.Repeat("x", 990))
		}
		r.writeText(r.addBody(r.headerBlock(0, fields...)))
	case Announced:
		if r.number == r.server.options.After {
			r.writeText(string(h2.AppendGoAway(nil, r.stream, h2.NoError)))
		}
		r.writeText(r.plainResponse())
		return r.number < r.server.options.After
	case Status:
		code := strconv.Itoa(r.server.options.Code)
		if r.server.options.GRPC && r.server.options.Code == 404 {
			r.writeText(r.headerBlock(h2.EndStream, ":status", "200", "content-type", "application/grpc", "grpc-status", "5", "grpc-message", "no such thing"))
			return true
		}
		r.writeText(r.headerBlock(0, ":status", code) + r.dataFrames(0, r.payload()) + r.dataFrames(h2.EndStream, ""))
	default:
		return r.respondInvalid()
	}
	return true
}

// respondInvalid is respond for behaviours that violate HTTP/2 or close the connection.
func (r *responseHTTP2) respondInvalid() bool {
	whole := r.plainResponse()
	half := whole[:len(whole)-len(r.bodyText())/2]
	if r.server.options.GRPC { // end in the middle of the message, not in the trailers
		half = r.headerBlock(0, ":status", "200") + r.dataFrames(0, r.payload()[:len(r.payload())/2])
	}
	lengths := []string{":status", "200", "content-length", strconv.Itoa(len(r.payload()))} // names and values
	switch r.server.behaviour {
	case Unannounced:
		r.writeText(whole)
		return r.number < r.server.options.After
	case CloseMidway:
		r.writeText(half)
		return false
	case ShortLength:
		lengths[3] = strconv.Itoa(len(r.payload()) / 2)
		r.writeText(r.addBody(r.headerBlock(0, lengths...)))
	case LongLength:
		lengths[3] = strconv.Itoa(len(r.payload()) + 10)
		r.writeText(r.headerBlock(0, lengths...) + r.dataFrames(0, r.payload()))
	case TwoLengths:
		r.writeText(r.addBody(r.headerBlock(0, append(lengths, "content-length", "1")...)))
	case Reset:
		r.writeText(half)
		r.sleepFor(5 * time.Millisecond) // so that the peer can read it
		r.resetConn()
		return false
	case ResetFirst:
		r.resetConn()
		return false
	case Garbage:
		r.writeText("\x16\x03\x01 this is no frame\r\n\r\n")
	case Twice:
		r.writeText(whole + whole)
	case Stall:
		r.sleepFor(time.Hour)
		return false
	}
	return true
}

// payload returns the bytes of all DATA frames. A gRPC message has a prefix: a zero (not compressed) and
// its length.
func (r *responseHTTP2) payload() string {
	if !r.server.options.GRPC {
		return r.bodyText()
	}
	return string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(r.server.options.Body)))) + string(r.server.options.Body)
}

func (r *responseHTTP2) plainResponse() string {
	fields := []string{":status", "200", "content-type", "text/plain", "content-length", strconv.Itoa(len(r.server.options.Body))}
	if r.server.options.GRPC {
		fields = []string{":status", "200", "content-type", "application/grpc"}
	}
	if r.isHead && !r.server.options.GRPC {
		return r.headerBlock(h2.EndStream, fields...)
	}
	return r.addBody(r.headerBlock(0, fields...))
}

func (r *responseHTTP2) addBody(head string) string {
	if !r.server.options.GRPC {
		return head + r.dataFrames(h2.EndStream, r.payload())
	}
	return head + r.dataFrames(0, r.payload()) + r.headerBlock(h2.EndStream, "grpc-status", "0", "grpc-message", "")
}

func (r *responseHTTP2) chunkedResponse(size int) string {
	var b strings.Builder
	b.WriteString(r.headerBlock(0, ":status", "200", "trailer", "digest"))
	for text := r.payload(); text != ""; {
		n := min(size, len(text))
		padding := make([]byte, n%4)
		payload := string(byte(len(padding))) + text[:n] + string(padding)
		b.Write(h2.AppendFrame(nil, h2.Frame{Type: h2.Data, Flags: h2.Padded, Stream: r.stream, Payload: []byte(payload)}))
		text = text[n:]
	}
	b.WriteString(r.headerBlock(h2.EndStream, "digest", "none", "grpc-status", "0"))
	return b.String()
}

// headerBlock returns the HEADERS and CONTINUATION frames of fields, which alternate names and values.
func (r *responseHTTP2) headerBlock(flags uint8, fields ...string) string {
	var b, out []byte
	for i := 0; i < len(fields); i += 2 {
		b = h2.AppendField(b, fields[i], fields[i+1])
	}
	for kind := h2.Headers; ; kind, flags = h2.Continuation, 0 {
		n := min(len(b), h2.MaxFrame)
		if n == len(b) {
			flags |= h2.EndHeaders
		}
		out = h2.AppendFrame(out, h2.Frame{Type: kind, Flags: flags, Stream: r.stream, Payload: b[:n]})
		if b = b[n:]; len(b) == 0 {
			return string(out)
		}
	}
}

func (r *responseHTTP2) dataFrames(flags uint8, text string) string {
	var out []byte
	for len(text) > h2.MaxFrame {
		out = h2.AppendFrame(out, h2.Frame{Type: h2.Data, Stream: r.stream, Payload: []byte(text[:h2.MaxFrame])})
		text = text[h2.MaxFrame:]
	}
	return string(h2.AppendFrame(out, h2.Frame{Type: h2.Data, Flags: flags, Stream: r.stream, Payload: []byte(text)}))
}
