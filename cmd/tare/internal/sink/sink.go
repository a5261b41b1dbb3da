// Package sink sends events to destinations, each a [Sink]. The events come from a spool, the files in which
// the ingest service stores events. A [Service] has a [Forward] per sink, which sends batches until each event
// is accepted or rejected.
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

// Sink is a destination. It need not be safe for concurrent use.
type Sink interface {
	// Send sends a batch. After an error the outcome of each event is unknown. The caller later sends the
	// complete batch again, with the same name.
	//
	// [Refused] and [Later] are special errors; after any other the caller waits.
	Send(ctx context.Context, b Batch) (Result, error)

	// Promise returns the guarantee for events that Send has sent.
	Promise() Promise

	Close() error
}

// Event is an event with its number in the spool.
type Event struct {
	Number uint64
	Line   []byte // JSON on one line, without the line end
}

// Batch contains events in the order in which they were acknowledged.
type Batch struct {
	Spool  spool.ID
	Events []Event
}

// Name identifies the events: another batch has another name.
func (b Batch) Name() string {
	last := b.Events[len(b.Events)-1].Number
	return fmt.Sprintf("%s-%d-%d-%d", b.Spool, b.Events[0].Number, last+1, len(b.Events))
}

// Result is the outcome of a batch. Events that are in neither Dead nor Again are sent.
type Result struct {
	Dead  []Dead // events that the destination will never accept
	Again []int  // indices of events that the destination may accept later
	Why   string // destination's reason for Again, or ""
	Ails  bool   // each event of Again failed inside the destination, perhaps because of its content
}

// Dead is an event that is rejected permanently.
type Dead struct {
	Index  int
	Reason string // one line
	Sure   bool   // tare rejects it; otherwise it is dead only if the destination accepts another one
}

// Promise is the delivery guarantee of a sink.
type Promise struct {
	To    string // destination, without secrets
	Sent  string // meaning of sent, e.g. "answered 2xx by …"
	Once  string // by which the destination finds duplicates, e.g. "the event's id"; "" if it does not
	Order string // order of events at the destination; "" means the order of acknowledgement
}

// String returns the promise as one line.
func (p Promise) String() string {
	text := "sent on at least once to " + p.To + ", duplicates possible after a crash"
	if p.Once != "" {
		text = "sent on exactly once to " + p.To + ", which finds duplicates by " + p.Once
	}
	text += "; sent = " + p.Sent
	if p.Order != "" {
		text += "; order: " + p.Order
	}
	return text
}

// Refused is the error of a rejected batch, of which a part may be acceptable. A rejected event is dead only
// if the destination accepts others.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return r.Reason }

// Later is the error of a destination that requests a pause of length After.
type Later struct {
	Err   error
	After time.Duration
}

func (l *Later) Error() string { return l.Err.Error() }
func (l *Later) Unwrap() error { return l.Err }

// EventID returns the id of an event, with its quotes. The line must have the ingest service's format.
func EventID(line []byte) ([]byte, error) {
	const begin = `{"id":"`
	if len(line) > len(begin) && string(line[:len(begin)]) == begin {
		for i := len(begin); i < len(line); i++ {
			switch line[i] {
			case '\\': // skip the escaped character
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

// Traceparent returns the trace in an event's line, after the timestamp, or "".
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

// Traceparent returns the trace that all events share, or "".
func (b Batch) Traceparent() string {
	trace := Traceparent(b.Events[0].Line)
	for _, e := range b.Events[1:] {
		if trace == "" || Traceparent(e.Line) != trace {
			return ""
		}
	}
	return trace
}

// AppendFlat appends an event to b, with its metadata as fields. For example, {"id":"a","metadata":{"x":1}}
// becomes {"id":"a","x":1}. An event that does not end with metadata stays unchanged.
func AppendFlat(b, line []byte) []byte {
	const key = `,"metadata":{`
	at := strings.Index(string(line), key)
	endsWithMetadata := at >= 0 && len(line) >= at+len(key)+2 && string(line[len(line)-2:]) == "}}"
	if !endsWithMetadata {
		return append(b, line...)
	}
	b = append(b, line[:at]...)
	if fields := line[at+len(key) : len(line)-1]; len(fields) > 1 {
		b = append(b, ',')
		return append(b, fields...)
	}
	return append(b, '}')
}
