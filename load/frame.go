package load

import "bytes"

// MaxHead is the largest size of a response's header in bytes, and of its trailers. Interim responses count
// as header.
const MaxHead = 256 << 10

// maxChunk is the longest line with the size of a chunk, in bytes.
const maxChunk = 4 << 10

// frameError is the reason why bytes are not a valid response.
type frameError string

func (e frameError) Error() string { return string(e) }

const (
	errUnsolicited = frameError("bytes that no request asked for")
	errUnanswered  = frameError("connection closed without an answer")
	errCut         = frameError("connection closed in the middle of an answer")
)

// States of an http1Parser: the part of a response that the next byte belongs to.
const (
	atStatus = iota
	atField
	atBody // in a body with Content-Length
	atRest // in a body that ends with the connection
	atChunkSize
	atChunk
	atChunkCR
	atChunkLF
	atTrailer
	atEnd
)

// http1Parser finds the end of an HTTP/1.1 response in bytes that arrive in parts of any size. It is
// strict, because a server under measurement should be correct (RFC 9110, RFC 9112):
//
//   - a line ends with CR LF; a bare LF or CR is rejected, and so is NUL;
//
//   - a field name is a token followed by a colon; folded fields are rejected;
//
//   - Content-Length occurs once, in digits, without Transfer-Encoding;
//
//   - the only transfer coding is chunked, in HTTP/1.1;
//
//   - interim responses (1xx) are skipped; 101 is rejected, as no request has Upgrade;
//
//   - responses to HEAD, 204 and 304 have no body; one without a length ends with
//
//     its connection.
//
// Its zero value is ready for the first response. reset makes it ready for the next one.
type http1Parser struct {
	parseState
	isHead    bool // the request was HEAD
	storeBody bool
	begun     bool // a byte of the response has arrived
	body      int64
	line      []byte // start of an incomplete line
	stored    storedBody
	known     *knownHead // last header of any connection of the thread; nil disables this
}

// parseState is the part of an http1Parser that each response resets.
type parseState struct {
	at      uint8 // one of the states above
	old     bool
	closes  bool // the connection cannot be used again
	stays   bool
	chunked bool
	status  int
	length  int64 // Content-Length plus 1; 0 without the field
	left    int64 // bytes of the body or chunk still to arrive
	size    int   // of the header or of the trailers
}

// knownHead is a header and the state after parsing it. Consecutive headers often have equal bytes and need
// not be parsed again.
type knownHead struct {
	bytes  []byte
	isHead bool
	parseState
}

// maxKnownHead is the largest header that is remembered, in bytes.
const maxKnownHead = 2 << 10

func (f *http1Parser) reset(isHead, storeBody bool) {
	f.parseState, f.isHead, f.storeBody, f.begun, f.body = parseState{}, isHead, storeBody, false, 0
	f.line = f.line[:0]
	f.stored.release()
}

func (f *http1Parser) isDone() bool { return f.at == atEnd }

func (f *http1Parser) currentResponse() response {
	return response{begun: f.begun, done: f.isDone(), closes: f.closes, status: f.status, body: f.body, storeBody: f.storeBody, stored: f.stored.body}
}

// feed parses b and returns the number of bytes that belong to the response. It uses all of b until the
// response is complete.
func (f *http1Parser) feed(b []byte) (n int, err error) {
	learn := !f.begun && f.known != nil // remember a header that is complete in b
	f.begun = f.begun || len(b) > 0
	canCompare := learn && len(f.known.bytes) > 0 && f.known.isHead == f.isHead
	if canCompare && bytes.HasPrefix(b, f.known.bytes) {
		f.parseState, n, learn = f.known.parseState, len(f.known.bytes), false
	}
	for f.at != atEnd && n < len(b) && err == nil {
		switch f.at {
		case atBody, atChunk:
			take := int(min(f.left, int64(len(b)-n)))
			f.takeBody(b[n : n+take])
			n += take
			f.left -= int64(take)
			if f.left == 0 && f.at == atBody {
				f.at = atEnd
			} else if f.left == 0 {
				f.at = atChunkCR
			}
		case atRest:
			f.takeBody(b[n:])
			n = len(b)
		case atChunkCR, atChunkLF:
			if b[n] != "\r\n"[f.at-atChunkCR] { // \r in state atChunkCR, \n in atChunkLF
				return n, frameError("a chunk is longer than announced")
			}
			n++
			if f.at == atChunkCR {
				f.at = atChunkLF
			} else {
				f.at = atChunkSize
			}
		default:
			var used int
			used, err = f.feedLine(b[n:])
			n += used
			headerEnded := f.at != atStatus && f.at != atField
			if learn && headerEnded {
				learn = false
				f.known.remember(b[:n], f)
			}
		}
	}
	return n, err
}

func (h *knownHead) remember(b []byte, f *http1Parser) {
	if len(b) <= maxKnownHead {
		h.bytes, h.isHead, h.parseState = append(h.bytes[:0], b...), f.isHead, f.parseState
	}
}

func (f *http1Parser) takeBody(b []byte) {
	f.body += int64(len(b))
	f.storeBody = f.storeBody && f.stored.appendPart(b)
}

// feedLine parses b up to the end of a line, and returns the number of bytes taken. An incomplete line is
// stored in f.line.
func (f *http1Parser) feedLine(b []byte) (n int, err error) {
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
		return n, f.readStatusLine(line)
	case atChunkSize:
		return n, f.readChunkSize(line)
	}
	if len(line) > 0 {
		return n, f.readField(line)
	}
	if f.at == atTrailer {
		f.at = atEnd
		return n, nil
	}
	return n, f.finishHead()
}

// closeError returns the error of a request whose connection the server closes, or nil if that ends the
// response.
func (f *http1Parser) closeError() error {
	switch {
	case f.at == atRest:
		f.at = atEnd
		return nil
	case !f.begun:
		return errUnanswered
	}
	return errCut
}

const (
	protocol     = "HTTP/1.x "
	minorVersion = 7 // index of the x in protocol
)

// checkProtocol rejects other protocols on their first bytes. The end of the line may never arrive.
func checkProtocol(line []byte) error {
	for i := 0; i < len(protocol) && i < len(line); i++ {
		c := line[i]
		isMinor := i == minorVersion && (c == '0' || c == '1')
		if c != protocol[i] && !isMinor {
			return frameError("not HTTP/1.0 or 1.1")
		}
	}
	return nil
}

// readStatusLine parses "HTTP/1.1 200 OK". The reason phrase may be missing.
func (f *http1Parser) readStatusLine(line []byte) error {
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
	f.status, f.old, f.at = status, line[minorVersion] == '0', atField
	return nil
}

// finishHead checks a complete header, and determines the body that follows (RFC 9112, section 6.3).
func (f *http1Parser) finishHead() error {
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
	case f.isHead || f.status == 204 || f.status == 304 || f.length == 1: // 1: Content-Length is 0
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

// readChunkSize parses the size of a chunk and ignores its extensions.
func (f *http1Parser) readChunkSize(line []byte) error {
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimRight(line, " \t")
	const maxHexDigits = 15 // so that the size fits into an int64
	if len(line) == 0 || len(line) > maxHexDigits {
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
