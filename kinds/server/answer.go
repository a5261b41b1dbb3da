package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load"
)

const (
	answerLimit = 5 * time.Second // for one answer, the delay of the path not included
	keptBody    = 1 << 20         // bytes of a body that are kept; all of it is read
	bigRequest  = 32 << 10        // bytes from which a request is written and its answer read at the same time: who refuses one may not read it
)

// answer sends one request for each case, over one connection as long as that
// is kept. A case that is answered by something else than HTTP, or not at all,
// is its own error; a server that leaves a request unanswered ends the trial.
func (c *conn) answer(ctx context.Context, cases []int) (wire.Reply, error) {
	w := c.work
	line := &line{target: w.target, prefix: w.place.prefix, limit: answerLimit + turns*w.traffic.Delay}
	defer line.close()
	var reply wire.Reply
	for _, i := range cases {
		if i < 0 || i >= len(w.pool) {
			return wire.Reply{}, refuse("case %d: workload %q has requests 0 to %d", i, w.in.ID, len(w.pool)-1)
		}
		q := w.pool[i]
		r, err := line.ask(ctx, q)
		w.asked.Sent++
		w.asked.Body += int64(len(q.Body))
		a := wire.Answer{Case: i}
		switch {
		case err == nil:
			if w.took(i, r.Status) {
				w.asked.Acked += int64(q.Items)
			}
			if a.Output, err = json.Marshal(w.held.cut(r)); err != nil {
				return wire.Reply{}, refuse("%v", err)
			}
		case late(err):
			return wire.Reply{}, c.fail(ctx, wire.OpAnswer, "", trialError(tare.ErrDeadline, "no answer to %s %s within %v", q.Method, clip(q.Path), line.limit))
		default:
			if lost := c.lost(ctx, wire.OpAnswer); lost != nil || ctx.Err() != nil {
				return wire.Reply{}, c.fail(ctx, wire.OpAnswer, "", err)
			}
			a.Error = reason(err)
		}
		reply.Answers = append(reply.Answers, a)
	}
	return reply, nil
}

// line is a connection that requests are sent over one by one.
type line struct {
	target load.Target
	prefix string
	limit  time.Duration
	conn   net.Conn
	in     *bufio.Reader
}

func (l *line) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}

// ask sends q and reads the answer. A connection that the server gave up after
// the answer before is made again.
func (l *line) ask(ctx context.Context, q request) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	kept := l.conn != nil
	r, err := l.try(ctx, q)
	if err != nil && kept && ctx.Err() == nil && broken(err) {
		r, err = l.try(ctx, q)
	}
	return r, err
}

// broken reports whether err is how a connection looks that the other side has
// closed.
func broken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func (l *line) try(ctx context.Context, q request) (r response, err error) {
	keep := false
	defer func() {
		if !keep {
			l.close()
		}
	}()
	if l.conn == nil {
		if l.conn, err = dial(ctx, l.target); err != nil {
			return r, err
		}
		l.in = bufio.NewReader(l.conn)
	}
	deadline, _ := ctx.Deadline()
	if err := l.conn.SetDeadline(deadline); err != nil {
		return r, err
	}
	conn := l.conn
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	out := serialise(q, l.prefix, l.target)
	if len(out) < bigRequest {
		if _, err := conn.Write(out); err != nil {
			return r, err
		}
	} else {
		wrote := make(chan error, 1)
		go func() {
			_, err := conn.Write(out)
			wrote <- err
		}()
		defer func() {
			select {
			case err := <-wrote:
				keep = keep && err == nil
			default: // it was answered before it was whole
				keep = false
				_ = conn.Close()
				<-wrote
			}
		}()
	}
	if _, err := l.in.Peek(1); err != nil { // nothing came at all
		return r, err
	}
	var answer *http.Response
	for answer == nil || answer.StatusCode < 200 { // interim ones are not the answer
		if answer, err = http.ReadResponse(l.in, &http.Request{Method: q.Method}); err != nil {
			return r, err
		}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, keptBody))
	if err != nil {
		return r, fmt.Errorf("the body: %w", err)
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return r, fmt.Errorf("the body: %w", err)
	}
	keep = !answer.Close
	r = response{Status: answer.StatusCode, Body: body}
	if kind := typeOf(answer.Header.Get(contentType)); kind != "" {
		r.Header = map[string]string{contentType: kind}
	}
	return r, nil
}

// dial makes a connection, encrypted where the target is.
func dial(ctx context.Context, t load.Target) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", t.Addr)
	if err != nil || t.TLS == nil {
		return conn, err
	}
	secure := tls.Client(conn, t.TLS)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

// serialise writes a request as the load generator does.
func serialise(q request, prefix string, t load.Target) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", q.Method, prefix+q.Path)
	has := map[string]bool{}
	for _, h := range headers(q) {
		has[http.CanonicalHeaderKey(h[0])] = true
	}
	if !has["Host"] {
		host := t.Host
		if host == "" {
			host = t.Addr
		}
		fmt.Fprintf(&b, "Host: %s\r\n", host)
	}
	for _, h := range headers(q) {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	needsLength := len(q.Body) > 0 || q.Method == "POST" || q.Method == "PUT" || q.Method == "PATCH"
	if needsLength && !has["Content-Length"] && !has["Transfer-Encoding"] {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(q.Body))
	}
	b.WriteString("\r\n")
	b.Write(q.Body)
	return b.Bytes()
}

// late reports whether err is that of a deadline.
func late(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// reason is an error without the addresses, which are others each time.
func reason(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return ""
	case errors.As(err, &errno):
		return errno.Error()
	case late(err):
		return "no answer in time"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection was closed before the answer was whole"
	}
	return oneLine(err.Error())
}
