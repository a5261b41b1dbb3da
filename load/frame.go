package load

import "bytes"

// MaxHead is how many bytes the head of an answer may have: status lines and header
// fields, interim answers included; and its trailers.
const MaxHead = 256 << 10

// maxChunk is how many bytes the line may have that says how long a chunk is.
const maxChunk = 4 << 10

// frameError says why bytes are no answer of the protocol that was spoken.
type frameError string

func (e frameError) Error() string { return string(e) }

// What can become of a connection beside an answer.
const (
	errUnasked    = frameError("bytes that no request asked for")
	errUnanswered = frameError("connection closed without an answer")
	errCut        = frameError("connection closed in the middle of an answer")
)

// Where in an answer a framer stands.
const (
	atStatus = iota
	atField
	atBody
	atRest // a body that ends with the connection
	atChunkSize
	atChunk
	atChunkCR
	atChunkLF
	atTrailer
	atEnd
)

// framer1 finds where an HTTP/1.1 answer ends, from bytes that come in pieces of any
// size: how they are cut makes no difference. It is strict, because a server
// that is measured should be right (RFC 9110, RFC 9112):
//
//   - a line ends with CR LF; a bare LF or CR is refused, and so is NUL;
//   - a field name is a token with the colon right behind it; folded fields are
//     refused;
//   - Content-Length is given once, in digits; beside Transfer-Encoding it is
//     refused, and so is any transfer coding but chunked, or one in HTTP/1.0;
//   - interim answers (1xx) are skipped, but for 101, which nobody asked for;
//   - an answer to HEAD, 204 and 304 have no body; one without a length ends with
//     its connection.
//
// Its zero value waits for the first answer; reset makes it wait for the next.
type framer1 struct {
	place
	bare  bool // the request was HEAD: no body
	keep  bool // keep the body
	begun bool // at least one byte has come
	body  int64
	line  []byte // what there is of a line that has not come whole
	kept  keptBody
	known *head // the last head that came in one piece, over all connections of a thread; nil: none is kept
}

// place is where in an answer a framer stands, with what it has learned.
type place struct {
	at      uint8
	old     bool // HTTP/1.0
	closes  bool // the connection cannot be used after this answer
	stays   bool // it said keep-alive
	chunked bool
	status  int
	length  int64 // Content-Length, +1; 0: none
	left    int64 // bytes still to come of the body or of a chunk
	size    int   // bytes of the head or of the trailers so far
}

// head is a head with what it means. One answer's head is often the last one's
// to the byte, and then it need not be read again.
type head struct {
	bytes []byte
	bare  bool
	place
}

// mostKnown bounds the heads that are remembered.
const mostKnown = 2 << 10

// reset makes the framer wait for the answer to a next request.
func (f *framer1) reset(bare, keep bool) {
	f.place, f.bare, f.keep, f.begun, f.body = place{}, bare, keep, false, 0
	f.line = f.line[:0]
	f.kept.empty()
}

func (f *framer1) done() bool { return f.at == atEnd }

// answer is what is known of the answer.
func (f *framer1) answer() answer {
	return answer{begun: f.begun, done: f.done(), closes: f.closes, status: f.status, body: f.body, keep: f.keep, kept: f.kept.body}
}

// feed takes bytes as they came. It returns how many belong to the answer:
// fewer than all only when the answer is whole.
func (f *framer1) feed(b []byte) (n int, err error) {
	fresh := !f.begun && f.known != nil
	f.begun = f.begun || len(b) > 0
	if fresh && len(f.known.bytes) > 0 && f.known.bare == f.bare && bytes.HasPrefix(b, f.known.bytes) {
		f.place, n, fresh = f.known.place, len(f.known.bytes), false
	}
	for f.at != atEnd && n < len(b) && err == nil {
		switch f.at {
		case atBody, atChunk:
			take := int(min(f.left, int64(len(b)-n)))
			f.take(b[n : n+take])
			n += take
			f.left -= int64(take)
			if f.left == 0 && f.at == atBody {
				f.at = atEnd
			} else if f.left == 0 {
				f.at = atChunkCR
			}
		case atRest:
			f.take(b[n:])
			n = len(b)
		case atChunkCR, atChunkLF:
			if b[n] != "\r\n"[f.at-atChunkCR] {
				return n, frameError("a chunk is longer than it said")
			}
			n++
			if f.at++; f.at == atTrailer {
				f.at = atChunkSize
			}
		default:
			var used int
			used, err = f.feedLine(b[n:])
			n += used
			if fresh && f.at != atStatus && f.at != atField {
				fresh = false
				f.known.learn(b[:n], f)
			}
		}
	}
	return n, err
}

// learn keeps a head and where it led. A refused one leads nowhere.
func (h *head) learn(b []byte, f *framer1) {
	if len(b) <= mostKnown {
		h.bytes, h.bare, h.place = append(h.bytes[:0], b...), f.bare, f.place
	}
}

// take counts a piece of the body and keeps it if that was asked for.
func (f *framer1) take(b []byte) {
	f.body += int64(len(b))
	f.keep = f.keep && f.kept.add(b)
}

// feedLine takes bytes up to the end of a line, or all of them for later.
func (f *framer1) feedLine(b []byte) (n int, err error) {
	line := b
	i := bytes.IndexByte(b, '\n')
	if n = i + 1; i < 0 {
		n = len(b)
	}
	if line = b[:n]; len(f.line) > 0 || i < 0 {
		f.line = append(f.line, line...)
		line = f.line
	}
	if f.size+len(line) > MaxHead || f.at == atChunkSize && len(line) > maxChunk {
		return n, frameError("the head of the answer is too long")
	}
	if f.at == atStatus {
		if err := checkProtocol(line); err != nil {
			return n, err
		}
	}
	if i < 0 {
		return n, nil
	}
	f.line = f.line[:0]
	end := len(line) - 2
	if end < 0 || line[end] != '\r' {
		return n, frameError("a line ends without CR")
	}
	if f.at != atChunkSize {
		f.size += len(line)
	}
	if line = line[:end]; bytes.IndexByte(line, '\r') >= 0 || bytes.IndexByte(line, 0) >= 0 {
		return n, frameError("CR or NUL within a line")
	}
	switch f.at {
	case atStatus:
		return n, f.statusLine(line)
	case atChunkSize:
		return n, f.chunkLine(line)
	}
	if len(line) > 0 {
		return n, f.field(line)
	}
	if f.at == atTrailer {
		f.at = atEnd
		return n, nil
	}
	return n, f.headEnd()
}

// end says what it means that the connection was closed.
func (f *framer1) end() error {
	switch {
	case f.at == atRest:
		f.at = atEnd
		return nil
	case !f.begun:
		return errUnanswered
	}
	return errCut
}

const protocol = "HTTP/1.x "

// checkProtocol refuses other protocols with their first bytes, so that nobody
// waits for the end of a line that may never come.
func checkProtocol(line []byte) error {
	for i := 0; i < len(protocol) && i < len(line); i++ {
		if c := line[i]; c != protocol[i] && (i != 7 || c != '0' && c != '1') {
			return frameError("not HTTP/1.0 or 1.1")
		}
	}
	return nil
}

// statusLine reads "HTTP/1.1 200 OK"; the words after the status may be
// missing.
func (f *framer1) statusLine(line []byte) error {
	const digits = len(protocol)
	if len(line) < digits+3 || len(line) > digits+3 && line[digits+3] != ' ' {
		return frameError("a status line without a status of three digits")
	}
	status := 0
	for _, c := range line[digits : digits+3] {
		if c < '0' || c > '9' {
			return frameError("a status that is no number")
		}
		status = status*10 + int(c-'0')
	}
	if status < 100 {
		return frameError("a status below 100")
	}
	f.status, f.old, f.at = status, line[7] == '0', atField
	return nil
}

// headEnd decides what follows the head (RFC 9112, section 6.3).
func (f *framer1) headEnd() error {
	switch {
	case f.status == 101:
		return frameError("status 101 without having been asked for another protocol")
	case f.status < 200:
		f.at, f.closes, f.stays, f.chunked, f.length = atStatus, false, false, false, 0
		return nil
	case f.chunked && f.length > 0:
		return frameError("both Content-Length and Transfer-Encoding")
	case f.chunked && f.old:
		return frameError("Transfer-Encoding in HTTP/1.0")
	}
	f.closes = f.closes || f.old && !f.stays
	switch {
	case f.bare || f.status == 204 || f.status == 304 || f.length == 1:
		f.at = atEnd
	case f.chunked:
		f.at, f.size = atChunkSize, 0
	case f.length > 0:
		f.at, f.left = atBody, f.length-1
	default:
		f.at, f.closes = atRest, true
	}
	return nil
}

// chunkLine reads how long a chunk is; what follows a semicolon is for others.
func (f *framer1) chunkLine(line []byte) error {
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimRight(line, " \t")
	if len(line) == 0 || len(line) > 15 {
		return frameError("a chunk without a size")
	}
	size := int64(0)
	for _, c := range line {
		d, ok := hexDigit(c)
		if !ok {
			return frameError("a chunk size that is no number")
		}
		size = size<<4 | int64(d)
	}
	if f.left, f.at = size, atChunk; size == 0 {
		f.at = atTrailer
	}
	return nil
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
