package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

const (
	answerLimit = 5 * time.Second // for one answer, the delay of the path not included
	keptBody    = 1 << 20         // bytes of a body that are kept; all of it is read
	bigRequest  = 32 << 10        // bytes from which a request is written and its answer read at the same time: who refuses one may not read it
)

// answer sends one request for each case, over one connection as long as that
// is kept, to a service that nothing was asked before where that matters. A case
// that is answered by something else than HTTP, or not at all, is its own error;
// a server that leaves a request unanswered ends the trial.
func (c *conn) answer(ctx context.Context, cases []int) (wire.Reply, error) {
	w := c.work
	for _, i := range cases {
		if i < 0 || i >= len(w.pool) {
			return wire.Reply{}, refuse("case %d: workload %q has requests 0 to %d", i, w.in.ID, len(w.pool)-1)
		}
	}
	if err := c.renew(ctx, true); err != nil {
		return wire.Reply{}, err
	}
	w.touched, w.showed = true, true
	if caller, ok := w.session.(*client); ok {
		return c.answerBy(ctx, caller, cases)
	}
	by := w.asker()
	defer by.close()
	from := counters{}
	answers := make([]outcome, len(cases))
	for n, i := range cases {
		answers[n].at = i
		if w.pool[i].Method == "" {
			continue
		}
		q := from.fill(w.pool[i])
		r, err := by.ask(ctx, q)
		w.before.Sent++
		w.before.Body += int64(len(q.Body))
		switch {
		case err == nil:
			if w.took(i, r.Status) {
				w.before.Acked += int64(q.Items)
			}
			r = w.meant(i, r)
			answers[n].response = &r
		case late(err):
			return wire.Reply{}, c.fail(ctx, wire.OpAnswer, "", trialError(tare.ErrDeadline, "no answer to %s %s within %v", q.Method, clip(q.Path), w.patience()))
		default:
			if lost := c.lost(ctx, wire.OpAnswer); lost != nil || ctx.Err() != nil {
				return wire.Reply{}, c.fail(ctx, wire.OpAnswer, "", err)
			}
			answers[n].failed = reason(err)
		}
	}
	return c.show(ctx, answers)
}

// outcome is what came of one case; nothing of it is set where it was not
// asked.
type outcome struct {
	at       int
	response *Response
	failed   string
}

// show is what came of cases as a contender would show it. The last one says
// which calls the service was asked for, where it keeps account.
func (c *conn) show(ctx context.Context, list []outcome) (wire.Reply, error) {
	w := c.work
	called := ""
	if w.changes && w.held == holdWhole {
		counted, err := c.counters(ctx)
		if err != nil {
			return wire.Reply{}, err
		}
		if counted.Calls != nil {
			called = Called(*counted.Calls)
		}
	}
	var reply wire.Reply
	for n, got := range list {
		a := wire.Answer{Case: got.at, Error: got.failed}
		r := Response{Header: map[string]string{heldBy: string(holdUnasked)}}
		if got.response != nil {
			r = w.held.cut(*got.response)
			if called != "" && !slices.ContainsFunc(list[n+1:], func(l outcome) bool { return l.response != nil }) {
				r = having(r, calledFor, called)
			}
		}
		if a.Error == "" {
			var err error
			if w.changes { // what was made has the time in it, whose digits are not as many each time
				a.Size = 1
			}
			if a.Output, err = json.Marshal(r); err != nil {
				return wire.Reply{}, refuse("%v", err)
			}
		}
		reply.Answers = append(reply.Answers, a)
	}
	return reply, nil
}

// calledFor is where the last of several answers says which calls the service
// behind it was asked for. No server can say that: it is no name of a header.
const calledFor = ":called"

// Called is an account of calls in one line, for a reference to be compared with.
func Called(c wire.Calls) string {
	return fmt.Sprintf("create %d, get %d, update %d, delete %d, list %d, sum %d", c.Create, c.Get, c.Update, c.Delete, c.List, c.Sum)
}

// Telling is r with an account of the calls up to it.
func Telling(r Response, calls wire.Calls) Response { return having(r, calledFor, Called(calls)) }

// having is r with one header more.
func having(r Response, name, value string) Response {
	header := map[string]string{name: value}
	maps.Copy(header, r.Header)
	r.Header = header
	return r
}

// asker asks one request after the other.
type asker interface {
	ask(ctx context.Context, q Request) (Response, error)
	close()
}

// asker is how single requests are sent to w's server.
func (w *work) asker() asker {
	if w.dialect.Protocol == load.HTTP1 {
		return &line{target: w.target, prefix: w.place.prefix, limit: w.patience()}
	}
	return newStreams(w.target, w.place.prefix, w.patience(), w.dialect.Protocol == load.GRPC)
}

// patience is how long one answer may take.
func (w *work) patience() time.Duration { return answerLimit + turns*w.traffic.Delay }

// line is a connection that requests are sent over one by one.
type line struct {
	target load.Target
	prefix string
	limit  time.Duration
	conn   net.Conn
	in     *Answers
}

func (l *line) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}

// ask sends q and reads the answer. A connection that the server gave up after
// the answer before is made again.
func (l *line) ask(ctx context.Context, q Request) (Response, error) {
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

func (l *line) try(ctx context.Context, q Request) (r Response, err error) {
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
		l.in = NewAnswers(l.conn)
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
	answer, err := l.in.Next(q.Method)
	if err != nil {
		return r, err
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
	r = Response{Status: answer.StatusCode, Body: body}
	if kind := typeOf(answer.Header.Get(ContentType)); kind != "" {
		r.Header = map[string]string{ContentType: kind}
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
func serialise(q Request, prefix string, t load.Target) []byte {
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
	return format.Line(err.Error(), format.LineLimit)
}
