package server

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tarebench/tare/load/h2"
)

// This file reads requests of HTTP/1 for a gate, which stands between the clients and the framework's server (the
// stack). The stack gets only complete, correct requests, e.g. a body in chunks as one body with a Content-Length.

// Messages of error responses.
const (
	busyMessage  = "the service has as many bytes of requests as it can store; try again"
	slowMessage  = "the request did not arrive in time"
	chunkMessage = "a chunk is malformed, or its extensions or trailers are too long"
)

const (
	// maxAdded is more than the bytes that formatHead can add to a head: a space in each of [maxFields] fields,
	// and a Content-Length. The head that the stack receives may not exceed MaxHead either.
	maxAdded = 512
	// maxExtensions limits the bytes of the extensions of all chunks and the trailers of a request.
	maxExtensions = 4 << 10
	// sizeDigits limits the hexadecimal digits of the size of a chunk. 15 of them fit into an int64.
	sizeDigits = 15
)

// readRequest waits for the next request on a connection and reads it, before the stack receives any of it. If Ops
// has a page for the request, or if the request must be rejected, readRequest itself answers the client. Otherwise it
// puts the bytes of the complete request into c.out, from where the stack reads.
func (c *gatedConn) readRequest() error {
	c.mu.Lock()
	c.share.removeBytes(c.share.stored)
	c.answer = answerNone
	c.mu.Unlock()
	defer func() {
		if c.arriving = false; len(c.out) == 0 {
			c.gate.removeArriving(c)
		}
	}()
	if err := c.shakeHands(); err != nil {
		return err
	}
	if err := c.awaitFirstByte(); err != nil {
		return err
	}
	if err := c.startArrival(); err != nil {
		return err
	}
	head, err := c.readHead()
	if err != nil || head == nil { // head is nil if the connection speaks HTTP/2
		return err
	}
	c.first = false
	if page, ok := c.gate.ops.Answer(head.question); ok {
		head.closes = head.closes || page.Status == http.StatusMisdirectedRequest
		return c.writeAnswer(head, page)
	}
	body, err := c.readBody(head)
	if err != nil {
		return err
	}
	if c.out = [][]byte{head.formatHead(len(body))}; len(body) > 0 {
		c.out = append(c.out, body)
	}
	return nil
}

// awaitFirstByte waits until c.in has a byte of the next request. Meanwhile the connection is idle and uses none of
// the budget. Therefore awaitFirstByte drops a large buffer if it is empty, and otherwise reserves its bytes again.
func (c *gatedConn) awaitFirstByte() error {
	isLarge := cap(c.in) > freeBytes
	if len(c.in) > 0 {
		if isLarge && !c.awaitRoom(cap(c.in)) {
			return c.rejectRequest(nil, http.StatusServiceUnavailable, busyMessage)
		}
		return nil
	}
	if isLarge {
		c.in = nil
	}
	if err := c.setGateDeadline(time.Time{}); err != nil {
		return err
	}
	return c.readMore()
}

// startArrival starts the time limits of a request whose first byte has arrived.
func (c *gatedConn) startArrival() error {
	c.arriving = true
	c.gate.addArriving(c)
	began := time.Now()
	if c.first {
		began = c.began // the time limit of the first request includes the TLS handshake
	}
	if err := c.setGateDeadline(began.Add(c.gate.timeout)); err != nil {
		return err
	}
	if c.limited != nil {
		c.limited.resetSpent() // the time limit of writes is for the next answer
	}
	return nil
}

// shakeHands completes the TLS handshake, if c is encrypted and has had no request yet.
func (c *gatedConn) shakeHands() error {
	secure, ok := c.Conn.(*tls.Conn)
	if !ok || !c.first {
		return nil
	}
	if err := secure.SetDeadline(c.began.Add(c.gate.timeout)); err != nil {
		return err
	}
	if err := secure.Handshake(); err != nil {
		return err
	}
	return secure.SetDeadline(time.Time{})
}

// readMore reads at least one byte into c.in. If a request in c.in takes too long, it is rejected.
func (c *gatedConn) readMore() error {
	const minBuffer = 1 << 10 // bytes
	if free := cap(c.in) - len(c.in); free == 0 {
		size := max(minBuffer, 2*cap(c.in))
		if size > freeBytes && !c.awaitRoom(size-cap(c.in)) {
			return c.rejectRequest(nil, http.StatusServiceUnavailable, busyMessage)
		}
		c.in = append(make([]byte, 0, size), c.in...)
	}
	n, err := c.Conn.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	if n > 0 {
		return nil
	}
	if isTimeout(err) && c.arriving {
		return c.rejectRequest(nil, http.StatusRequestTimeout, slowMessage)
	}
	return err
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// readHead reads the head of a request of HTTP/1. If the connection starts with the preface of HTTP/2, it
// switches the connection to HTTP/2 and returns nil.
func (c *gatedConn) readHead() (*requestHead, error) {
	if c.first && c.gate.http2 {
		isHTTP2, err := c.readPreface()
		if err != nil {
			return nil, err
		}
		if isHTTP2 {
			c.speakHTTP2()
			return nil, nil
		}
	}
	for {
		n, bad := endOfHead(c.in)
		if bad == nil && n == 0 && len(c.in) >= MaxHead {
			bad = longHead()
		}
		if bad != nil {
			return nil, c.rejectRequest(nil, bad.status, bad.message)
		}
		if n > 0 {
			head, bad := c.parseHead(c.in[:n])
			if bad != nil {
				return nil, c.rejectRequest(nil, bad.status, bad.message)
			}
			c.in = c.in[n:]
			return head, nil
		}
		if err := c.readMore(); err != nil {
			return nil, err
		}
	}
}

// readPreface reads until it is clear whether the connection starts with the preface of HTTP/2. It returns [io.EOF]
// if the stack does not speak HTTP/1, or if there is no room for another connection of HTTP/2.
func (c *gatedConn) readPreface() (isHTTP2 bool, err error) {
	for {
		n := min(len(c.in), len(h2.Preface))
		switch {
		case string(c.in[:n]) != h2.Preface[:n]: // HTTP/1
			if !c.gate.http1 {
				return false, io.EOF
			}
			return false, nil
		case n == len(h2.Preface):
			if c.limited != nil && !c.limited.limits.admitHTTP2(c.limited) {
				return false, io.EOF
			}
			return true, nil
		}
		if err := c.readMore(); err != nil { // only a part of the preface has arrived
			return false, err
		}
	}
}

// parseHead parses a complete head. It also rejects a head that is too long in the form that the stack would receive.
func (c *gatedConn) parseHead(text []byte) (*requestHead, *badRequest) {
	head, bad := parseRequestHead(text)
	if bad != nil {
		return nil, bad
	}
	mayBecomeTooLong := len(text) > MaxHead-maxAdded
	if mayBecomeTooLong && len(head.formatHead(int(c.gate.maxBody))) > MaxHead {
		return nil, longHead()
	}
	return head, nil
}

func longHead() *badRequest {
	return &badRequest{http.StatusRequestHeaderFieldsTooLarge, fmt.Sprintf("a head has at most %d bytes", MaxHead)}
}

// readBody reads the body of a request. It rejects the request if the body is larger than the gate allows.
func (c *gatedConn) readBody(head *requestHead) ([]byte, error) {
	switch {
	case head.length == 0:
		return nil, nil
	case head.length > c.gate.maxBody:
		return nil, c.rejectRequest(head, http.StatusRequestEntityTooLarge, c.tooLarge())
	}
	if head.expects && len(c.in) == 0 {
		if _, err := io.WriteString(c.Conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return nil, err
		}
	}
	if head.length < 0 {
		return c.readChunks(head)
	}
	return c.readBytes(head, nil, int(head.length), int(head.length))
}

func (c *gatedConn) tooLarge() string {
	return fmt.Sprintf("a body has at most %d bytes", c.gate.maxBody)
}

// readBytes appends n bytes of the request to body, whose final size is at most limit.
func (c *gatedConn) readBytes(head *requestHead, body []byte, n, limit int) ([]byte, error) {
	for n > 0 {
		if len(body) == cap(body) {
			needed := len(body) + min(n, freeBytes) // a client that only announces many bytes does not get them
			size := min(limit, max(needed, 2*cap(body)))
			if !c.awaitRoom(size - cap(body)) {
				return nil, c.rejectRequest(head, http.StatusServiceUnavailable, busyMessage)
			}
			body = append(make([]byte, 0, size), body...)
		}
		target := body[len(body):min(cap(body), len(body)+n)]
		read := copy(target, c.in)
		c.in = c.in[read:]
		if read == 0 { // c.in is empty
			var err error
			if read, err = c.Conn.Read(target); read == 0 && err != nil {
				return nil, c.bodyError(head, err)
			}
		}
		body = body[:len(body)+read]
		n -= read
	}
	return body, nil
}

// bodyError returns the error that the stack gets if a read of the body has failed with err. If the request takes too
// long, bodyError rejects it.
func (c *gatedConn) bodyError(head *requestHead, err error) error {
	switch {
	case isTimeout(err):
		return c.rejectRequest(head, http.StatusRequestTimeout, slowMessage)
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}

// readChunks reads a body in chunks (RFC 9112, section 7.1) and returns it without extensions and trailers.
// The chunk 2;a=b CR LF [] CR LF, for example, is the body [] with the extension a=b.
func (c *gatedConn) readChunks(head *requestHead) (body []byte, err error) {
	spare := maxExtensions // bytes that extensions and trailers may still have
	for {
		text, err := c.readLine(head, sizeDigits+spare)
		if err != nil {
			return nil, err
		}
		spare -= max(0, len(text)-sizeDigits)
		size, ok := parseChunkSize(text)
		switch {
		case !ok:
			return nil, c.rejectRequest(head, http.StatusBadRequest, chunkMessage)
		case size > c.gate.maxBody-int64(len(body)):
			return nil, c.rejectRequest(head, http.StatusRequestEntityTooLarge, c.tooLarge())
		}
		if size == 0 {
			break
		}
		if body, err = c.readBytes(head, body, int(size), int(c.gate.maxBody)); err != nil {
			return nil, err
		}
		if _, err := c.readLine(head, 0); err != nil { // an empty line ends the chunk's bytes
			return nil, err
		}
	}
	for { // trailers, up to an empty line
		text, err := c.readLine(head, spare)
		if err != nil || text == "" {
			return body, err
		}
		spare = max(0, spare-len(text)-len("\r\n"))
		if _, bad := parseField(text); bad != nil {
			return nil, c.rejectRequest(head, bad.status, bad.message)
		}
	}
}

// readLine reads a line of at most limit bytes and returns it without its end, \r\n.
func (c *gatedConn) readLine(head *requestHead, limit int) (string, error) {
	for {
		end := bytes.IndexByte(c.in, '\n')
		beforeEnd := end // number of bytes before \n, including \r
		if end < 0 {
			beforeEnd = len(c.in)
		}
		isTooLong := beforeEnd > limit+1
		isMalformed := end >= 0 && (end == 0 || bytes.IndexByte(c.in, '\r') != end-1) // only its end may have a \r
		if isTooLong || isMalformed {
			return "", c.rejectRequest(head, http.StatusBadRequest, chunkMessage)
		}
		if end > 0 {
			text := string(c.in[:end-1])
			c.in = c.in[end+1:]
			return text, nil
		}
		if err := c.readMore(); err != nil {
			return "", err
		}
	}
}

// parseChunkSize returns the size in the line before a chunk, such as 1a;name=value.
func parseChunkSize(line string) (size int64, ok bool) {
	digits, extension, _ := strings.Cut(line, ";")
	digits = strings.TrimRight(digits, " \t")
	if digits == "" || len(digits) > sizeDigits {
		return 0, false
	}
	for _, b := range []byte(digits) {
		d := int64(strings.IndexByte("0123456789abcdef", b|0x20)) // in lower case
		if d < 0 || b < '0' {                                     // control bytes: b|0x20 may be a digit
			return 0, false
		}
		size = size<<4 | d
	}
	for _, b := range []byte(extension) {
		if b < ' ' && b != '\t' || b == 0x7f {
			return 0, false
		}
	}
	return size, true
}

// rejectRequest sends an error response, after which the connection must be closed. head is nil if the head of
// the request could not be read. rejectRequest returns the error that the stack gets from Read: [io.EOF], or the
// error of the write.
func (c *gatedConn) rejectRequest(head *requestHead, status int, message string) error {
	page := c.gate.ops.errorPage(status, message)
	if status == http.StatusServiceUnavailable {
		page.Header = [2]string{"Retry-After", "1"}
	}
	c.gate.ops.logRejected(head, status)
	if head == nil {
		head = &requestHead{}
	}
	c.early.Store(true)
	head.closes = true
	return c.writeAnswer(head, page)
}

// writeAnswer sends page to the client; the stack does not see the request. It returns [io.EOF] if the connection
// must be closed: because head.closes is set, or because the request has a body, which nothing has read.
func (c *gatedConn) writeAnswer(head *requestHead, page Page) error {
	hasUnreadBody := head.length != 0
	closes := head.closes || hasUnreadBody
	if _, err := io.WriteString(c.Conn, head.formatAnswer(page, closes)); err != nil {
		return err
	}
	if hasUnreadBody {
		c.early.Store(true)
	}
	if closes {
		return io.EOF
	}
	return nil
}

// formatAnswer returns the answer to h in the form of HTTP/1. closes means that the connection closes after it.
func (h *requestHead) formatAnswer(page Page, closes bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n", page.Status, http.StatusText(page.Status), time.Now().UTC().Format(http.TimeFormat), page.ContentType, len(page.Body))
	if page.Header[0] != "" {
		fmt.Fprintf(&b, "%s: %s\r\n", page.Header[0], page.Header[1])
	}
	if closes {
		b.WriteString("Connection: close\r\n")
	} else if h.version == "HTTP/1.0" {
		b.WriteString("Connection: keep-alive\r\n")
	}
	b.WriteString("\r\n")
	if h.method != http.MethodHead {
		b.Write(page.Body)
	}
	return b.String()
}
