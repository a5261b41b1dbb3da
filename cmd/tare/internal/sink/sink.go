// Package sink sends events from a spool to destinations, each of which is a [Sink].
package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
)

// Sink is a destination. One goroutine uses it.
type Sink interface {
	// Send sends a batch. After an error nothing is known, and all of it is sent again later, under
	// the same name. [Refused] and [Later] have special meanings; any other error is a reason to
	// wait.
	Send(ctx context.Context, b Batch) (Result, error)

	// Promise returns what it means that Send has returned without an error.
	Promise() Promise

	Close() error
}

// Event is an event with its number in a spool.
type Event struct {
	Number uint64
	Line   []byte // JSON on one line, without the line end
}

// Batch contains events in the order in which they were acknowledged.
type Batch struct {
	Spool  spool.ID
	Events []Event
}

// Name returns the same name whenever the same events are sent again, and another one for any
// others.
func (b Batch) Name() string {
	last := b.Events[len(b.Events)-1].Number
	return fmt.Sprintf("%s-%d-%d-%d", b.Spool, b.Events[0].Number, last+1, len(b.Events))
}

// Result is the outcome of a batch. Events that it does not name are sent.
type Result struct {
	Dead  []Dead // events that the destination will never accept
	Again []int  // indices of events that it may accept later
	Why   string // of Again: the destination's reason; "" if none
	Ails  bool   // of Again: each has an error of the destination's own, which its content may cause
}

// Dead is an event that is rejected.
type Dead struct {
	Index  int
	Reason string // one line
	Sure   bool   // tare itself found it, without the destination
}

// Promise is the delivery guarantee of a sink.
type Promise struct {
	To    string // where events go, without secrets
	Sent  string // what it means that one is sent, e.g. "answered 2xx by …"
	Once  string // property by which the destination recognises an event that is sent again; "" if it stores duplicates
	Order string // "" means the order in which events were acknowledged
}

// String is one line.
func (p Promise) String() string {
	text := "sent on at least once to " + p.To + ", duplicates possible after a crash"
	if p.Once != "" {
		text = "sent on exactly once to " + p.To + ", as long as it knows " + p.Once + " again"
	}
	text += "; sent = " + p.Sent
	if p.Order != "" {
		text += "; order: " + p.Order
	}
	return text
}

// Refused is the error of a destination that rejects a complete batch: it may accept half of it. It
// is believed of an event if others are accepted.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return r.Reason }

// Later is an error of a destination that requests a wait.
type Later struct {
	Err   error
	After time.Duration
}

func (l *Later) Error() string { return l.Err.Error() }
func (l *Later) Unwrap() error { return l.Err }

// EventID returns the id of an event as it is in its line: JSON, with the quotes. Lines are as the
// ingest service writes them; in others it finds none.
func EventID(line []byte) ([]byte, error) {
	const begin = `{"id":"`
	if len(line) > len(begin) && string(line[:len(begin)]) == begin {
		for i := len(begin); i < len(line); i++ {
			switch line[i] {
			case '\\':
				i++
			case '"':
				return line[len(begin)-1 : i+1], nil
			}
		}
	}
	return nil, errors.New("the event has no id")
}

// TraceHeader is the header that names the trace of a request or a message.
const TraceHeader = "traceparent"

// Traceparent returns the trace of an event, which its line has after the timestamp; "" if there is
// none.
func Traceparent(line []byte) string {
	id, err := EventID(line)
	if err != nil {
		return ""
	}
	rest, ok := bytes.CutPrefix(line[len(`{"id":`)+len(id):], []byte(`,"timestamp":"`))
	if !ok {
		return ""
	}
	_, rest, _ = bytes.Cut(rest, []byte(`"`))
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"traceparent":"`)); !ok {
		return ""
	}
	trace, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(trace)
}

// Traceparent returns the trace of all events of a batch; "" if they belong to several, or one to
// none.
func (b Batch) Traceparent() string {
	trace := Traceparent(b.Events[0].Line)
	for _, e := range b.Events[1:] {
		if trace == "" || Traceparent(e.Line) != trace {
			return ""
		}
	}
	return trace
}

// Flat appends an event with the fields of its metadata at the level of id and timestamp, as tables
// have them.
func Flat(b, line []byte) []byte {
	const key = `,"metadata":{`
	at := strings.Index(string(line), key)
	if at < 0 || len(line) < at+len(key)+2 || string(line[len(line)-2:]) != "}}" {
		return append(b, line...)
	}
	b = append(b, line[:at]...)
	if fields := line[at+len(key) : len(line)-1]; len(fields) > 1 {
		b = append(b, ',')
		return append(b, fields...)
	}
	return append(b, '}')
}
