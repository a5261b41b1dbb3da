package face

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// maxHead is how many bytes a request's head may have. A line has to fit into the
// buffer of a bufio.Reader.
const maxHead = 64 << 10

// errHead is that a head makes no sense, or asks for what is not here: the
// connection ends with an answer of 400.
var errHead = errors.New("not a request of HTTP/1.1")

// talk is one connection and its buffers.
type talk struct {
	conn   net.Conn
	in     *bufio.Reader
	out    []byte
	target []byte
	body   []byte
	id     string // of the request that is being answered
	status int    // of its answer
	last   bool   // no other one follows
}

// request is one request. Target and body lie in buffers of the connection.
type request struct {
	method       string
	target, body []byte
	id           string // what its sender calls it
	close        bool   // no other one follows

	length  int64
	chunked bool
	expects bool // its sender waits to be told to go on
}

// next answers the next request. It is false when the connection is to end.
func (f *face) next(t *talk) bool {
	if t.in.Buffered() == 0 {
		if !f.waits(t.conn, true) {
			return false
		}
		_, err := t.in.Peek(1)
		if f.waits(t.conn, false); err != nil {
			return false
		}
	}
	q, err := t.request()
	var refused *users.Error
	switch {
	case errors.Is(err, errHead):
		t.out = append(t.out, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"...)
	case err == nil, errors.As(err, &refused):
		f.receipts.Body(int64(len(q.body)))
		t.last = q.close || err != nil
		f.answer(t, q, err)
	default:
		return false
	}
	_, wrong := t.conn.Write(t.out)
	t.out = t.out[:0]
	if err != nil {
		t.linger()
	}
	return wrong == nil && err == nil && !q.close
}

// linger reads what is still on its way, so that the answer is not lost when the
// connection is closed.
func (t *talk) linger() {
	if half, ok := t.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = t.conn.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, t.in, 1<<20)
	}
}

// request reads the next request.
func (t *talk) request() (q request, err error) {
	line, err := t.line()
	if err != nil {
		return q, err
	}
	method, line, ok := bytes.Cut(line, []byte(" "))
	target, version, ok2 := bytes.Cut(line, []byte(" "))
	if !ok || !ok2 || len(method) == 0 || len(target) == 0 || string(version) != "HTTP/1.1" {
		return q, errHead
	}
	q.method = known(method)
	t.target = append(t.target[:0], target...)
	q.target = t.target
	for size := 0; ; size += len(line) {
		if line, err = t.line(); err != nil {
			return q, err
		}
		if len(line) == 0 {
			break
		}
		if size > maxHead {
			return q, errHead
		}
		if err := q.header(line); err != nil {
			return q, err
		}
	}
	if q.length == 0 && !q.chunked {
		return q, nil
	}
	return q, t.read(&q)
}

// line is the next line without its end.
func (t *talk) line() ([]byte, error) {
	line, err := t.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || err == nil && !bytes.HasSuffix(line, []byte("\r\n")) {
		err = errHead
	}
	if err != nil {
		return nil, err
	}
	return line[:len(line)-2], nil
}

// known is a method, where it is one of those that are answered without an error.
func known(method []byte) string {
	for _, m := range [...]string{"GET", "POST", "PUT", "DELETE"} {
		if string(method) == m {
			return m
		}
	}
	return "other"
}

// header takes in one header.
func (q *request) header(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 || bytes.ContainsAny(name, " \t") || bytes.IndexByte(value, '\r') >= 0 {
		return errHead
	}
	value = bytes.Trim(value, " \t")
	is := func(word string) bool { return len(name) == len(word) && bytes.EqualFold(name, []byte(word)) }
	switch {
	case is("content-length"):
		n, err := strconv.ParseUint(string(value), 10, 62)
		if err != nil || q.length != 0 || q.chunked {
			return errHead
		}
		q.length = int64(n)
	case is("transfer-encoding"):
		if !bytes.EqualFold(value, []byte("chunked")) || q.length != 0 || q.chunked {
			return errHead
		}
		q.chunked = true
	case is("connection"):
		q.close = q.close || bytes.EqualFold(value, []byte("close"))
	case is("expect"):
		q.expects = true
	case is("x-request-id"):
		q.id = string(value)
	}
	return nil
}

// read reads the body of q.
func (t *talk) read(q *request) error {
	if q.length > users.MaxBody {
		return users.TooLarge()
	}
	if q.expects && t.in.Buffered() == 0 {
		if _, err := io.WriteString(t.conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return err
		}
	}
	if !q.chunked {
		if int64(cap(t.body)) < q.length {
			t.body = make([]byte, q.length)
		}
		q.body = t.body[:q.length]
		_, err := io.ReadFull(t.in, q.body)
		return err
	}
	body, err := io.ReadAll(io.LimitReader(httputil.NewChunkedReader(t.in), users.MaxBody+1))
	switch {
	case err != nil:
		return err
	case len(body) > users.MaxBody:
		return users.TooLarge()
	}
	q.body = body
	for { // what may follow the last chunk
		line, err := t.line()
		if err != nil || len(line) == 0 {
			return err
		}
	}
}
