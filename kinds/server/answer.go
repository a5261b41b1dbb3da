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

// This file requests single responses, which are compared with correct ones and not timed. For
// example, case 3 is the fourth request of a workload.

const (
	// answerLimit is for one response, without the delay of the path.
	answerLimit = 5 * time.Second
	// maxBody is in bytes; the rest of a body is discarded.
	maxBody = 1 << 20
	// bigRequest is in bytes. A server may reject a larger request without reading it, so the
	// response is read while the request is being written.
	bigRequest = 32 << 10
)

// answerCases sends one request for each case, an index in the pool, and returns the responses. If
// requests change the service, it resets the service before. A case may fail, but if there is no
// response in time, the trial ends.
func (c *conn) answerCases(ctx context.Context, cases []int) (wire.Reply, error) {
	w := c.work
	for _, i := range cases {
		if i < 0 || i >= len(w.pool) {
			return wire.Reply{}, requestError("case %d: workload %q has requests 0 to %d", i, w.workload.ID, len(w.pool)-1)
		}
	}
	if err := c.resetService(ctx, true); err != nil {
		return wire.Reply{}, err
	}
	w.touched, w.showed = true, true
	if client, ok := w.session.(*ownClient); ok {
		return c.answerByClient(ctx, client, cases)
	}
	requester := w.newSender()
	defer requester.close()
	counters := fillCounters{}
	answers := make([]caseOutcome, len(cases))
	for n, i := range cases {
		answers[n].index = i
		if w.pool[i].Method == "" { // the protocol cannot encode the request
			continue
		}
		q := counters.fillRequest(w.pool[i])
		r, err := requester.send(ctx, q)
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

// caseOutcome is the outcome of one case. If the request was not sent, it has neither a response nor
// a failure.
type caseOutcome struct {
	index    int
	response *Response // nil if there was none
	failure  string    // text of the error, or ""
}

// toAnswers returns the outcomes of cases as a reply. The last answer with a response has the
// counted calls of the service.
func (c *conn) toAnswers(ctx context.Context, list []caseOutcome) (wire.Reply, error) {
	w := c.work
	calls := ""
	if w.changes && w.strictness == strictAll {
		counters, err := c.readCounters(ctx)
		if err != nil {
			return wire.Reply{}, err
		}
		if counters.Calls != nil {
			calls = Called(*counters.Calls)
		}
	}
	hasResponse := func(o caseOutcome) bool { return o.response != nil }
	var reply wire.Reply
	for n, outcome := range list {
		a := wire.Answer{Case: outcome.index, Error: outcome.failure}
		r := Response{Header: map[string]string{strictnessHeader: string(strictUnsent)}}
		if outcome.response != nil {
			r = w.strictness.reduce(*outcome.response)
			isLast := !slices.ContainsFunc(list[n+1:], hasResponse)
			if calls != "" && isLast {
				r = withHeader(r, calledHeader, calls)
			}
		}
		if a.Error == "" {
			var err error
			if w.changes { // the same size for all: created objects contain times, and so vary in length
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

// calledHeader is a header of the last answer with the counted calls of the service. No server can
// send it, because it is not a valid header name.
const calledHeader = ":called"

// Called formats the counted calls of a service in one line, to compare them with a reference.
func Called(c wire.Calls) string {
	return fmt.Sprintf("create %d, get %d, update %d, delete %d, list %d, sum %d", c.Create, c.Get, c.Update, c.Delete, c.List, c.Sum)
}

// Telling returns r with the counts of all calls up to r, for a reference.
func Telling(r Response, calls wire.Calls) Response {
	return withHeader(r, calledHeader, Called(calls))
}

func withHeader(r Response, name, value string) Response {
	header := map[string]string{name: value}
	maps.Copy(header, r.Header)
	r.Header = header
	return r
}

// requestSender sends requests one after another and returns their responses.
type requestSender interface {
	send(ctx context.Context, q Request) (Response, error)
	close()
}

func (w *work) newSender() requestSender {
	if w.dialect.Protocol == load.HTTP1 {
		return &http1Sender{target: w.target, prefix: w.addr.prefix, limit: w.answerTimeout()}
	}
	return newHTTP2Sender(w.target, w.addr.prefix, w.answerTimeout(), w.dialect.Protocol == load.GRPC)
}

func (w *work) answerTimeout() time.Duration { return answerLimit + turns*w.traffic.Delay }

// http1Sender sends requests over one connection of HTTP/1.1.
type http1Sender struct {
	target load.Target
	prefix string        // begins every path
	limit  time.Duration // limit of a response
	conn   net.Conn      // nil if no connection is open
	in     *Answers      // responses of conn
}

func (l *http1Sender) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}

// send sends q and reads the response. It tries once more over a new connection if the server has
// closed the connection after the previous response.
func (l *http1Sender) send(ctx context.Context, q Request) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	isReused := l.conn != nil
	r, err := l.sendOnce(ctx, q)
	canRetry := isReused && ctx.Err() == nil
	if err != nil && canRetry && isClosed(err) {
		r, err = l.sendOnce(ctx, q)
	}
	return r, err
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// sendOnce sends q over the open connection, or a new one. It closes the connection after an error,
// or if the server requires it.
func (l *http1Sender) sendOnce(ctx context.Context, q Request) (r Response, err error) {
	reusable := false
	defer func() {
		if !reusable {
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
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })() // a time in the past ends reads and writes
	out := encodeRequest(q, l.prefix, l.target)
	finish, err := writeRequest(conn, out)
	if err != nil {
		return r, err
	}
	defer func() { reusable = finish() && reusable }()
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
	reusable = !answer.Close
	r = Response{Status: answer.StatusCode, Body: body}
	if kind := typeOf(answer.Header.Get(ContentType)); kind != "" {
		r.Header = map[string]string{ContentType: kind}
	}
	return r, nil
}

// writeRequest writes a request, concurrently if it is big. The caller must call finish after the
// response. finish reports whether the complete request was written, and closes conn otherwise.
func writeRequest(conn net.Conn, request []byte) (finish func() bool, err error) {
	if len(request) < bigRequest {
		_, err := conn.Write(request)
		return func() bool { return true }, err
	}
	wrote := make(chan error, 1)
	go func() {
		_, err := conn.Write(request)
		wrote <- err
	}()
	return func() bool {
		select {
		case err := <-wrote:
			return err == nil
		default: // the response came before the end of the request
			_ = conn.Close()
			<-wrote
			return false
		}
	}, nil
}

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

// encodeRequest returns a request in HTTP/1.1, as the load generator sends it.
func encodeRequest(q Request, prefix string, t load.Target) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", q.Method, prefix+q.Path)
	isSet := map[string]bool{} // by canonical name
	for _, h := range sortedHeaders(q) {
		isSet[http.CanonicalHeaderKey(h[0])] = true
	}
	if !isSet["Host"] {
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
	if needsLength && !isSet["Content-Length"] && !isSet["Transfer-Encoding"] {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(q.Body))
	}
	b.WriteString("\r\n")
	b.Write(q.Body)
	return b.Bytes()
}

func isDeadline(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// errorText returns the text of an error in one line, without addresses, which vary. It returns ""
// if err is nil.
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
		return "the connection was closed before the answer was complete"
	}
	return format.Line(err.Error(), format.LineLimit)
}
