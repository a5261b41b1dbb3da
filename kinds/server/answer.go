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
	// answerLimit is the time limit of one response, in addition to the delay of the path.
	answerLimit = 5 * time.Second
	// maxBody is the number of bytes of a body that are stored; the rest is read and discarded.
	maxBody = 1 << 20
	// bigRequest is the size in bytes from which the response is read while the request is still
	// being written: a server that rejects a large request may respond without reading it.
	bigRequest = 32 << 10
)

// answerCases sends one request for each case, and returns the responses, which the lab compares with the
// reference. A case is the index of a request in the pool. answerCases uses one connection as long as it
// stays open. If requests change the service, it resets the service before. If a response is not HTTP or
// the connection is closed, the error belongs to the case. If there is no response in time, the trial ends.
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
	index    int       // number of the case
	response *Response // nil if there was none
	failure  string    // text of the error; "" if there was none
}

// toAnswers returns the outcomes of cases as a contender's reply. If the service counts its calls,
// the last answer with a response contains the counts.
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
			if w.changes { // the same size for all: the lengths of created objects vary, because they contain times
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

// calledHeader is the header of the last of several answers. It contains the calls of the service. No
// server can send it, because it is not a valid header name.
const calledHeader = ":called"

// Called formats the counts of calls in one line, to compare them with a reference.
func Called(c wire.Calls) string {
	return fmt.Sprintf("create %d, get %d, update %d, delete %d, list %d, sum %d", c.Create, c.Get, c.Update, c.Delete, c.List, c.Sum)
}

// Telling returns r with the counts of all calls up to r, for a reference.
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

// requestSender sends requests one after another and returns their responses.
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

// http1Sender sends requests over one connection of HTTP/1.1.
type http1Sender struct {
	target load.Target
	prefix string        // prefix of every path
	limit  time.Duration // time limit of a response
	conn   net.Conn      // nil if no connection is open
	in     *Answers      // responses of conn
}

// close closes the open connection, if there is one.
func (l *http1Sender) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}

// send sends q and reads the response. If the server has closed the connection after the
// previous response, send tries again over a new one.
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

// isClosed reports whether err means that the server has closed the connection.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// sendOnce sends q over the open connection, or a new one if none is open. It closes the connection
// after an error, or if the server requires it.
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
				reusable = reusable && err == nil
			default: // the response came before the end of the request
				reusable = false
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
	reusable = !answer.Close
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

// encodeRequest returns the bytes of a request in HTTP/1.1, as the load generator sends it.
func encodeRequest(q Request, prefix string, t load.Target) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", q.Method, prefix+q.Path)
	isSet := map[string]bool{} // by canonical name of a header
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

// isDeadline reports whether err means that a deadline has passed.
func isDeadline(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// errorText returns the text of an error in one line, without addresses, which vary. It returns "" if
// err is nil.
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
