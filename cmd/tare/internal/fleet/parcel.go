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

// maxMessage is the most bytes of a message: what servers of NATS take unless they are
// set to take more.
const maxMessage = 1 << 20

// maxPart is the most bytes of a parcel in one message, which has them in base64.
const maxPart = maxMessage / 2

// part is a piece of a parcel.
type part struct {
	Parcel string `json:"parcel"`
	N      int    `json:"n"`
	Of     int    `json:"of"`
	Data   []byte `json:"data"`
}

// receipt says that a part was taken in, or why not.
type receipt struct {
	Refused string `json:"refused,omitempty"`
	Busy    bool   `json:"busy,omitempty"` // it may be taken in later
}

// busyError says what an agent does instead.
type busyError struct{ doing string }

// Error is one line.
func (e *busyError) Error() string { return "busy: " + e.doing }

// RefusedError is what the other side says against something it was sent.
type RefusedError struct{ Why string }

// Error is one line.
func (e *RefusedError) Error() string { return "refused: " + e.Why }

// send sends a parcel and returns when the other side has taken it in. What is
// not answered is sent again until ctx ends.
func send(ctx context.Context, nc *nats.Conn, t times, subject, parcel string, body []byte) error {
	of := max(1, (len(body)+maxPart-1)/maxPart)
	for n := range of {
		data := body[n*maxPart : min(len(body), (n+1)*maxPart)]
		var r receipt
		if err := ask(ctx, nc, t, subject, part{parcel, n, of, data}, &r); err != nil {
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

// ask sends a question until it is answered, or until ctx ends.
func ask(ctx context.Context, nc *nats.Conn, t times, subject string, question, answer any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	for {
		one, cancel := context.WithTimeout(ctx, t.ask)
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
		case <-time.After(t.again):
		}
	}
}

// desk takes parcels in. It holds one of each sender, as each sends one after the other,
// and bytes up to a bound.
type desk struct {
	most int                                  // bytes of a parcel
	take func(from string, body []byte) error // once for each parcel

	mu    sync.Mutex
	open  map[string]*opened // by sender
	parts int                // that were held
	done  map[string]receipt
}

// opened is a parcel that is not whole.
type opened struct {
	parcel string
	body   []byte
	at     int // the number of its last part
}

// Bounds of a desk.
const (
	maxOpen = 4    // longest parcels that those which are not whole may have the bytes of
	maxDone = 4096 // receipts that are remembered
)

// part takes one part in.
func (d *desk) part(from string, text []byte) receipt {
	var p part
	if err := json.Unmarshal(text, &p); err != nil {
		return receipt{Refused: "it is not a part of a parcel"}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open, d.done = map[string]*opened{}, map[string]receipt{}
	}
	key := from + " " + p.Parcel
	if r, known := d.done[key]; known {
		return r
	}
	o := d.open[from]
	if o == nil || o.parcel != p.Parcel {
		o = &opened{parcel: p.Parcel}
	}
	next := (len(o.body) + maxPart - 1) / maxPart
	last := p.N == p.Of-1
	switch {
	case len(p.Parcel) > maxID, p.N < 0 || p.Of < 1 || p.N >= p.Of || len(p.Data) > maxPart || !last && len(p.Data) != maxPart:
		return receipt{Refused: "it is not a part of a parcel"}
	case p.Of-1 > d.most/maxPart || len(o.body)+len(p.Data) > d.most:
		return receipt{Refused: fmt.Sprintf("it is longer than %d bytes", d.most)}
	case p.N < next:
		return receipt{}
	case p.N > next:
		return receipt{Refused: "a part before it is missing", Busy: true} // sent from the first on it is taken in
	}
	o.body = append(o.body, p.Data...)
	if !last {
		d.hold(from, o)
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

// hold keeps what there is of a parcel. Where all are too long together, those whose
// last part is the oldest are dropped. The caller holds the lock.
func (d *desk) hold(from string, o *opened) {
	d.parts++
	o.at = d.parts
	d.open[from] = o
	held := 0
	for _, o := range d.open {
		held += len(o.body)
	}
	for held > maxOpen*d.most {
		oldest := from
		for name, o := range d.open {
			if o.at < d.open[oldest].at {
				oldest = name
			}
		}
		held -= len(d.open[oldest].body)
		delete(d.open, oldest)
	}
}

// survive handles a message of a peer so that a panic ends the message, and not the
// process. log gets a line, and the peer a refusal in the words of every reply.
func survive(log func(string), m *nats.Msg, handle func()) {
	defer func() {
		if p := recover(); p != nil {
			why := panicked(p)
			log(fmt.Sprintf("a message on %s failed: %s", format.Line(m.Subject, 200), why))
			reply(m, map[string]string{"refused": why, "gone": why})
		}
	}()
	handle()
}

// panicked describes what was recovered, and where in the source that was.
func panicked(p any) string {
	pcs := make([]uintptr, 20)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)]) // without this function, the deferred one and gopanic
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") || !more {
			return fmt.Sprintf("it is a bug of tare: %s (%s:%d)", format.Line(fmt.Sprint(p), 200), filepath.Base(f.File), f.Line)
		}
	}
}

// reply answers a message.
func reply(m *nats.Msg, answer any) {
	if text, err := json.Marshal(answer); err == nil && m.Reply != "" {
		_ = m.Respond(text) // asked again where it is lost
	}
}
