package router

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// OpSocket measures a router over a socket.

type serverStarter interface {
	startServer(l net.Listener) (stop func(), err error)
}

// loopback is a server in this process with one connection. The client only writes prepared bytes and reads
// one response. [Null], a server that does nothing, shows its cost.
type loopback struct {
	conn net.Conn
	stop func()
	buf  []byte
	null *null // set if the server is Null: it needs the next request's number
}

// answerTimeout limits a response that is compared. Timed requests have no timeout; the measuring process
// watches them.
const answerTimeout = 10 * time.Second

func dialServer(s serverStarter) (*loopback, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	stop, err := s.startServer(l)
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("serve: %w", err)
	}
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		stop()
		return nil, fmt.Errorf("connect: %w", err)
	}
	n, _ := s.(*null)
	return &loopback{conn: conn, stop: stop, buf: make([]byte, 0, 4096), null: n}, nil
}

func (x *loopback) close() {
	_ = x.conn.Close()
	x.stop()
}

// newWork returns the work that sends requests over the connection. Only status 200 is correct.
func (x *loopback) newWork(spec Spec, requests []wire.HTTPRequest) (contender.Work, error) {
	raw := make([][]byte, len(requests))
	for i, q := range requests {
		raw[i] = formatRequest(q)
	}
	if x.null != nil {
		if err := x.null.prepareAnswers(requests); err != nil {
			return contender.Work{}, err
		}
	}
	send := func(i int) (status int, body []byte, err error) { // the response is in x.buf
		if x.null != nil {
			x.null.next.Store(int64(i))
		}
		return x.roundTrip(raw[i])
	}
	do := func(i int) (int, error) {
		status, body, err := send(i)
		if err == nil && status != http.StatusOK {
			err = statusError(status)
		}
		return len(body), err
	}
	return contender.Work{Do: do, Answer: func(i int) (contender.Answered, error) {
		if err := x.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
			return contender.Answered{}, err
		}
		before := spec.LayerCalls()
		if _, _, err := send(i); err != nil {
			return contender.Answered{}, err
		}
		calls := spec.LayerCalls() - before
		if err := x.conn.SetDeadline(time.Time{}); err != nil {
			return contender.Answered{}, err
		}
		a, err := parseAnswer(x.buf)
		if err != nil {
			return contender.Answered{}, err
		}
		a.LayerCalls = calls
		return encodeAnswer(a)
	}}, nil
}

// roundTrip sends one request and reads the response. body is a part of x.buf.
func (x *loopback) roundTrip(request []byte) (status int, body []byte, err error) {
	x.buf = x.buf[:0]
	if _, err := x.conn.Write(request); err != nil {
		return 0, nil, fmt.Errorf("send: %w", err)
	}
	const headEnd = "\r\n\r\n"
	head, length := -1, 0 // lengths of the head without headEnd (-1 if incomplete) and the body
	for {
		if len(x.buf) > maxAnswer {
			return 0, nil, errors.New("an answer of more than a megabyte")
		}
		x.buf = slices.Grow(x.buf, 1)
		n, err := x.conn.Read(x.buf[len(x.buf):cap(x.buf)])
		x.buf = x.buf[:len(x.buf)+n]
		if err != nil {
			return 0, nil, fmt.Errorf("read the answer: %w", err)
		}
		if head < 0 {
			if head = bytes.Index(x.buf, []byte(headEnd)); head < 0 {
				continue
			}
			if status, length, err = parseHead(x.buf[:head+len("\r\n")]); err != nil {
				return 0, nil, err
			}
		}
		bodyStart := head + len(headEnd)
		switch end := bodyStart + length; {
		case len(x.buf) > end:
			return status, nil, fmt.Errorf("%d bytes after the answer", len(x.buf)-end)
		case len(x.buf) == end:
			return status, x.buf[bodyStart:], nil
		}
	}
}

// maxAnswer limits a response in bytes.
const maxAnswer = 1 << 20

// parseHead returns the status and the body's length. It requires Content-Length: responses are small, so
// servers know it.
func parseHead(head []byte) (status, length int, err error) {
	const statusStart, statusEnd = len("HTTP/1.1 "), len("HTTP/1.1 200")
	if len(head) < statusEnd || string(head[:7]) != "HTTP/1." {
		return 0, 0, fmt.Errorf("no answer in HTTP/1: %q", truncateText(head))
	}
	if status, err = strconv.Atoi(string(head[statusStart:statusEnd])); err != nil {
		return 0, 0, fmt.Errorf("no status in %q", truncateText(head))
	}
	const name = "content-length:"
	for rest := head; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 || i+1 == len(rest) {
			return status, 0, fmt.Errorf("an answer with status %d does not say how long it is", status)
		}
		rest = rest[i+1:]
		if len(rest) < len(name) || !hasFoldedPrefix(rest, name) {
			continue
		}
		lineEnd := max(len(name), bytes.IndexByte(rest, '\n')) // a line that is cut off has an empty value
		for _, c := range bytes.TrimSpace(rest[len(name):lineEnd]) {
			if c < '0' || c > '9' || length > maxAnswer {
				return status, 0, fmt.Errorf("no valid length in %q", truncateText(rest))
			}
			length = 10*length + int(c-'0')
		}
		return status, length, nil
	}
}

// hasFoldedPrefix reports whether b begins with lower, ignoring case. b must not be shorter than lower.
func hasFoldedPrefix(b []byte, lower string) bool {
	for i := range len(lower) {
		c := b[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20 // makes a letter lower case
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func parseAnswer(raw []byte) (Answer, error) {
	r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		return Answer{}, fmt.Errorf("read the answer: %w", err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("read the answer: %w", err)
	}
	return Answer{HTTPResponse: wire.HTTPResponse{Status: r.StatusCode, Header: pickHeaders(r.Header.Get), Body: body}}, nil
}

func formatRequest(q wire.HTTPRequest) []byte {
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: localhost\r\n", q.Method, q.Path)
	for _, name := range slices.Sorted(maps.Keys(q.Header)) {
		if !strings.EqualFold(name, "Host") && !strings.EqualFold(name, "Content-Length") {
			b = fmt.Appendf(b, "%s: %s\r\n", name, q.Header[name])
		}
	}
	if len(q.Body) > 0 || q.Method != http.MethodGet && q.Method != http.MethodHead {
		b = fmt.Appendf(b, "Content-Length: %d\r\n", len(q.Body))
	}
	return append(append(b, "\r\n"...), q.Body...)
}

// serveUntil runs serve(l) in a goroutine. stop calls end, which must end serve, and waits.
func serveUntil(serve func(net.Listener) error, l net.Listener, end func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = serve(l) // it returns the error of a closed listener
	}()
	return func() {
		end()
		<-done
	}
}
