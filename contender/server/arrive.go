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

// A gate stands between clients and the framework's server (the stack). The stack gets only complete, correct
// requests. A body in chunks, for example, gets a Content-Length.

const (
	busyMessage  = "the service has as many bytes of requests as it can store; try again"
	slowMessage  = "the request did not arrive in time"
	chunkMessage = "a chunk is malformed, or its extensions or trailers are too long"
)

const (
	// maxAdded is more than formatHead can add: a space in each of [maxFields] fields, and a Content-Length.
	// The stack's head may not exceed MaxHead either.
	maxAdded = 512
	// maxExtensions limits extensions of all chunks and trailers, in bytes.
	maxExtensions = 4 << 10
	// sizeDigits limits a chunk size: 15 hexadecimal digits fit into an int64.
	sizeDigits = 15
)

// readRequest reads the next request. It answers the client itself if Ops has a page or the request is wrong.
// Otherwise it puts the complete request into c.out for the stack.
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
	if err != nil || head == nil { // nil if the connection speaks HTTP/2
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

// awaitFirstByte waits for the next request without using the budget. So it drops a large buffer that is
// empty, and later reserves its bytes again.
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

func (c *gatedConn) startArrival() error {
	c.arriving = true
	c.gate.addArriving(c)
	began := time.Now()
	if c.first {
		began = c.began // the first request includes the TLS handshake
	}
	if err := c.setGateDeadline(began.Add(c.gate.timeout)); err != nil {
		return err
	}
	if c.limited != nil {
		c.limited.resetSpent() // the limit of writes is for the next answer
	}
	return nil
}

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

// readMore reads at least one byte into c.in. It rejects a request that takes too long.
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

// readHead reads the head of a request. It returns nil if it has switched the connection to HTTP/2.
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

// readPreface finds out whether the connection starts with HTTP/2's preface. It returns [io.EOF] if the stack
// does not speak HTTP/1, or there is no room for HTTP/2.
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

// parseHead parses a complete head. It rejects one that would be too long for the stack.
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

// readBytes appends n bytes to body. limit is for the complete body.
func (c *gatedConn) readBytes(head *requestHead, body []byte, n, limit int) ([]byte, error) {
	for n > 0 {
		if len(body) == cap(body) {
			needed := len(body) + min(n, freeBytes) // announced bytes are not reserved
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

// bodyError returns the stack's error after a read of the body has failed. It rejects a request that takes too
// long.
func (c *gatedConn) bodyError(head *requestHead, err error) error {
	switch {
	case isTimeout(err):
		return c.rejectRequest(head, http.StatusRequestTimeout, slowMessage)
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}

// readChunks reads a body in chunks (RFC 9112, section 7.1). For example, the chunk 2;a=b CR LF [] CR LF is
// the body [].
func (c *gatedConn) readChunks(head *requestHead) (body []byte, err error) {
	spare := maxExtensions // limit of extensions and trailers
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
		if _, err := c.readLine(head, 0); err != nil { // an empty line ends the chunk
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

func (c *gatedConn) readLine(head *requestHead, limit int) (string, error) {
	for {
		end := bytes.IndexByte(c.in, '\n')
		beforeEnd := end
		if end < 0 {
			beforeEnd = len(c.in)
		}
		isTooLong := beforeEnd > limit+1
		isMalformed := end >= 0 && (end == 0 || bytes.IndexByte(c.in, '\r') != end-1) // only the end may have \r
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

// parseChunkSize parses a line such as 1a;name=value.
func parseChunkSize(line string) (size int64, ok bool) {
	digits, extension, _ := strings.Cut(line, ";")
	digits = strings.TrimRight(digits, " \t")
	if digits == "" || len(digits) > sizeDigits {
		return 0, false
	}
	for _, b := range []byte(digits) {
		d := int64(strings.IndexByte("0123456789abcdef", b|0x20)) // letters in lower case
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

// rejectRequest sends an error response; the connection must then be closed. head may be nil. The error is for
// the stack.
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

// writeAnswer sends page to the client; the stack does not see the request. [io.EOF] means that the connection
// must be closed.
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
