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
	maxBody     = 1 << 20         // bytes of a body that are stored; all of it is read
	bigRequest  = 32 << 10        // bytes from which a request is written and its response read concurrently: a server that rejects one may not read it
)

// answerCases sends one request for each case, over one connection as long as that stays open, to a
// service in its initial state if that matters. A case whose response is not HTTP, or that gets
// none, is its own error; a server that leaves a request unanswered ends the trial.
func (c *conn) answerCases(ctx context.Context, cases []int) (wire.Reply, error) {
	w := c.work
	for _, i := range cases {
		if i < 0 || i >= len(w.pool) {
			return wire.Reply{}, requestError("case %d: workload %q has requests 0 to %d", i, w.in.ID, len(w.pool)-1)
		}
	}
	if err := c.resetService(ctx, true); err != nil {
		return wire.Reply{}, err
	}
	w.touched, w.showed = true, true
	if caller, ok := w.session.(*ownClient); ok {
		return c.answerByClient(ctx, caller, cases)
	}
	by := w.newSender()
	defer by.close()
	from := fillCounters{}
	answers := make([]caseOutcome, len(cases))
	for n, i := range cases {
		answers[n].index = i
		if w.pool[i].Method == "" {
			continue
		}
		q := from.fillRequest(w.pool[i])
		r, err := by.send(ctx, q)
		w.before.Sent++
		w.before.Body += int64(len(q.Body))
		switch {
		case err == nil:
			if w.hasAccepted(i, r.Status) {
				w.before.Acked += int64(q.Items)
			}
			r = w.decodeResponse(i, r)
			answers[n].response = &r
		case isDeadline(err):
			return wire.Reply{}, c.failWith(ctx, wire.OpAnswer, "", trialError(tare.ErrDeadline, "no answer to %s %s within %v", q.Method, clipText(q.Path), w.answerTimeout()))
		default:
			if lost := c.whyEnded(ctx, wire.OpAnswer); lost != nil || ctx.Err() != nil {
				return wire.Reply{}, c.failWith(ctx, wire.OpAnswer, "", err)
			}
			answers[n].failure = errorText(err)
		}
	}
	return c.toAnswers(ctx, answers)
}

// caseOutcome is the outcome of one case. It is empty if the case was not sent.
type caseOutcome struct {
	index    int
	response *Response
	failure  string
}

// toAnswers returns the outcomes of cases as a contender's reply. The last one has the calls of the
// service, if it counts them.
func (c *conn) toAnswers(ctx context.Context, list []caseOutcome) (wire.Reply, error) {
	w := c.work
	called := ""
	if w.changes && w.strictness == strictAll {
		counted, err := c.readCounters(ctx)
		if err != nil {
			return wire.Reply{}, err
		}
		if counted.Calls != nil {
			called = Called(*counted.Calls)
		}
	}
	var reply wire.Reply
	for n, got := range list {
		a := wire.Answer{Case: got.index, Error: got.failure}
		r := Response{Header: map[string]string{strictnessHeader: string(strictUnsent)}}
		if got.response != nil {
			r = w.strictness.reduce(*got.response)
			if called != "" && !slices.ContainsFunc(list[n+1:], func(l caseOutcome) bool { return l.response != nil }) {
				r = withHeader(r, calledHeader, called)
			}
		}
		if a.Error == "" {
			var err error
			if w.changes { // what was made has the time in it, whose digits are not as many each time
				a.Size = 1
			}
			if a.Output, err = json.Marshal(r); err != nil {
				return wire.Reply{}, requestError("%v", err)
			}
		}
		reply.Answers = append(reply.Answers, a)
	}
	return reply, nil
}

// calledHeader is the header of the last of several answers that lists the calls of the service. No
// server can send it: it is not a valid header name.
const calledHeader = ":called"

// Called returns an account of calls in one line, for a reference to be compared with.
func Called(c wire.Calls) string {
	return fmt.Sprintf("create %d, get %d, update %d, delete %d, list %d, sum %d", c.Create, c.Get, c.Update, c.Delete, c.List, c.Sum)
}

// Telling returns r with a summary of the calls up to it.
func Telling(r Response, calls wire.Calls) Response {
	return withHeader(r, calledHeader, Called(calls))
}

// withHeader returns r with one more header.
func withHeader(r Response, name, value string) Response {
	header := map[string]string{name: value}
	maps.Copy(header, r.Header)
	r.Header = header
	return r
}

// requestSender sends one request after another.
type requestSender interface {
	send(ctx context.Context, q Request) (Response, error)
	close()
}

// newSender returns the sender of single requests to w's server.
func (w *work) newSender() requestSender {
	if w.dialect.Protocol == load.HTTP1 {
		return &http1Sender{target: w.target, prefix: w.addr.prefix, limit: w.answerTimeout()}
	}
	return newHTTP2Sender(w.target, w.addr.prefix, w.answerTimeout(), w.dialect.Protocol == load.GRPC)
}

// answerTimeout returns the maximum time of one response.
func (w *work) answerTimeout() time.Duration { return answerLimit + turns*w.traffic.Delay }

// http1Sender is a connection that requests are sent over one by one.
type http1Sender struct {
	target load.Target
	prefix string
	limit  time.Duration
	conn   net.Conn
	in     *Answers
}

func (l *http1Sender) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}

// send sends q and reads the answer. A connection that the server gave up after
// the answer before is made again.
func (l *http1Sender) send(ctx context.Context, q Request) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	kept := l.conn != nil
	r, err := l.sendOnce(ctx, q)
	if err != nil && kept && ctx.Err() == nil && isClosed(err) {
		r, err = l.sendOnce(ctx, q)
	}
	return r, err
}

// isClosed reports whether err is that of a connection closed by the other side.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func (l *http1Sender) sendOnce(ctx context.Context, q Request) (r Response, err error) {
	keep := false
	defer func() {
		if !keep {
			l.close()
		}
	}()
	if l.conn == nil {
		if l.conn, err = dialTarget(ctx, l.target); err != nil {
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
	out := encodeRequest(q, l.prefix, l.target)
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
			default: // the response came before the end of the request
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
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
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

// dialTarget makes a connection, with TLS if the target has it.
func dialTarget(ctx context.Context, t load.Target) (net.Conn, error) {
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

// encodeRequest returns a request in wire format, as the load generator does.
func encodeRequest(q Request, prefix string, t load.Target) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", q.Method, prefix+q.Path)
	has := map[string]bool{}
	for _, h := range sortedHeaders(q) {
		has[http.CanonicalHeaderKey(h[0])] = true
	}
	if !has["Host"] {
		host := t.Host
		if host == "" {
			host = t.Addr
		}
		fmt.Fprintf(&b, "Host: %s\r\n", host)
	}
	for _, h := range sortedHeaders(q) {
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

// isDeadline reports whether err is that of a deadline.
func isDeadline(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// errorText returns the text of an error without the addresses, which vary.
func errorText(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return ""
	case errors.As(err, &errno):
		return errno.Error()
	case isDeadline(err):
		return "no answer in time"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection was closed before the answer was whole"
	}
	return format.Line(err.Error(), format.LineLimit)
}
