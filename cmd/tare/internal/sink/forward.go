package sink

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
)

// Limits bound a batch: it is sent when it has that number of events or bytes, or when its first
// event is older than Age.
type Limits struct {
	Events int
	Bytes  int
	Age    time.Duration
}

// maxPollFactor bounds the wait for events, in times of Poll, so that a service without events
// costs little.
const maxPollFactor = 10

// Backoff bounds the time between attempts. It doubles with each that fails, and the wait is
// somewhere between half of it and all.
type Backoff struct{ First, Last time.Duration }

// Forward sends the events of one reader on to one sink.
type Forward struct {
	Name    string
	Reader  *spool.Reader
	Readers *spool.Readers
	Sink    Sink
	Dead    *DeadLetters
	Limits  Limits
	Backoff Backoff
	Poll    time.Duration // wait before it reads the spool again; it doubles with each read, up to maxPollFactor times this
	Log     *slog.Logger
	Random  *rand.Rand
	Trust   bool // a rejected event is dead, also if the destination accepts no others

	events   []Event
	pause    time.Duration          // before the next read
	troubles map[string]*failureLog // by operation
	freed    time.Time
	taken    bool // the destination has accepted an event since Run began
	held     bool // the destination rejects all remaining events of the batch
}

// failureLog counts the failures of an operation.
type failureLog struct {
	since  time.Time
	logged time.Time // when it was last logged
	tries  int
}

// Run sends events until ctx ends, or, once drained is closed, until none remain. If ctx interrupts
// the sending of an event, the next Run sends it again.
func (f *Forward) Run(ctx context.Context, drained <-chan struct{}) error {
	var b spool.Batch
	f.held = f.Reader.Cursor().Held
	for {
		ended, err := f.collectBatch(ctx, &b, drained)
		if err != nil {
			return err
		}
		if b.Len() == 0 {
			if ended {
				return nil
			}
			continue
		}
		if err := f.Reader.Begin(&b); err != nil {
			f.logFailure("write the cursor", err)
		}
		dead, err := f.deliverBatch(ctx, &b)
		if err != nil {
			return err
		}
		if err := f.Reader.Done(&b, dead); err != nil {
			f.logFailure("write the cursor", err) // the events are sent; after a crash they are again
		}
		f.freeSpace(false)
		b.Reset()
	}
}

// collectBatch fills b. It returns true if nothing is left and nothing will come.
//
// It waits longer with each read. If the last batch was sent because of its age, events come
// slowly, and the wait stays long; if it was full, it is short again.
func (f *Forward) collectBatch(ctx context.Context, b *spool.Batch, drained <-chan struct{}) (ended bool, err error) {
	limits := f.Limits
	// A batch that may have been sent is sent again as it was, so that its name identifies the same
	// events.
	if c := f.Reader.Cursor(); c.Pending > c.Position {
		limits = Limits{Events: int(min(c.Pending-c.Position, math.MaxInt32)), Bytes: math.MaxInt}
	}
	var begun time.Time
	f.pause = max(f.pause, f.Poll)
	for ; ; f.pause = min(2*f.pause, maxPollFactor*f.Poll) {
		before := b.Len()
		select {
		case <-drained: // before the read: all events were there by then
			ended = true
		default:
		}
		if err := f.Reader.Take(b, limits.Events, limits.Bytes); err != nil {
			f.logFailure("read the spool", err)
		} else if b.Len() > 0 {
			f.logRecovery("read the spool")
		}
		switch {
		case b.Len() >= limits.Events, len(b.Lines) >= limits.Bytes, b.Closed:
			f.pause = 0
			return false, nil
		case b.Len() > 0 && begun.IsZero():
			begun = time.Now()
		}
		wait := f.pause
		if b.Len() > 0 {
			age := max(time.Since(begun), time.Since(b.Oldest)) // the clock may have been set back
			if wait = min(wait, limits.Age-age); wait <= 0 {
				f.pause = min(f.pause, limits.Age/2)
				return false, nil
			}
		}
		if ended && b.Len() == before {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-drained: // seen above
		case <-time.After(wait):
		}
		if b.Len() == 0 {
			f.freeSpace(true)
		}
	}
}

// unsentEvents returns the events of b that are still to be sent.
func (f *Forward) unsentEvents(b *spool.Batch) Batch {
	f.events = f.events[:0]
	lines := b.Lines
	position := f.Reader.Cursor().Position // parts of b may be done with
	for number := b.From; number < b.To; number++ {
		end := bytes.IndexByte(lines, '\n')
		if number >= position {
			f.events = append(f.events, Event{number, lines[:end]})
		}
		lines = lines[end+1:]
	}
	return Batch{b.ID, f.events}
}

// writeDead writes the dead events of a batch to their file until that succeeds. The destination
// has the others: they are not sent again meanwhile. Its error is ctx's.
func (f *Forward) writeDead(ctx context.Context, b Batch, dead []Dead) error {
	wait := f.Backoff.First
	for {
		err := f.Dead.Write(f.Name, b, dead)
		if err == nil {
			break
		}
		if err := f.backOff(ctx, err, &wait); err != nil {
			return err
		}
	}
	if len(dead) > 0 {
		f.Log.Warn("events rejected permanently", "sink", f.Name, "events", len(dead), "reason", dead[0].Reason, "file", f.Dead.path)
	}
	return nil
}

// backOff waits after an attempt that failed, and longer the next time. Its error is ctx's.
func (f *Forward) backOff(ctx context.Context, failed error, wait *time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.logFailure("send", failed)
	pause := *wait/2 + time.Duration(f.Random.Int64N(int64(*wait/2)+1))
	if later := (*Later)(nil); errors.As(failed, &later) {
		pause = max(pause, min(later.After, maxLater))
	}
	*wait = min(2**wait, f.Backoff.Last)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// maxLater bounds the wait that a destination can request.
const maxLater = 10 * time.Minute

// logFailure logs the first failure of an operation, then at most one every 30 s.
func (f *Forward) logFailure(what string, err error) {
	const often = 30 * time.Second
	now := time.Now()
	t := f.troubles[what]
	if t == nil {
		t = &failureLog{since: now}
		if f.troubles == nil {
			f.troubles = map[string]*failureLog{}
		}
		f.troubles[what] = t
	}
	if t.tries++; now.Sub(t.logged) >= often {
		t.logged = now
		f.Log.Error("events are not sent on", "sink", f.Name, "at", what, "cause", err, "attempts", t.tries)
	}
	if what == "send" {
		_ = f.Reader.Failed(f.held || !f.taken && f.Reader.Cursor().Sent == 0) // a count
	}
}

// logRecovery logs the next success of an operation that failed.
func (f *Forward) logRecovery(what string) {
	if t := f.troubles[what]; t != nil {
		f.Log.Info("it works again", "sink", f.Name, "at", what, "after", time.Since(t.since).Round(time.Millisecond), "attempts", t.tries)
		delete(f.troubles, what)
	}
}

// freeSpace releases space of the spool, at most once in 100 ms; in 1 s if idle.
func (f *Forward) freeSpace(idle bool) {
	often := 100 * time.Millisecond
	if idle {
		often = time.Second
	}
	if now := time.Now(); now.Sub(f.freed) >= often {
		f.freed = now
		if err := f.Readers.Free(f.Reader); err != nil {
			f.logFailure("free the spool", err)
		}
	}
}
