package loadtest

import (
	"fmt"
	"net"
	"strings"
	"time"
)

// Behaviour is the way in which a server responds to requests.
type Behaviour string

// Behaviours. Those of the first group are valid but unusual.
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

// respond sends the response. It returns false to close the connection.
func (r *response) respond() bool {
	switch r.server.behaviour {
	case Plain:
		r.writeText(r.plainResponse(200, ""))
	case Split:
		// The parts end within the status line, within two fields and between CR LF and the body.
		return r.writeParts(r.plainResponse(200, ""), 5, 30, 52, 70)
	case Bytes, SlowBytes:
		return r.writeBytes(r.server.behaviour == SlowBytes)
	case Slow:
		if !r.sleepFor(r.server.options.Pause) {
			return false
		}
		r.writeText(r.plainResponse(200, ""))
	case Coalesced:
		r.writeText("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + r.chunkedResponse(5))
	case Chunked:
		r.writeText(r.chunkedResponse(3))
	case Interim:
		r.writeText("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
		r.writeText("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + r.plainResponse(200, ""))
	case NoContent:
		r.writeText("HTTP/1.1 204 No Content\r\n\r\n")
	case NotModified:
		r.writeText("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 5000\r\n\r\n")
	case BigHead:
		r.writeText(r.plainResponse(200, strings.Repeat("X-Fill: "+strings.Repeat("x", 990)+"\r\n", 110)))
	case UntilClose:
		r.writeText("HTTP/1.1 200 OK\r\n\r\n" + r.bodyText())
		return false
	case Announced:
		if r.number < r.server.options.After {
			r.writeText(r.plainResponse(200, ""))
			return true
		}
		r.writeText(r.plainResponse(200, "Connection: close\r\n"))
		return false
	case Status:
		r.writeText(r.plainResponse(r.server.options.Code, ""))
	default:
		return r.respondInvalid()
	}
	return true
}

// respondInvalid is respond for behaviours that violate HTTP or close the connection.
func (r *response) respondInvalid() bool {
	whole := r.plainResponse(200, "")
	half := whole[:len(whole)-len(r.bodyText())/2] // ends in the middle of the body
	switch r.server.behaviour {
	case Unannounced:
		r.writeText(whole)
		return r.number < r.server.options.After
	case CloseMidway:
		r.writeText(half)
		return false
	case ShortLength:
		r.writeText(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(r.bodyText())/2, r.bodyText()))
	case LongLength:
		r.writeText(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(r.bodyText())+10, r.bodyText()))
	case TwoLengths:
		r.writeText(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Length: 1\r\n\r\n%s", len(r.bodyText()), r.bodyText()))
	case Reset:
		r.writeText(half)
		r.sleepFor(5 * time.Millisecond) // so that the peer can read it
		r.resetConn()
		return false
	case ResetFirst:
		r.resetConn()
		return false
	case Garbage:
		r.writeText("\x16\x03\x01 this is no answer\r\n\r\n")
	case Twice:
		r.writeText(whole + whole)
	case Stall:
		r.sleepFor(time.Hour) // until the server closes
		return false
	}
	return true
}

// writeParts writes text in parts, with Options.Pause between them. ends are the offsets of their ends.
func (r *response) writeParts(text string, ends ...int) bool {
	from := 0
	for _, to := range append(ends, len(text)) {
		if to = min(to, len(text)); from > 0 && from < to && !r.sleepFor(r.server.options.Pause) {
			return false
		}
		r.writeText(text[from:to])
		from = to
	}
	return true
}

// writeBytes writes a plain response one byte at a time. If slow is set, it waits for Options.Pause after
// each.
func (r *response) writeBytes(slow bool) bool {
	text := r.plainResponse(200, "")
	for i := range text {
		if r.writeText(text[i : i+1]); slow && !r.sleepFor(r.server.options.Pause) {
			return false
		}
	}
	return true
}

func (r *response) chunkedResponse(size int) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Digest\r\n\r\n")
	for body := r.bodyText(); body != ""; {
		n := min(size, len(body))
		fmt.Fprintf(&b, "%x;part=\"%d\"\r\n%s\r\n", n, len(body), body[:n])
		body = body[n:]
	}
	if !r.isHead {
		b.WriteString("0\r\nDigest: none\r\n\r\n")
	}
	return b.String()
}

// resetConn resets the connection, so that unsent bytes are lost. A linger time of 0 makes Close do so.
func (r *response) resetConn() {
	c := r.conn
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = t.NetConn()
	}
	if t, ok := c.(*net.TCPConn); ok { // an error means that the connection has ended
		_ = t.SetLinger(0)
		_ = t.Close()
	}
}
