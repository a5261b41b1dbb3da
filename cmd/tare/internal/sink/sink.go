// Package sink sends events on: from a spool to far sides, each of which is a
// [Sink].
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

// Sink is a far side. One goroutine uses it.
type Sink interface {
	// Send sends a batch. After an error nothing is known, and all of it is sent
	// again later, under the same name. What the error should mean is said by
	// [Refused] and [Later]; anything else is a reason to wait.
	Send(ctx context.Context, b Batch) (Result, error)

	// Promise says what it means that Send has returned without an error.
	Promise() Promise

	Close() error
}

// Event is one, with its number in a spool.
type Event struct {
	Number uint64
	Line   []byte // JSON on one line, without the line end
}

// Batch is events in the order in which they were acknowledged.
type Batch struct {
	Spool  spool.ID
	Events []Event
}

// Name is the same whenever the same events are sent again, and that of no
// others.
func (b Batch) Name() string {
	last := b.Events[len(b.Events)-1].Number
	return fmt.Sprintf("%s-%d-%d-%d", b.Spool, b.Events[0].Number, last+1, len(b.Events))
}

// Result is what became of a batch. What it does not name is sent.
type Result struct {
	Dead  []Dead // events that the far side will never take
	Again []int  // indices of events that it may take later
	Why   string // of Again: what the far side said; empty: it said nothing
	Ails  bool   // of Again: each has an error of the far side's own, which its content may cause
}

// Dead is an event that is not taken.
type Dead struct {
	Index  int
	Reason string // one line
	Sure   bool   // it was found here: the far side was not asked
}

// Promise is what a sink keeps to.
type Promise struct {
	To    string // where events go, without secrets
	Sent  string // what it means that one is sent, e.g. "answered 2xx by …"
	Once  string // by what an event that is sent again is found to be the same; empty: it is there twice
	Order string // empty: that in which events were acknowledged
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

// Refused is the error of a far side that will not take a batch as it is: half
// of it may be taken. It is believed of an event if others are taken.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return r.Reason }

// Later is an error of a far side that has said when to come again.
type Later struct {
	Err   error
	After time.Duration
}

func (l *Later) Error() string { return l.Err.Error() }
func (l *Later) Unwrap() error { return l.Err }

// EventID is the id of an event as it is in its line: JSON, with the quotes.
// Lines are as the ingest service writes them; of others there is none.
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

// Traceparent is the trace of an event, which its line has after the timestamp. It
// is empty if there is none.
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

// Traceparent is the trace that all events of a batch belong to. It is empty if
// they belong to several, or one to none.
func (b Batch) Traceparent() string {
	trace := Traceparent(b.Events[0].Line)
	for _, e := range b.Events[1:] {
		if trace == "" || Traceparent(e.Line) != trace {
			return ""
		}
	}
	return trace
}

// Flat is an event with the fields of its metadata beside id and timestamp, as
// tables have them.
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
