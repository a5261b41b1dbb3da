// Package sink sends events to destinations, each of which is a [Sink]. The events come from a spool, the
// files in which the ingest service stores events before it acknowledges them. A [Service] has a [Forward]
// for each sink, which sends batches until the destination has accepted or rejected each event.
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
	// Send sends a batch. If it returns an error, the outcome of each event is unknown, and the
	// caller sends the complete batch again later, with the same name. [Refused] and [Later] have
	// special meanings; after any other error the caller waits.
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

// Name returns a name of the batch. Batches have the same name only if they contain the same events.
func (b Batch) Name() string {
	last := b.Events[len(b.Events)-1].Number
	return fmt.Sprintf("%s-%d-%d-%d", b.Spool, b.Events[0].Number, last+1, len(b.Events))
}

// Result is the outcome of a batch. Events that are in neither Dead nor Again are sent.
type Result struct {
	Dead  []Dead // events that the destination will never accept
	Again []int  // indices of events that the destination may accept later
	Why   string // reason of the destination for Again; "" if it gives none
	Ails  bool   // each event of Again failed with an error inside the destination, which the content of the event may cause
}

// Dead is an event that is rejected permanently.
type Dead struct {
	Index  int
	Reason string // one line
	Sure   bool   // tare itself rejects the event; otherwise the event is dead only if the destination accepts another one
}

// Promise is the delivery guarantee of a sink.
type Promise struct {
	To    string // destination, without secrets
	Sent  string // meaning of sent, e.g. "answered 2xx by …"
	Once  string // property by which the destination recognises an event that is sent again; "" if it stores duplicates
	Order string // order of events at the destination; "" means the order in which they were acknowledged
}

// String returns the promise as one line.
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

// Refused is the error of a destination that rejects a complete batch, although it may accept a part
// of it. A rejected event is dead only if the destination accepts others.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return r.Reason }

// Later is the error of a destination that requests a pause of length After.
type Later struct {
	Err   error
	After time.Duration
}

func (l *Later) Error() string { return l.Err.Error() }
func (l *Later) Unwrap() error { return l.Err }

// EventID returns the id of an event as a JSON string, with the quotes. It only finds the id in a line
// that has the format of the ingest service.
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

// Traceparent returns the trace of an event, which follows the timestamp in its line, or "" if
// the event has no trace.
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

// Traceparent returns the trace of the batch, or "" if its events do not all have the same trace.
func (b Batch) Traceparent() string {
	trace := Traceparent(b.Events[0].Line)
	for _, e := range b.Events[1:] {
		if trace == "" || Traceparent(e.Line) != trace {
			return ""
		}
	}
	return trace
}

// AppendFlat appends an event to b, with the fields of its metadata next to id and timestamp, as in a
// row of a table: {"id":"a","metadata":{"x":1}} becomes {"id":"a","x":1}. It appends an event that does
// not end with its metadata unchanged.
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
