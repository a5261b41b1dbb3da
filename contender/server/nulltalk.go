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
	maxHead  = 64 << 10 // bytes of a request's head
	maxLine  = 1 << 10  // bytes of the line before a chunk
	maxBatch = 32 << 10 // bytes of answers that are kept before they are written
)

// Conn is one connection and its buffers.
type Conn struct {
	conn  net.Conn
	ends  *atomic.Bool // the server is about to
	state atomic.Int32 // what Shutdown may do with it
	in    []byte
	r, w  int // what is read and not used yet is in[r:w]
	out   []byte
	copy  []byte // of a head whose body is read over it
	body  []byte

	asked  Request // kept here so that it is not allocated for each request
	closes bool    // it was refused: more may be on its way
}

// States of a connection.
const (
	connWorks int32 = iota
	connWaits       // for a request: it may be ended
	connEnds
)

// errEnds is that the server ends before another request has come.
var errEnds = errors.New("the server ends")

// Read reads what an answer depends on.
func (c *Conn) Read(p []byte) (int, error) { return c.next(p, false) }

// Await reads where nothing is under way on the connection: it is an error that the
// server ends meanwhile.
func (c *Conn) Await(p []byte) (int, error) { return c.next(p, true) }

func (c *Conn) next(p []byte, idle bool) (int, error) {
	if c.r < c.w {
		n := copy(p, c.in[c.r:c.w])
		c.r += n
		return n, nil
	}
	return c.receive(p, idle)
}

// receive reads from the network.
func (c *Conn) receive(p []byte, idle bool) (int, error) {
	if !idle {
		return c.conn.Read(p)
	}
	if c.state.Store(connWaits); c.ends.Load() {
		return 0, errEnds
	}
	n, err := c.conn.Read(p)
	if !c.state.CompareAndSwap(connWaits, connWorks) {
		return 0, errEnds
	}
	return n, err
}

// Write writes at once.
func (c *Conn) Write(p []byte) (int, error) { return c.conn.Write(p) }

// Ends reports whether the server is about to end.
func (c *Conn) Ends() bool { return c.ends.Load() }

// Linger reads what is still on its way, so that the last answer is not lost when
// the connection is closed.
func (c *Conn) Linger() {
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, c.conn, 1<<20)
	}
}

// begins reports whether the connection does so. What was read stays.
func (c *Conn) begins(with string) bool {
	for c.w < len(with) {
		if c.more(maxHead, true) != nil {
			return false
		}
	}
	return string(c.in[:len(with)]) == with
}

// flush writes the answers that have been gathered.
func (c *Conn) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	return err
}

// more reads more behind what there is, after it has made room for up to limit
// bytes in all. Answers are written first: their client may wait for them.
func (c *Conn) more(limit int, idle bool) error {
	if err := c.flush(); err != nil {
		return err
	}
	switch {
	case c.r == c.w:
		c.r, c.w = 0, 0
	case c.w == len(c.in) && c.r > 0:
		c.r, c.w = 0, copy(c.in, c.in[c.r:c.w])
	}
	if c.w == len(c.in) {
		if len(c.in) >= limit {
			return refused(http.StatusRequestHeaderFieldsTooLarge)
		}
		c.in = append(c.in, make([]byte, len(c.in))...)
	}
	n, err := c.receive(c.in[c.w:], idle)
	c.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// head reads the head of the next request into q. It lies in the buffer.
func (c *Conn) head(q *Request) (err error) {
	if len(c.out) > maxBatch {
		if err := c.flush(); err != nil {
			return err
		}
	}
	for seen := 0; ; {
		if c.w-c.r > seen {
			from := max(0, seen-3)
			if i := bytes.Index(c.in[c.r+from:c.w], []byte("\r\n\r\n")); i >= 0 {
				block := c.in[c.r : c.r+from+i+2]
				c.r += len(block) + 2
				*q, err = parseHead(block)
				return err
			}
			seen = c.w - c.r
		}
		if err := c.more(maxHead, true); err != nil {
			return err
		}
	}
}

// read reads the body of q, and keeps up to most bytes of it, or none for zero. It
// returns how many it had.
func (c *Conn) read(q *Request, most int64) (int64, error) {
	if most > 0 && q.length > most {
		q.TooLong, q.close, c.closes = true, true, true
		return 0, nil
	}
	if q.expects {
		c.out = append(c.out, "HTTP/1.1 100 Continue\r\n\r\n"...)
	}
	c.copy = append(append(append(c.copy[:0], q.Method...), q.Target...), q.ID...)
	method, target := len(q.Method), len(q.Method)+len(q.Target)
	q.Method, q.Target, q.ID = c.copy[:method], c.copy[method:target], c.copy[target:]
	c.body = c.body[:0]
	if q.length != chunked {
		if err := c.take(q.length, most > 0); err != nil {
			return 0, err
		}
		q.Body = c.body
		return q.length, nil
	}
	var sum int64
	for {
		size, err := c.chunk(most-sum, most > 0)
		if err != nil {
			return 0, err
		}
		if sum += size; size == 0 {
			break
		}
		if most > 0 && sum > most {
			q.TooLong, q.close, c.closes = true, true, true
			return 0, nil
		}
	}
	q.Body = c.body
	for { // trailers
		line, err := c.line()
		if err != nil || len(line) == 0 {
			return sum, err
		}
	}
}

// chunk reads a chunk and returns its size. What follows the last one, of size
// 0, is left, and so is one that is to be kept and has more bytes than room.
func (c *Conn) chunk(room int64, keep bool) (int64, error) {
	line, err := c.line()
	if err != nil {
		return 0, err
	}
	digits, _, _ := bytes.Cut(line, []byte(";"))
	size, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, 40)
	if err != nil {
		return 0, refused(http.StatusBadRequest)
	}
	if size == 0 || keep && int64(size) > room {
		return int64(size), nil
	}
	if err := c.take(int64(size), keep); err != nil {
		return 0, err
	}
	if line, err = c.line(); err == nil && len(line) > 0 {
		err = refused(http.StatusBadRequest)
	}
	return int64(size), err
}

// line reads a line and returns it without its end. It lies in the buffer.
func (c *Conn) line() ([]byte, error) {
	for {
		if i := bytes.Index(c.in[c.r:c.w], []byte("\r\n")); i >= 0 {
			line := c.in[c.r : c.r+i]
			c.r += i + 2
			return line, nil
		}
		if c.w-c.r > maxLine {
			return nil, refused(http.StatusBadRequest)
		}
		if err := c.more(maxHead, false); err != nil {
			return nil, err
		}
	}
}

// take reads n bytes of a body, and forgets them unless they are to be kept.
func (c *Conn) take(n int64, keep bool) error {
	for {
		have := min(n, int64(c.w-c.r))
		if keep {
			c.body = append(c.body, c.in[c.r:c.r+int(have)]...)
		}
		c.r += int(have)
		if n -= have; n == 0 {
			return nil
		}
		if err := c.more(maxHead, false); err != nil {
			return err
		}
	}
}

// refused is a request that cannot be answered, as its status.
type refused int

func (r refused) Error() string { return fmt.Sprintf("refused with status %d", int(r)) }

// refuse says why the connection ends, if it is the client's fault.
func (c *Conn) refuse(err error) {
	var r refused
	if errors.As(err, &r) {
		c.closes = true
		c.out = fmt.Appendf(c.out, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", int(r), http.StatusText(int(r)))
	}
}
