package loadtest

import (
	"fmt"
	"net"
	"strings"
	"time"
)

// Behaviour is how a server treats requests.
type Behaviour string

// Behaviours. The first group is right and only unusual.
const (
	Plain       Behaviour = "plain"        // 200 with a length, in one piece
	Split       Behaviour = "split"        // in pieces that end in the middle of lines, Pause between them
	Bytes       Behaviour = "bytes"        // byte by byte
	SlowBytes   Behaviour = "slow-bytes"   // byte by byte, Pause between them
	Slow        Behaviour = "slow"         // after Pause
	Coalesced   Behaviour = "coalesced"    // an interim answer and the chunks of the final one in one piece
	Chunked     Behaviour = "chunked"      // with extensions and trailers; HTTP/2: with padding
	Interim     Behaviour = "interim"      // three answers of 1xx before
	NoContent   Behaviour = "no-content"   // 204
	NotModified Behaviour = "not-modified" // 304 with the length of what it does not send
	BigHead     Behaviour = "big-head"     // 110 kB of fields; HTTP/2: in several frames
	UntilClose  Behaviour = "until-close"  // a body that ends with the connection; not in HTTP/2
	Announced   Behaviour = "announced"    // Connection: close on request After of each connection; HTTP/2: GOAWAY
	Status      Behaviour = "status"       // Code

	Unannounced Behaviour = "unannounced"  // closes after After answers without a word
	HangUp      Behaviour = "hang-up"      // closes what it accepts
	CloseMidway Behaviour = "close-midway" // closes in the middle of the body
	ShortLength Behaviour = "short-length" // sends more than its length
	LongLength  Behaviour = "long-length"  // sends less than its length, and nothing more
	TwoLengths  Behaviour = "two-lengths"  // that differ
	Reset       Behaviour = "reset"        // resets the connection in the middle of the body
	ResetFirst  Behaviour = "reset-first"  // resets it instead of an answer
	Garbage     Behaviour = "garbage"      // not HTTP
	Stall       Behaviour = "stall"        // never answers
	Twice       Behaviour = "twice"        // two answers to each request, in one piece
	Refuse      Behaviour = "refuse"       // does not listen
)

// answer answers one request; false: the connection is to be closed.
func (a *act) answer() bool {
	switch a.s.behaviour {
	case Plain:
		a.write(a.plain(200, ""))
	case Split:
		return a.pieces(a.plain(200, ""), 5, 30, 52, 70)
	case Bytes, SlowBytes:
		return a.bytes(a.s.behaviour == SlowBytes)
	case Slow:
		if !a.pause(a.s.o.Pause) {
			return false
		}
		a.write(a.plain(200, ""))
	case Coalesced:
		a.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + a.chunks(5))
	case Chunked:
		a.write(a.chunks(3))
	case Interim:
		a.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
		a.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + a.plain(200, ""))
	case NoContent:
		a.write("HTTP/1.1 204 No Content\r\n\r\n")
	case NotModified:
		a.write("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 5000\r\n\r\n")
	case BigHead:
		a.write(a.plain(200, strings.Repeat("X-Fill: "+strings.Repeat("x", 990)+"\r\n", 110)))
	case UntilClose:
		a.write("HTTP/1.1 200 OK\r\n\r\n" + a.body())
		return false
	case Announced:
		if a.k < a.s.o.After {
			a.write(a.plain(200, ""))
			return true
		}
		a.write(a.plain(200, "Connection: close\r\n"))
		return false
	case Status:
		a.write(a.plain(a.s.o.Code, ""))
	default:
		return a.wrong()
	}
	return true
}

// wrong is answer for behaviours that are no HTTP.
func (a *act) wrong() bool {
	whole := a.plain(200, "")
	half := whole[:len(whole)-len(a.body())/2]
	switch a.s.behaviour {
	case Unannounced:
		a.write(whole)
		return a.k < a.s.o.After
	case CloseMidway:
		a.write(half)
		return false
	case ShortLength:
		a.write(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(a.body())/2, a.body()))
	case LongLength:
		a.write(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(a.body())+10, a.body()))
	case TwoLengths:
		a.write(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Length: 1\r\n\r\n%s", len(a.body()), a.body()))
	case Reset:
		a.write(half)
		a.pause(5 * time.Millisecond) // so that the other side may read it
		a.reset()
		return false
	case ResetFirst:
		a.reset()
		return false
	case Garbage:
		a.write("\x16\x03\x01 this is no answer\r\n\r\n")
	case Twice:
		a.write(whole + whole)
	case Stall:
		a.pause(time.Hour)
		return false
	}
	return true
}

// pieces writes text in pieces that end at the places given.
func (a *act) pieces(text string, ends ...int) bool {
	from := 0
	for _, to := range append(ends, len(text)) {
		if to = min(to, len(text)); from > 0 && from < to && !a.pause(a.s.o.Pause) {
			return false
		}
		a.write(text[from:to])
		from = to
	}
	return true
}

// bytes writes a plain answer one byte at a time.
func (a *act) bytes(slow bool) bool {
	text := a.plain(200, "")
	for i := range text {
		if a.write(text[i : i+1]); slow && !a.pause(a.s.o.Pause) {
			return false
		}
	}
	return true
}

// chunks is an answer whose body comes in chunks of so many bytes.
func (a *act) chunks(size int) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Digest\r\n\r\n")
	for body := a.body(); body != ""; {
		n := min(size, len(body))
		fmt.Fprintf(&b, "%x;part=\"%d\"\r\n%s\r\n", n, len(body), body[:n])
		body = body[n:]
	}
	if !a.head {
		b.WriteString("0\r\nDigest: none\r\n\r\n")
	}
	return b.String()
}

// reset has the connection end at once, with what is under way lost.
func (a *act) reset() {
	c := a.c
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = t.NetConn()
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
		_ = t.Close()
	}
}
