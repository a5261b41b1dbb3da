package loadtest

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/load/h2"
)

// act2 is the answer to one request of HTTP/2 or gRPC.
type act2 struct {
	act
	id uint32
}

// answer answers the request; false: the connection is to be closed.
func (a *act2) answer() bool {
	switch a.s.behaviour {
	case Plain:
		a.write(a.plain())
	case Split:
		return a.pieces(a.plain(), 5, 12, 30, 40)
	case Bytes, SlowBytes:
		text := a.plain()
		for i := range text {
			if a.write(text[i : i+1]); a.s.behaviour == SlowBytes && !a.pause(a.s.o.Pause) {
				return false
			}
		}
	case Slow:
		if !a.pause(a.s.o.Pause) {
			return false
		}
		a.write(a.plain())
	case Coalesced:
		a.write(a.block(0, ":status", "103", "link", "</a>") + a.chunks(5))
	case Chunked:
		a.write(a.chunks(3))
	case Interim:
		a.write(a.block(0, ":status", "100") + a.block(0, ":status", "102"))
		a.write(a.block(0, ":status", "103", "link", "</a>") + a.plain())
	case NoContent:
		a.write(a.block(h2.EndStream, ":status", "204"))
	case NotModified:
		a.write(a.block(h2.EndStream, ":status", "304", "etag", `"a"`, "content-length", "5000"))
	case BigHead:
		fields := []string{":status", "200"}
		for range 110 {
			fields = append(fields, "x-fill", strings.Repeat("x", 990))
		}
		a.write(a.rest(a.block(0, fields...)))
	case Announced:
		if a.k == a.s.o.After {
			a.write(string(h2.AppendGoAway(nil, a.id, h2.NoError)))
		}
		a.write(a.plain())
		return a.k < a.s.o.After
	case Status:
		code := strconv.Itoa(a.s.o.Code)
		if a.s.o.GRPC && a.s.o.Code == 404 {
			a.write(a.block(h2.EndStream, ":status", "200", "content-type", "application/grpc", "grpc-status", "5", "grpc-message", "no such thing"))
			return true
		}
		a.write(a.block(0, ":status", code) + a.data(0, a.text()) + a.data(h2.EndStream, ""))
	default:
		return a.wrong()
	}
	return true
}

// wrong is answer for behaviours that are no HTTP/2.
func (a *act2) wrong() bool {
	whole := a.plain()
	half := whole[:len(whole)-len(a.body())/2]
	if a.s.o.GRPC { // within the message, not within the trailers
		half = a.block(0, ":status", "200") + a.data(0, a.text()[:len(a.text())/2])
	}
	lengths := []string{":status", "200", "content-length", strconv.Itoa(len(a.text()))}
	switch a.s.behaviour {
	case Unannounced:
		a.write(whole)
		return a.k < a.s.o.After
	case CloseMidway:
		a.write(half)
		return false
	case ShortLength:
		lengths[3] = strconv.Itoa(len(a.text()) / 2)
		a.write(a.rest(a.block(0, lengths...)))
	case LongLength:
		lengths[3] = strconv.Itoa(len(a.text()) + 10)
		a.write(a.block(0, lengths...) + a.data(0, a.text()))
	case TwoLengths:
		a.write(a.rest(a.block(0, append(lengths, "content-length", "1")...)))
	case Reset:
		a.write(half)
		a.pause(5 * time.Millisecond) // so that the other side may read it
		a.reset()
		return false
	case ResetFirst:
		a.reset()
		return false
	case Garbage:
		a.write("\x16\x03\x01 this is no frame\r\n\r\n")
	case Twice:
		a.write(whole + whole)
	case Stall:
		a.pause(time.Hour)
		return false
	}
	return true
}

// text is what DATA holds in all: a message with its prefix, or the body.
func (a *act2) text() string {
	if !a.s.o.GRPC {
		return a.body()
	}
	return string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(a.s.o.Body)))) + string(a.s.o.Body)
}

// plain is an answer as it should be.
func (a *act2) plain() string {
	fields := []string{":status", "200", "content-type", "text/plain", "content-length", strconv.Itoa(len(a.s.o.Body))}
	if a.s.o.GRPC {
		fields = []string{":status", "200", "content-type", "application/grpc"}
	}
	if a.head && !a.s.o.GRPC {
		return a.block(h2.EndStream, fields...)
	}
	return a.rest(a.block(0, fields...))
}

// rest appends DATA and, of gRPC, trailers to a head.
func (a *act2) rest(head string) string {
	if !a.s.o.GRPC {
		return head + a.data(h2.EndStream, a.text())
	}
	return head + a.data(0, a.text()) + a.block(h2.EndStream, "grpc-status", "0", "grpc-message", "")
}

// chunks is an answer whose body comes in padded frames of so many bytes, with
// trailers.
func (a *act2) chunks(size int) string {
	var b strings.Builder
	b.WriteString(a.block(0, ":status", "200", "trailer", "digest"))
	for text := a.text(); text != ""; {
		n := min(size, len(text))
		padding := make([]byte, n%4)
		payload := string(byte(len(padding))) + text[:n] + string(padding)
		b.Write(h2.AppendFrame(nil, h2.Frame{Type: h2.Data, Flags: h2.Padded, Stream: a.id, Payload: []byte(payload)}))
		text = text[n:]
	}
	b.WriteString(a.block(h2.EndStream, "digest", "none", "grpc-status", "0"))
	return b.String()
}

// block is a header block of names and values, in as many frames as it takes.
func (a *act2) block(flags uint8, fields ...string) string {
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

// data is text in DATA frames, the last of them with the flags.
func (a *act2) data(flags uint8, text string) string {
	var out []byte
	for len(text) > h2.MaxFrame {
		out = h2.AppendFrame(out, h2.Frame{Type: h2.Data, Stream: a.id, Payload: []byte(text[:h2.MaxFrame])})
		text = text[h2.MaxFrame:]
	}
	return string(h2.AppendFrame(out, h2.Frame{Type: h2.Data, Flags: flags, Stream: a.id, Payload: []byte(text)}))
}
