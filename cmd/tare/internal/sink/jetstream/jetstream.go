// Package jetstream publishes events to a stream of NATS JetStream.
package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
)

// JetStream is a sink that publishes to a subject. A stream of the server stores the subject.
type JetStream struct {
	target  sink.Target
	subject string
	timeout time.Duration
	durable bool // the server syncs every message
	options []nats.Option

	conn   *nats.Conn // nil before the first connection
	stream jetstream.JetStream
}

// Codes of errors that reject an event forever.
const (
	codeMessageTooLarge jetstream.ErrorCode = 10054 // larger than the stream's max_msg_size
	codeHeaderTooLarge  jetstream.ErrorCode = 10097 // more than 64 KiB of header
)

// Kind returns the kind of sink jetstream.
func Kind() sink.Kind {
	return sink.Kind{
		Form: "jetstream://HOST:PORT/SUBJECT", Help: "NATS; durable=on, creds=PATH",
		Options: []string{"timeout", "durable=on", "creds", "hold=on"},
		Poison:  "larger than the server or the stream takes, or a header of more than 64 KiB",
		Open:    openSubject,
	}
}

// openSubject opens jetstream://HOST:PORT/SUBJECT. Its stream must exist.
func openSubject(t sink.Target, s sink.Settings) (sink.Sink, error) {
	j := &JetStream{target: t, subject: strings.Trim(t.URL.Path, "/"), timeout: s.Timeout, durable: t.Options["durable"] == "on"}
	if j.subject == "" || strings.ContainsAny(j.subject, "/ *>") {
		return nil, fmt.Errorf("sink %s: the path %q is no /SUBJECT", t.Name(), t.URL.Path)
	}
	j.options = []nats.Option{
		nats.Name("tare"), nats.Timeout(min(j.timeout, 5*time.Second)),
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.ReconnectWait(50 * time.Millisecond),
		nats.ReconnectBufSize(-1), // sending fails immediately without a connection
	}
	if user := t.URL.User; user != nil {
		password, _ := user.Password()
		j.options = append(j.options, nats.UserInfo(user.Username(), password))
	}
	if path := t.Options["creds"]; path != "" {
		j.options = append(j.options, nats.UserCredentials(path))
	}
	return j, nil
}

// connect connects unless there is a connection. Later the client reconnects by itself.
func (j *JetStream) connect() (err error) {
	if j.conn != nil && !j.conn.IsClosed() { // some errors close a connection forever
		return nil
	}
	var servers []string
	for host := range strings.SplitSeq(j.target.URL.Host, ",") {
		servers = append(servers, "nats://"+host)
	}
	if j.conn, err = nats.Connect(strings.Join(servers, ","), j.options...); err != nil {
		j.conn = nil
		return err
	}
	j.stream, err = jetstream.New(j.conn, jetstream.WithPublishAsyncMaxPending(1<<20), jetstream.WithPublishAsyncTimeout(j.timeout))
	return err
}

// Send publishes a batch and waits for each acknowledgement. Events that are too large are dead. Others are
// sent again after an error.
func (j *JetStream) Send(ctx context.Context, b sink.Batch) (result sink.Result, err error) {
	if err := j.connect(); err != nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(ctx, j.timeout)
	defer cancel()
	futures, errs := j.publishEvents(b)
	var failure error
	for i, future := range futures {
		err := errs[i]
		if err == nil {
			select {
			case <-future.Ok():
				continue
			case err = <-future.Err():
			case <-ctx.Done():
				return sink.Result{}, fmt.Errorf("an acknowledgement is missing: %w", ctx.Err())
			}
		}
		if isTooLarge(err) {
			result.Dead = append(result.Dead, sink.Dead{Index: i, Reason: err.Error()})
			continue
		}
		failure = err
		result.Again = append(result.Again, i)
	}
	if len(result.Again) == len(b.Events) {
		return sink.Result{}, failure
	}
	return result, nil
}

// publishEvents publishes events in order. futures receive the acknowledgements; errs has the others' errors.
// After an error that is not about size it stops, to keep the order. All later events get that error.
func (j *JetStream) publishEvents(b sink.Batch) (futures []jetstream.PubAckFuture, errs []error) {
	futures, errs = make([]jetstream.PubAckFuture, len(b.Events)), make([]error, len(b.Events))
	for i, e := range b.Events {
		futures[i], errs[i] = j.stream.PublishMsgAsync(j.newMessage(e))
		if err := errs[i]; err != nil && !isTooLarge(err) {
			for k := i + 1; k < len(errs); k++ {
				errs[k] = err
			}
			break
		}
	}
	return futures, errs
}

// newMessage returns the message of an event. A header has the event's id, by which the server recognises
// duplicates.
func (j *JetStream) newMessage(e sink.Event) *nats.Msg {
	m := &nats.Msg{Subject: j.subject, Data: e.Line, Header: nats.Header{}}
	if id, err := sink.EventID(e.Line); err == nil {
		m.Header.Set(jetstream.MsgIDHeader, string(id))
	}
	if trace := sink.Traceparent(e.Line); trace != "" {
		m.Header.Set(sink.TraceHeader, trace)
	}
	return m
}

// isTooLarge reports whether the server, or the client with its limit, rejects an event's size.
func isTooLarge(err error) bool {
	if errors.Is(err, nats.ErrMaxPayload) {
		return true
	}
	var reported *jetstream.APIError
	if !errors.As(err, &reported) {
		return false
	}
	return reported.ErrorCode == codeMessageTooLarge || reported.ErrorCode == codeHeaderTooLarge
}

// Promise returns the guarantee of an acknowledgement of the stream.
func (j *JetStream) Promise() sink.Promise {
	sent := "acknowledged by the stream, which is not on stable storage: a server syncs every two minutes unless its sync_interval is always (then say durable=on)"
	if j.durable {
		sent = "acknowledged by the stream, on stable storage"
	}
	return sink.Promise{To: j.target.String(), Sent: sent, Once: "the event's id, within the stream's duplicate window", Order: "that of a batch; events that have to be published again come later"}
}

// Close closes the connection.
func (j *JetStream) Close() error {
	if j.conn != nil {
		j.conn.Close()
	}
	return nil
}
