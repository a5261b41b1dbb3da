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
	maxHead  = 64 << 10 // bytes of the input buffer, and so of a request's head
	maxLine  = 1 << 10  // bytes of the line before a chunk
	maxBatch = 32 << 10 // bytes of answers that are buffered before they are written
)

// Conn is one connection of a [Null] server, a minimal HTTP server, with its buffers. It reads requests and buffers
// the answers. For a request of HTTP/1 the server calls readHead, readBody if there is a body, and then appends the
// answer to out. A server of HTTP/2 uses the exported methods instead.
type Conn struct {
	conn     net.Conn
	ends     *atomic.Bool // the server is about to end
	state    atomic.Int32 // one of the states below
	in       []byte
	r, w     int    // positions of the reader and the writer of in: the unused input is in[r:w]
	out      []byte // answers that are not written yet
	headCopy []byte // copy of the method, target and id of the request, see detachHead
	body     []byte // body of the request, if it is stored

	request Request // the current request; a field to avoid an allocation per request
	closes  bool    // the last request was rejected: the client may still send bytes of it
}

// States of a connection.
const (
	connWorks int32 = iota // a request is being read or answered
	connWaits              // waits for a request: Shutdown may end the connection
	connEnds               // Shutdown ends the connection
)

// readTime is the time of a read: whether a request is in progress.
type readTime int

const (
	duringRequest   readTime = iota
	betweenRequests          // Shutdown may end the connection meanwhile
)

// errEnds is the error of a read that ended because the server is about to end.
var errEnds = errors.New("the server ends")

// Read reads bytes that are required for the current answer.
func (c *Conn) Read(p []byte) (int, error) { return c.readBuffered(p, duringRequest) }

// Await reads bytes while no request is in progress on the connection. Shutdown may end the connection while
// Await waits; it then returns an error.
func (c *Conn) Await(p []byte) (int, error) { return c.readBuffered(p, betweenRequests) }

// readBuffered returns buffered bytes, or reads from the network if there are none.
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

// Linger discards the bytes that the client still sends, for at most a second and a megabyte: if the connection
// were closed immediately, the last answer could be lost.
func (c *Conn) Linger() {
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, c.conn, 1<<20)
	}
}

// hasPrefix reports whether the connection starts with prefix, which remains unread.
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

// readMore appends input to the buffer, which may grow until it has maxHead bytes. It writes the buffered answers
// first, because the client may wait for them.
func (c *Conn) readMore(when readTime) error {
	if err := c.flushOutput(); err != nil {
		return err
	}
	switch {
	case c.r == c.w: // all input is used: start over
		c.r, c.w = 0, 0
	case c.w == len(c.in) && c.r > 0: // no room at the end: move the unused input to the start
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

// readHead reads the head of the next request into q. The contents of q are parts of c.in. If the answers in c.out
// are many, it writes them first.
func (c *Conn) readHead(q *Request) (err error) {
	if len(c.out) > maxBatch {
		if err := c.flushOutput(); err != nil {
			return err
		}
	}
	for seen := 0; ; { // seen is the number of input bytes that contain no end of a head
		if c.w-c.r > seen {
			from := max(0, seen-3) // the last three bytes may be the start of \r\n\r\n
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

// readBody reads the body of q and returns its length. It stores a body of up to maxBody bytes in q.Body. If the body
// is longer, it calls rejectBody and stops reading. If maxBody is 0, it discards the body.
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

// rejectBody marks q as a request whose body is too long. The connection ends after the answer, because the rest of
// the body is not read.
func (c *Conn) rejectBody(q *Request) { q.TooLong, q.close, c.closes = true, true, true }

// detachHead copies the method, the target and the id of q out of c.in, which is reused to read the body.
func (c *Conn) detachHead(q *Request) {
	c.headCopy = append(append(append(c.headCopy[:0], q.Method...), q.Target...), q.ID...)
	methodEnd, targetEnd := len(q.Method), len(q.Method)+len(q.Target)
	q.Method, q.Target, q.ID = c.headCopy[:methodEnd], c.headCopy[methodEnd:targetEnd], c.headCopy[targetEnd:]
}

// readChunks is readBody for a body in chunks, such as 2 CR LF [] CR LF 0 CR LF CR LF.
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

// readChunk reads a chunk and returns its size. The last chunk has size 0; the lines after it remain unread. If
// store is set and the chunk is larger than room, its bytes remain unread.
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

// readLine reads a line and returns it without its end. The result is a part of c.in, valid until the next read.
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

// readBytes reads n bytes of a body, and stores them if store is set.
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

// rejectedError is the status with which a request is rejected.
type rejectedError int

func (r rejectedError) Error() string { return fmt.Sprintf("rejected with status %d", int(r)) }

// writeError appends an error response to the output if err is a rejectedError, and nothing otherwise.
func (c *Conn) writeError(err error) {
	var r rejectedError
	if errors.As(err, &r) {
		c.closes = true
		c.out = fmt.Appendf(c.out, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", int(r), http.StatusText(int(r)))
	}
}
