package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tarebench/tare/internal/format"
)

// This file sends messages that may be too long for NATS, in parts. Such a message is called a parcel.

// maxMessage limits the bytes of a NATS message. It is the default limit of NATS servers.
const maxMessage = 1 << 20

// maxPart is the number of bytes of a parcel that one message contains. The message has them in base64, which
// needs a third more bytes, and a few other fields.
const maxPart = maxMessage / 2

// parcelPart contains a part of a parcel. A parcel is an order or an outcome, which may be longer than a NATS
// message, so it is sent in parts. All parts but the last have maxPart bytes.
type parcelPart struct {
	Parcel string `json:"parcel"` // id of the parcel
	N      int    `json:"n"`      // number of the part, from 0
	Of     int    `json:"of"`     // number of parts
	Data   []byte `json:"data"`
}

// receipt is the reply to a part: it acknowledges the part, or contains the reason why it was rejected.
type receipt struct {
	Refused string `json:"refused,omitempty"`
	Busy    bool   `json:"busy,omitempty"` // the sender may retry later
}

// busyError rejects a request that may be accepted later. doing is the reason, e.g. a description of the order
// that is running.
type busyError struct{ doing string }

func (e *busyError) Error() string { return "busy: " + e.doing }

// RefusedError is the reason with which the other side rejected a message.
type RefusedError struct{ Why string }

// Error is one line.
func (e *RefusedError) Error() string { return "refused: " + e.Why }

// sendParcel sends body in parts, and returns nil once the other side has accepted all of them. If a
// part gets no reply, sendParcel sends the part again, until ctx ends. If the other side rejects the
// parcel, the error is a *busyError or a *RefusedError.
func sendParcel(ctx context.Context, nc *nats.Conn, t protocolTimes, subject, parcel string, body []byte) error {
	parts := max(1, countParts(len(body)))
	for n := range parts {
		data := body[n*maxPart : min(len(body), (n+1)*maxPart)]
		var r receipt
		if err := request(ctx, nc, t, subject, parcelPart{Parcel: parcel, N: n, Of: parts, Data: data}, &r); err != nil {
			return err
		}
		switch {
		case r.Busy:
			return &busyError{strings.TrimPrefix(format.Line(r.Refused, format.LineLimit), "busy: ")}
		case r.Refused != "":
			return &RefusedError{format.Line(r.Refused, format.LineLimit)}
		}
	}
	return nil
}

// countParts returns the number of parts of a parcel of size bytes.
func countParts(size int) int { return (size + maxPart - 1) / maxPart }

// request sends message, as JSON, until there is a reply or ctx ends, and decodes the reply into the
// pointer reply.
func request(ctx context.Context, nc *nats.Conn, t protocolTimes, subject string, message, reply any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	for {
		attemptCtx, cancel := context.WithTimeout(ctx, t.replyTimeout)
		m, err := nc.RequestWithContext(attemptCtx, subject, text)
		cancel()
		if err == nil {
			if err := json.Unmarshal(m.Data, reply); err != nil {
				return fmt.Errorf("the answer on %s is none: %w", subject, err)
			}
			return nil
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrMaxPayload):
			return err
		}
		if err := sleep(ctx, t.retryDelay); err != nil {
			return err
		}
	}
}

// sleep waits for d. If ctx ends before, it returns the cause.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// parcelReceiver assembles parcels from their parts. It stores at most one incomplete parcel for each sender,
// because a sender sends its parcels one after the other, and at most maxOpen*maxBytes bytes for all senders.
type parcelReceiver struct {
	maxBytes int                                  // largest parcel
	take     func(from string, body []byte) error // called once for each complete parcel; the error is the reply

	mu    sync.Mutex
	open  map[string]*partialParcel // incomplete parcels, by sender
	parts int                       // number of parts that were stored so far
	done  map[string]receipt        // replies to complete parcels, for repeated parts, by sender and parcel
}

type partialParcel struct {
	parcel   string
	body     []byte
	lastPart int // parcelReceiver.parts at the time of the last part
}

// Bounds of a parcelReceiver.
const (
	maxOpen = 4    // most bytes of all incomplete parcels together, as a multiple of maxBytes
	maxDone = 4096 // number of stored receipts
)

// receivePart adds a part to its parcel, and returns the reply to the sender. If the parcel is then
// complete, receivePart passes it to d.take. A part of a new parcel replaces the sender's incomplete
// parcel.
func (d *parcelReceiver) receivePart(from string, text []byte) receipt {
	var p parcelPart
	if err := json.Unmarshal(text, &p); err != nil {
		return receipt{Refused: "it is not a part of a parcel"}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open, d.done = map[string]*partialParcel{}, map[string]receipt{}
	}
	key := from + " " + p.Parcel
	if r, known := d.done[key]; known {
		return r
	}
	partial := d.open[from]
	if partial == nil || partial.parcel != p.Parcel {
		partial = &partialParcel{parcel: p.Parcel}
	}
	next := countParts(len(partial.body)) // number of the part that has to follow
	isLast := p.N == p.Of-1
	isNumbered := len(p.Parcel) <= maxID && 0 <= p.N && p.N < p.Of
	hasSize := len(p.Data) == maxPart || isLast && len(p.Data) < maxPart
	isTooLong := p.Of-1 > d.maxBytes/maxPart || len(partial.body)+len(p.Data) > d.maxBytes
	switch {
	case !isNumbered, !hasSize:
		return receipt{Refused: "it is not a part of a parcel"}
	case isTooLong:
		return receipt{Refused: fmt.Sprintf("it is longer than %d bytes", d.maxBytes)}
	case p.N < next: // repeated: the reply was lost
		return receipt{}
	case p.N > next: // e.g. storePartial has dropped the parcel; the sender retries from the first part
		return receipt{Refused: "a part before it is missing", Busy: true}
	}
	partial.body = append(partial.body, p.Data...)
	if !isLast {
		d.storePartial(from, partial)
		return receipt{}
	}
	delete(d.open, from)
	var r receipt
	if err := d.take(from, partial.body); err != nil {
		var busy *busyError
		r.Refused, r.Busy = format.Line(err.Error(), format.LineLimit), errors.As(err, &busy)
	}
	if r.Busy { // the sender sends the parcel again, so do not store this reply
		return r
	}
	if len(d.done) >= maxDone {
		clear(d.done)
	}
	d.done[key] = r
	return r
}

// storePartial stores an incomplete parcel. If all incomplete parcels together exceed the limit, it
// drops those that have waited longest for a part. The caller has locked d.mu.
func (d *parcelReceiver) storePartial(from string, partial *partialParcel) {
	d.parts++
	partial.lastPart = d.parts
	d.open[from] = partial
	size := 0 // bytes of all incomplete parcels
	for _, p := range d.open {
		size += len(p.body)
	}
	for size > maxOpen*d.maxBytes {
		oldest := from
		for sender, p := range d.open {
			if p.lastPart < d.open[oldest].lastPart {
				oldest = sender
			}
		}
		size -= len(d.open[oldest].body)
		delete(d.open, oldest)
	}
}

// handleSafely calls handle, which processes message m, and recovers from a panic, so that a message
// cannot end the process. It logs the panic and replies with the reason, under the JSON keys that the
// different kinds of replies have for a rejection.
func handleSafely(log func(string), m *nats.Msg, handle func()) {
	defer func() {
		if p := recover(); p != nil {
			why := describePanic(p)
			log(fmt.Sprintf("a message on %s failed: %s", format.Line(m.Subject, 200), why))
			sendReply(m, map[string]string{"refused": why, "gone": why})
		}
	}()
	handle()
}

// describePanic describes the recovered value p and the source line of the panic.
func describePanic(p any) string {
	pcs := make([]uintptr, 20)
	const skipped = 4 // runtime.Callers, this function, the deferred function and gopanic
	frames := runtime.CallersFrames(pcs[:runtime.Callers(skipped, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") || !more {
			return fmt.Sprintf("it is a bug of tare: %s (%s:%d)", format.Line(fmt.Sprint(p), 200), filepath.Base(f.File), f.Line)
		}
	}
}

// sendReply replies to a message, if the sender expects a reply.
func sendReply(m *nats.Msg, reply any) {
	if text, err := json.Marshal(reply); err == nil && m.Reply != "" {
		_ = m.Respond(text) // the sender retries if the reply is lost
	}
}
