package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tarebench/tare/internal/format"
)

// maxPart is the most bytes of a parcel in one message: servers of NATS take a
// mebibyte unless they are told to take more.
const maxPart = 512 << 10

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

// desk takes parcels in. It holds a few at a time, and bytes of each up to a bound.
type desk struct {
	most int                                  // bytes of a parcel
	take func(from string, body []byte) error // once for each parcel

	mu   sync.Mutex
	open map[string][]byte
	done map[string]receipt
}

// Bounds of a desk.
const (
	maxOpen = 64   // parcels that are not whole
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
		d.open, d.done = map[string][]byte{}, map[string]receipt{}
	}
	key := from + " " + p.Parcel
	if r, known := d.done[key]; known {
		return r
	}
	body, begun := d.open[key]
	next := (len(body) + maxPart - 1) / maxPart
	last := p.N == p.Of-1
	switch {
	case p.N < 0 || p.Of < 1 || p.N >= p.Of || len(p.Data) > maxPart || !last && len(p.Data) != maxPart:
		return receipt{Refused: "it is not a part of a parcel"}
	case (p.Of-1)*maxPart > d.most || len(body)+len(p.Data) > d.most:
		delete(d.open, key)
		return receipt{Refused: fmt.Sprintf("it is longer than %d bytes", d.most)}
	case p.N < next:
		return receipt{}
	case p.N > next:
		return receipt{Refused: "a part before it is missing", Busy: true} // sent from the first on it is taken in
	case !begun && len(d.open) >= maxOpen:
		return receipt{Refused: "too many parcels are under way"}
	}
	body = append(body, p.Data...)
	if !last {
		d.open[key] = body
		return receipt{}
	}
	delete(d.open, key)
	var r receipt
	if err := d.take(from, body); err != nil {
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

// reply answers a message.
func reply(m *nats.Msg, answer any) {
	if text, err := json.Marshal(answer); err == nil && m.Reply != "" {
		_ = m.Respond(text) // asked again where it is lost
	}
}
