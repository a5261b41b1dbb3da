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

// A parcel is a message that may be too long for NATS. It is sent in parts.

// maxMessage is the default limit of NATS servers, in bytes.
const maxMessage = 1 << 20

// maxPart is the size of a part of a parcel, in bytes. base64 makes it a third longer.
const maxPart = maxMessage / 2

// parcelPart is a part of a parcel. It has maxPart bytes, except for the last part.
type parcelPart struct {
	Parcel string `json:"parcel"`
	N      int    `json:"n"`  // number of this part, from 0
	Of     int    `json:"of"` // number of parts
	Data   []byte `json:"data"`
}

// receipt acknowledges or rejects a part.
type receipt struct {
	Refused string `json:"refused,omitempty"`
	Busy    bool   `json:"busy,omitempty"` // the sender may retry later
}

type busyError struct{ doing string }

func (e *busyError) Error() string { return "busy: " + e.doing }

// RefusedError has the reason for the rejection of a message.
type RefusedError struct{ Why string }

// Error is one line.
func (e *RefusedError) Error() string { return "refused: " + e.Why }

// sendParcel sends body in parts. It repeats a part without a reply until ctx ends. A rejection is a
// *busyError or a *RefusedError.
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

func countParts(size int) int { return (size + maxPart - 1) / maxPart }

// request repeats message as JSON until there is a reply, and decodes it into reply.
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

// sleep waits for d. If ctx ends first, it returns the cause.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// parcelReceiver stores one incomplete parcel of each sender, and at most maxOpen*maxBytes bytes in all.
type parcelReceiver struct {
	maxBytes int
	take     func(sender string, body []byte) error // gets each parcel; the sender gets the error

	mu    sync.Mutex
	open  map[string]*partialParcel // incomplete, by sender
	parts int
	done  map[string]receipt // for repeated parts, by sender and parcel
}

type partialParcel struct {
	parcel   string
	body     []byte
	lastPart int // parcelReceiver.parts at the last part
}

const (
	maxOpen = 4    // all incomplete parcels together have at most maxOpen*maxBytes bytes
	maxDone = 4096 // stored receipts
)

// receivePart adds a part to its parcel and returns the reply. A part of a new parcel replaces the sender's
// incomplete one. It passes a complete parcel to d.take.
func (d *parcelReceiver) receivePart(sender string, text []byte) receipt {
	var p parcelPart
	if err := json.Unmarshal(text, &p); err != nil {
		return receipt{Refused: "it is not a part of a parcel"}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open, d.done = map[string]*partialParcel{}, map[string]receipt{}
	}
	key := sender + " " + p.Parcel
	if r, known := d.done[key]; known {
		return r
	}
	partial := d.open[sender]
	if partial == nil || partial.parcel != p.Parcel {
		partial = &partialParcel{parcel: p.Parcel}
	}
	if r, isNext := d.checkNext(p, len(partial.body)); !isNext {
		return r
	}
	partial.body = append(partial.body, p.Data...)
	if isLast := p.N == p.Of-1; !isLast {
		d.storePartial(sender, partial)
		return receipt{}
	}
	delete(d.open, sender)
	var r receipt
	if err := d.take(sender, partial.body); err != nil {
		var busy *busyError
		r.Refused, r.Busy = format.Line(err.Error(), format.LineLimit), errors.As(err, &busy)
	}
	if r.Busy { // the sender will try again
		return r
	}
	if len(d.done) >= maxDone {
		clear(d.done)
	}
	d.done[key] = r
	return r
}

// checkNext reports whether p follows the stored bytes of its parcel, or returns the reply to another part.
func (d *parcelReceiver) checkNext(p parcelPart, stored int) (r receipt, isNext bool) {
	next := countParts(stored)
	isLast := p.N == p.Of-1
	isNumbered := len(p.Parcel) <= maxID && 0 <= p.N && p.N < p.Of
	hasSize := len(p.Data) == maxPart || isLast && len(p.Data) < maxPart
	isTooLong := p.Of-1 > d.maxBytes/maxPart || stored+len(p.Data) > d.maxBytes
	switch {
	case !isNumbered, !hasSize:
		return receipt{Refused: "it is not a part of a parcel"}, false
	case isTooLong:
		return receipt{Refused: fmt.Sprintf("it is longer than %d bytes", d.maxBytes)}, false
	case p.N < next: // repeated: the reply was lost
		return receipt{}, false
	case p.N > next: // the parcel was dropped; the sender starts again
		return receipt{Refused: "a part before it is missing", Busy: true}, false
	}
	return receipt{}, true
}

// storePartial stores an incomplete parcel. If there are too many bytes, it drops the parcels that have waited
// longest. The caller has locked d.mu.
func (d *parcelReceiver) storePartial(sender string, partial *partialParcel) {
	d.parts++
	partial.lastPart = d.parts
	d.open[sender] = partial
	size := 0
	for _, p := range d.open {
		size += len(p.body)
	}
	for size > maxOpen*d.maxBytes {
		oldest := sender
		for sender, p := range d.open {
			if p.lastPart < d.open[oldest].lastPart {
				oldest = sender
			}
		}
		size -= len(d.open[oldest].body)
		delete(d.open, oldest)
	}
}

// handleSafely logs a panic, so that a message cannot end the process. The reply has the reason under all keys
// that replies use.
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

func sendReply(m *nats.Msg, reply any) {
	if text, err := json.Marshal(reply); err == nil && m.Reply != "" {
		_ = m.Respond(text) // the sender retries
	}
}
