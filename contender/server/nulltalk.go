package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

const (
	maxHead  = 64 << 10 // bytes of a request's head
	maxLine  = 1 << 10  // bytes of the line before a chunk
	maxBatch = 32 << 10 // bytes of answers that are kept before they are written
)

// talk is one connection and its buffers.
type talk struct {
	conn net.Conn
	in   []byte
	r, w int // what is read and not used yet is in[r:w]
	out  []byte

	asked head // kept here so that it is not allocated for each request
}

// flush writes the answers that have been gathered.
func (t *talk) flush() error {
	if len(t.out) == 0 {
		return nil
	}
	_, err := t.conn.Write(t.out)
	t.out = t.out[:0]
	return err
}

// more reads more behind what there is, after it has made room for up to limit
// bytes in all. Answers are written first: their client may wait for them.
func (t *talk) more(limit int) error {
	if err := t.flush(); err != nil {
		return err
	}
	switch {
	case t.r == t.w:
		t.r, t.w = 0, 0
	case t.w == len(t.in) && t.r > 0:
		t.r, t.w = 0, copy(t.in, t.in[t.r:t.w])
	}
	if t.w == len(t.in) {
		if len(t.in) >= limit {
			return refused(http.StatusRequestHeaderFieldsTooLarge)
		}
		t.in = append(t.in, make([]byte, len(t.in))...)
	}
	n, err := t.conn.Read(t.in[t.w:])
	t.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// head reads the head of the next request into q. It lies in the buffer.
func (t *talk) head(q *head) (err error) {
	if len(t.out) > maxBatch {
		if err := t.flush(); err != nil {
			return err
		}
	}
	for seen := 0; ; {
		if t.w-t.r > seen {
			from := max(0, seen-3)
			if i := bytes.Index(t.in[t.r+from:t.w], []byte("\r\n\r\n")); i >= 0 {
				block := t.in[t.r : t.r+from+i+2]
				t.r += len(block) + 2
				*q, err = parseHead(block)
				return err
			}
			seen = t.w - t.r
		}
		if err := t.more(maxHead); err != nil {
			return err
		}
	}
}

// skip reads a body of that length and returns how many bytes it had.
func (t *talk) skip(length int64) (int64, error) {
	if length != chunked {
		return length, t.drop(length)
	}
	var sum int64
	for {
		size, err := t.chunk()
		if err != nil {
			return 0, err
		}
		if sum += size; size == 0 {
			break
		}
	}
	for { // trailers
		line, err := t.line()
		if err != nil || len(line) == 0 {
			return sum, err
		}
	}
}

// chunk reads a chunk and returns its size. What follows the last one, of size
// 0, is left.
func (t *talk) chunk() (int64, error) {
	line, err := t.line()
	if err != nil {
		return 0, err
	}
	digits, _, _ := bytes.Cut(line, []byte(";"))
	size, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, 40)
	if err != nil {
		return 0, refused(http.StatusBadRequest)
	}
	if size == 0 {
		return 0, nil
	}
	if err := t.drop(int64(size)); err != nil {
		return 0, err
	}
	if line, err = t.line(); err == nil && len(line) > 0 {
		err = refused(http.StatusBadRequest)
	}
	return int64(size), err
}

// line reads a line and returns it without its end. It lies in the buffer.
func (t *talk) line() ([]byte, error) {
	for {
		if i := bytes.Index(t.in[t.r:t.w], []byte("\r\n")); i >= 0 {
			line := t.in[t.r : t.r+i]
			t.r += i + 2
			return line, nil
		}
		if t.w-t.r > maxLine {
			return nil, refused(http.StatusBadRequest)
		}
		if err := t.more(maxHead); err != nil {
			return nil, err
		}
	}
}

// drop reads n bytes and forgets them.
func (t *talk) drop(n int64) error {
	for {
		have := min(n, int64(t.w-t.r))
		t.r += int(have)
		if n -= have; n == 0 {
			return nil
		}
		if err := t.more(maxHead); err != nil {
			return err
		}
	}
}

// refused is a request that cannot be answered, as its status.
type refused int

func (r refused) Error() string { return fmt.Sprintf("refused with status %d", int(r)) }

// refuse says why the connection ends, if it is the client's fault.
func (t *talk) refuse(err error) {
	var r refused
	if errors.As(err, &r) {
		t.out = fmt.Appendf(t.out, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", int(r), http.StatusText(int(r)))
	}
}
