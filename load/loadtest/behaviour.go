package loadtest

import (
	"fmt"
	"net"
	"strings"
	"time"
)

// Behaviour is the way in which a server responds to requests.
type Behaviour string

// Behaviours. Those of the first group are valid and only unusual.
const (
	Plain       Behaviour = "plain"        // 200 with a length, in one write
	Split       Behaviour = "split"        // in parts that end in the middle of lines, with Pause between them
	Bytes       Behaviour = "bytes"        // byte by byte
	SlowBytes   Behaviour = "slow-bytes"   // byte by byte, with Pause between them
	Slow        Behaviour = "slow"         // after Pause
	Coalesced   Behaviour = "coalesced"    // an interim response and the chunks of the final one in one write
	Chunked     Behaviour = "chunked"      // chunks with extensions and trailers; HTTP/2: DATA with padding
	Interim     Behaviour = "interim"      // three interim responses (1xx) before
	NoContent   Behaviour = "no-content"   // 204
	NotModified Behaviour = "not-modified" // 304 with the length of a body that it does not send
	BigHead     Behaviour = "big-head"     // 110 kB of fields; HTTP/2: in several frames
	UntilClose  Behaviour = "until-close"  // a body that ends with the connection; not for HTTP/2
	Announced   Behaviour = "announced"    // Connection: close on request After of each connection; HTTP/2: GOAWAY
	Status      Behaviour = "status"       // status Options.Code

	Unannounced Behaviour = "unannounced"  // closes the connection after After responses without announcing it
	HangUp      Behaviour = "hang-up"      // closes every accepted connection
	CloseMidway Behaviour = "close-midway" // closes in the middle of the body
	ShortLength Behaviour = "short-length" // sends more bytes than its Content-Length
	LongLength  Behaviour = "long-length"  // sends fewer bytes than its Content-Length, and nothing more
	TwoLengths  Behaviour = "two-lengths"  // two different Content-Lengths
	Reset       Behaviour = "reset"        // resets the connection in the middle of the body
	ResetFirst  Behaviour = "reset-first"  // resets the connection instead of responding
	Garbage     Behaviour = "garbage"      // not HTTP
	Stall       Behaviour = "stall"        // never responds
	Twice       Behaviour = "twice"        // two responses to each request, in one write
	Refuse      Behaviour = "refuse"       // does not listen
)

// respond responds to one request. It returns false if the connection is to be closed.
func (a *act) respond() bool {
	switch a.s.behaviour {
	case Plain:
		a.writeText(a.plainResponse(200, ""))
	case Split:
		return a.writeParts(a.plainResponse(200, ""), 5, 30, 52, 70)
	case Bytes, SlowBytes:
		return a.writeBytes(a.s.behaviour == SlowBytes)
	case Slow:
		if !a.sleepFor(a.s.o.Pause) {
			return false
		}
		a.writeText(a.plainResponse(200, ""))
	case Coalesced:
		a.writeText("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + a.chunkedResponse(5))
	case Chunked:
		a.writeText(a.chunkedResponse(3))
	case Interim:
		a.writeText("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
		a.writeText("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + a.plainResponse(200, ""))
	case NoContent:
		a.writeText("HTTP/1.1 204 No Content\r\n\r\n")
	case NotModified:
		a.writeText("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 5000\r\n\r\n")
	case BigHead:
		a.writeText(a.plainResponse(200, strings.Repeat("X-Fill: "+strings.Repeat("x", 990)+"\r\n", 110)))
	case UntilClose:
		a.writeText("HTTP/1.1 200 OK\r\n\r\n" + a.bodyText())
		return false
	case Announced:
		if a.k < a.s.o.After {
			a.writeText(a.plainResponse(200, ""))
			return true
		}
		a.writeText(a.plainResponse(200, "Connection: close\r\n"))
		return false
	case Status:
		a.writeText(a.plainResponse(a.s.o.Code, ""))
	default:
		return a.respondInvalid()
	}
	return true
}

// respondInvalid is respond for behaviours that violate HTTP.
func (a *act) respondInvalid() bool {
	whole := a.plainResponse(200, "")
	half := whole[:len(whole)-len(a.bodyText())/2]
	switch a.s.behaviour {
	case Unannounced:
		a.writeText(whole)
		return a.k < a.s.o.After
	case CloseMidway:
		a.writeText(half)
		return false
	case ShortLength:
		a.writeText(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(a.bodyText())/2, a.bodyText()))
	case LongLength:
		a.writeText(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(a.bodyText())+10, a.bodyText()))
	case TwoLengths:
		a.writeText(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Length: 1\r\n\r\n%s", len(a.bodyText()), a.bodyText()))
	case Reset:
		a.writeText(half)
		a.sleepFor(5 * time.Millisecond) // so that the peer can read it
		a.resetConn()
		return false
	case ResetFirst:
		a.resetConn()
		return false
	case Garbage:
		a.writeText("\x16\x03\x01 this is no answer\r\n\r\n")
	case Twice:
		a.writeText(whole + whole)
	case Stall:
		a.sleepFor(time.Hour)
		return false
	}
	return true
}

// writeParts writes text in parts that end at the offsets ends.
func (a *act) writeParts(text string, ends ...int) bool {
	from := 0
	for _, to := range append(ends, len(text)) {
		if to = min(to, len(text)); from > 0 && from < to && !a.sleepFor(a.s.o.Pause) {
			return false
		}
		a.writeText(text[from:to])
		from = to
	}
	return true
}

// writeBytes writes a plain response one byte at a time.
func (a *act) writeBytes(slow bool) bool {
	text := a.plainResponse(200, "")
	for i := range text {
		if a.writeText(text[i : i+1]); slow && !a.sleepFor(a.s.o.Pause) {
			return false
		}
	}
	return true
}

// chunkedResponse returns a response whose body is in chunks of size bytes.
func (a *act) chunkedResponse(size int) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Digest\r\n\r\n")
	for body := a.bodyText(); body != ""; {
		n := min(size, len(body))
		fmt.Fprintf(&b, "%x;part=\"%d\"\r\n%s\r\n", n, len(body), body[:n])
		body = body[n:]
	}
	if !a.head {
		b.WriteString("0\r\nDigest: none\r\n\r\n")
	}
	return b.String()
}

// resetConn resets the connection; unsent bytes are lost.
func (a *act) resetConn() {
	c := a.c
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = t.NetConn()
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
		_ = t.Close()
	}
}
