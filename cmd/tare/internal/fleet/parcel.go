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

// maxMessage limits the bytes of a message: the default limit of NATS servers.
const maxMessage = 1 << 20

// maxPart limits the bytes of a parcel in one message, where they are in base64.
const maxPart = maxMessage / 2

// parcelPart is part N of Of of a parcel, a chunked message.
type parcelPart struct {
	Parcel string `json:"parcel"`
	N      int    `json:"n"`
	Of     int    `json:"of"`
	Data   []byte `json:"data"`
}

// receipt acknowledges a part, or holds the reason of its rejection.
type receipt struct {
	Refused string `json:"refused,omitempty"`
	Busy    bool   `json:"busy,omitempty"` // the sender may retry later
}

// busyError rejects a request for now; doing describes the agent's current work.
type busyError struct{ doing string }

// Error is one line.
func (e *busyError) Error() string { return "busy: " + e.doing }

// RefusedError holds the reason with which the other side rejected a message.
type RefusedError struct{ Why string }

// Error is one line.
func (e *RefusedError) Error() string { return "refused: " + e.Why }

// sendParcel sends a parcel in parts and returns when the other side has accepted all of them.
// Parts without a reply are sent again until ctx ends.
func sendParcel(ctx context.Context, nc *nats.Conn, t protocolTimes, subject, parcel string, body []byte) error {
	of := max(1, (len(body)+maxPart-1)/maxPart)
	for n := range of {
		data := body[n*maxPart : min(len(body), (n+1)*maxPart)]
		var r receipt
		if err := request(ctx, nc, t, subject, parcelPart{parcel, n, of, data}, &r); err != nil {
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

// request sends question until there is a reply or ctx ends.
func request(ctx context.Context, nc *nats.Conn, t protocolTimes, subject string, question, answer any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	for {
		one, cancel := context.WithTimeout(ctx, t.replyTimeout)
		m, err := nc.RequestWithContext(one, subject, text)
		cancel()
		if err == nil {
			if err := json.Unmarshal(m.Data, answer); err != nil {
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
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(t.retryDelay):
		}
	}
}

// parcelReceiver assembles parcels. It stores one per sender, because a sender sends one after
// the other, within a bound on the total.
type parcelReceiver struct {
	maxBytes int                                  // of a parcel
	take     func(from string, body []byte) error // called once per complete parcel

	mu    sync.Mutex
	open  map[string]*partialParcel // incomplete, by sender
	parts int                       // stored so far
	done  map[string]receipt
}

// partialParcel is an incomplete parcel.
type partialParcel struct {
	parcel   string
	body     []byte
	lastPart int // parcelReceiver.parts when its last part came
}

// Bounds of a parcelReceiver.
const (
	maxOpen = 4    // bound of all incomplete parcels, in parcels of maximal size
	maxDone = 4096 // receipts that are stored
)

// receivePart adds a part to its parcel and passes a complete parcel to r.take.
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
	o := d.open[from]
	if o == nil || o.parcel != p.Parcel {
		o = &partialParcel{parcel: p.Parcel}
	}
	next := (len(o.body) + maxPart - 1) / maxPart
	last := p.N == p.Of-1
	switch {
	case len(p.Parcel) > maxID, p.N < 0 || p.Of < 1 || p.N >= p.Of || len(p.Data) > maxPart || !last && len(p.Data) != maxPart:
		return receipt{Refused: "it is not a part of a parcel"}
	case p.Of-1 > d.maxBytes/maxPart || len(o.body)+len(p.Data) > d.maxBytes:
		return receipt{Refused: fmt.Sprintf("it is longer than %d bytes", d.maxBytes)}
	case p.N < next:
		return receipt{}
	case p.N > next:
		return receipt{Refused: "a part before it is missing", Busy: true} // the sender retries from the first part
	}
	o.body = append(o.body, p.Data...)
	if !last {
		d.storePartial(from, o)
		return receipt{}
	}
	delete(d.open, from)
	var r receipt
	if err := d.take(from, o.body); err != nil {
		var busy *busyError
		r.Refused, r.Busy = format.Line(err.Error(), format.LineLimit), errors.As(err, &busy)
	}
	if r.Busy {
		return r
	}
	if len(d.done) >= maxDone {
		clear(d.done)
	}
	d.done[key] = r
	return r
}

// storePartial stores an incomplete parcel. If all together exceed the bound, it drops those
// whose last part is the oldest. The caller holds the lock.
func (d *parcelReceiver) storePartial(from string, o *partialParcel) {
	d.parts++
	o.lastPart = d.parts
	d.open[from] = o
	held := 0
	for _, o := range d.open {
		held += len(o.body)
	}
	for held > maxOpen*d.maxBytes {
		oldest := from
		for name, o := range d.open {
			if o.lastPart < d.open[oldest].lastPart {
				oldest = name
			}
		}
		held -= len(d.open[oldest].body)
		delete(d.open, oldest)
	}
}

// handleSafely calls handle and recovers its panic: the message fails, the process continues.
// The log gets a line, the peer a rejection with the keys of every kind of reply.
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
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)]) // without this function, the deferred one and gopanic
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") || !more {
			return fmt.Sprintf("it is a bug of tare: %s (%s:%d)", format.Line(fmt.Sprint(p), 200), filepath.Base(f.File), f.Line)
		}
	}
}

// sendReply replies to a message, if the sender expects a reply.
func sendReply(m *nats.Msg, answer any) {
	if text, err := json.Marshal(answer); err == nil && m.Reply != "" {
		_ = m.Respond(text) // the sender retries if the reply is lost
	}
}
