package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	maxHead  = 64 << 10 // bytes of the input buffer, so of a head
	maxLine  = 1 << 10  // bytes of the line before a chunk
	maxBatch = 32 << 10 // buffered bytes of answers before a write
)

// Conn is a connection of a [Null] server, a minimal HTTP server. For HTTP/1 the server calls readHead,
// perhaps readBody, and appends the answer to out. HTTP/2 uses the exported methods.
type Conn struct {
	conn     net.Conn
	ends     *atomic.Bool // the server is about to end
	state    atomic.Int32 // one of the states below
	in       []byte
	r, w     int    // the unused input is in[r:w]
	out      []byte // not written yet
	headCopy []byte // method, target and id, see detachHead
	body     []byte // nil if not stored

	request Request // a field, to avoid an allocation per request
	closes  bool    // a request was rejected: more bytes of it may come
}

const (
	connWorks int32 = iota // reads or answers a request
	connWaits              // waits for a request: Shutdown may end it
	connEnds               // Shutdown ends the connection
)

type readTime int

const (
	duringRequest   readTime = iota
	betweenRequests          // Shutdown may end the connection meanwhile
)

var errEnds = errors.New("the server ends")

// Read reads bytes that are required for the current answer.
func (c *Conn) Read(p []byte) (int, error) { return c.readBuffered(p, duringRequest) }

// Await reads bytes between requests. Shutdown may end it with an error.
func (c *Conn) Await(p []byte) (int, error) { return c.readBuffered(p, betweenRequests) }

func (c *Conn) readBuffered(p []byte, when readTime) (int, error) {
	if c.r < c.w {
		n := copy(p, c.in[c.r:c.w])
		c.r += n
		return n, nil
	}
	return c.receiveBytes(p, when)
}

func (c *Conn) receiveBytes(p []byte, when readTime) (int, error) {
	if when == duringRequest {
		return c.conn.Read(p)
	}
	c.state.Store(connWaits)
	if c.ends.Load() {
		return 0, errEnds
	}
	n, err := c.conn.Read(p)
	wasEnded := !c.state.CompareAndSwap(connWaits, connWorks)
	if wasEnded {
		return 0, errEnds
	}
	return n, err
}

// Write writes without a buffer.
func (c *Conn) Write(p []byte) (int, error) { return c.conn.Write(p) }

// Ends reports whether the server is about to end.
func (c *Conn) Ends() bool { return c.ends.Load() }

// Linger discards a client's bytes, at most a megabyte in a second. Closing immediately could lose the last
// answer.
func (c *Conn) Linger() {
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, c.conn, 1<<20)
	}
}

func (c *Conn) hasPrefix(prefix string) bool {
	for c.w < len(prefix) {
		if c.readMore(betweenRequests) != nil {
			return false
		}
	}
	return string(c.in[:len(prefix)]) == prefix
}

func (c *Conn) flushOutput() error {
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	return err
}

// readMore appends input to the buffer. It first writes the buffered answers, because the client may wait for
// them.
func (c *Conn) readMore(when readTime) error {
	if err := c.flushOutput(); err != nil {
		return err
	}
	switch {
	case c.r == c.w: // all input is used: start over
		c.r, c.w = 0, 0
	case c.w == len(c.in) && c.r > 0: // move the unused input to the start
		c.r, c.w = 0, copy(c.in, c.in[c.r:c.w])
	}
	if c.w == len(c.in) {
		if len(c.in) >= maxHead {
			return rejectedError(http.StatusRequestHeaderFieldsTooLarge)
		}
		c.in = append(c.in, make([]byte, len(c.in))...)
	}
	n, err := c.receiveBytes(c.in[c.w:], when)
	c.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// readHead reads the next head into q, which shares c.in.
func (c *Conn) readHead(q *Request) (err error) {
	if len(c.out) > maxBatch {
		if err := c.flushOutput(); err != nil {
			return err
		}
	}
	for seen := 0; ; { // input bytes without an end of a head
		if c.w-c.r > seen {
			from := max(0, seen-3) // the last bytes may start \r\n\r\n
			if i := bytes.Index(c.in[c.r+from:c.w], []byte("\r\n\r\n")); i >= 0 {
				block := c.in[c.r : c.r+from+i+len("\r\n")]
				c.r += len(block) + len("\r\n")
				*q, err = parseHead(block)
				return err
			}
			seen = c.w - c.r
		}
		if err := c.readMore(betweenRequests); err != nil {
			return err
		}
	}
}

// readBody reads the body of q and returns its length. It stores up to maxBody bytes in q.Body, and calls
// rejectBody for a longer body. If maxBody is 0, it discards the body.
func (c *Conn) readBody(q *Request, maxBody int64) (int64, error) {
	store := maxBody > 0
	if store && q.length > maxBody {
		c.rejectBody(q)
		return 0, nil
	}
	if q.expects {
		c.out = append(c.out, "HTTP/1.1 100 Continue\r\n\r\n"...)
	}
	c.detachHead(q)
	c.body = c.body[:0]
	if q.length == chunkedLength {
		return c.readChunks(q, maxBody)
	}
	if err := c.readBytes(q.length, store); err != nil {
		return 0, err
	}
	q.Body = c.body
	return q.length, nil
}

// rejectBody marks the body of q as too long. The connection then ends, because the rest is not read.
func (c *Conn) rejectBody(q *Request) { q.TooLong, q.close, c.closes = true, true, true }

// detachHead copies method, target and id out of c.in, which is reused for the body.
func (c *Conn) detachHead(q *Request) {
	c.headCopy = append(append(append(c.headCopy[:0], q.Method...), q.Target...), q.ID...)
	methodEnd, targetEnd := len(q.Method), len(q.Method)+len(q.Target)
	q.Method, q.Target, q.ID = c.headCopy[:methodEnd], c.headCopy[methodEnd:targetEnd], c.headCopy[targetEnd:]
}

// readChunks is readBody for a body in chunks, for example 2 CR LF [] CR LF 0 CR LF CR LF.
func (c *Conn) readChunks(q *Request, maxBody int64) (int64, error) {
	store := maxBody > 0
	var sum int64
	for {
		size, err := c.readChunk(maxBody-sum, store)
		if err != nil {
			return 0, err
		}
		if sum += size; size == 0 {
			break
		}
		if store && sum > maxBody {
			c.rejectBody(q)
			return 0, nil
		}
	}
	q.Body = c.body
	for { // trailers, up to an empty line
		line, err := c.readLine()
		if err != nil || len(line) == 0 {
			return sum, err
		}
	}
}

// readChunk reads a chunk and returns its size, 0 for the last one. The lines after the last chunk remain
// unread. If store is set, so do the bytes of a chunk larger than room.
func (c *Conn) readChunk(room int64, store bool) (int64, error) {
	line, err := c.readLine()
	if err != nil {
		return 0, err
	}
	digits, _, _ := bytes.Cut(line, []byte(";"))
	const sizeBits = 40 // a chunk has less than 1 TiB
	size, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, sizeBits)
	if err != nil {
		return 0, rejectedError(http.StatusBadRequest)
	}
	if size == 0 || store && int64(size) > room {
		return int64(size), nil
	}
	if err := c.readBytes(int64(size), store); err != nil {
		return 0, err
	}
	if line, err = c.readLine(); err == nil && len(line) > 0 {
		err = rejectedError(http.StatusBadRequest)
	}
	return int64(size), err
}

// readLine reads a line. The result is a part of c.in, valid until the next read.
func (c *Conn) readLine() ([]byte, error) {
	for {
		if i := bytes.Index(c.in[c.r:c.w], []byte("\r\n")); i >= 0 {
			line := c.in[c.r : c.r+i]
			c.r += i + 2
			return line, nil
		}
		if c.w-c.r > maxLine {
			return nil, rejectedError(http.StatusBadRequest)
		}
		if err := c.readMore(duringRequest); err != nil {
			return nil, err
		}
	}
}

func (c *Conn) readBytes(n int64, store bool) error {
	for {
		available := min(n, int64(c.w-c.r))
		if store {
			c.body = append(c.body, c.in[c.r:c.r+int(available)]...)
		}
		c.r += int(available)
		if n -= available; n == 0 {
			return nil
		}
		if err := c.readMore(duringRequest); err != nil {
			return err
		}
	}
}

type rejectedError int

func (r rejectedError) Error() string { return fmt.Sprintf("rejected with status %d", int(r)) }

func (c *Conn) writeError(err error) {
	var r rejectedError
	if errors.As(err, &r) {
		c.closes = true
		c.out = fmt.Appendf(c.out, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", int(r), http.StatusText(int(r)))
	}
}
