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

// Limits bound a batch: it is sent when it has so many events or bytes, or its
// first event came so long ago.
type Limits struct {
	Events int
	Bytes  int
	Age    time.Duration
}

// slowest is how many times Poll the wait for events becomes, so that a service
// without events costs little.
const slowest = 10

// Backoff bounds the time between attempts. It doubles with each that fails, and
// the wait is somewhere between half of it and all.
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
	Poll    time.Duration // how long it waits before it looks for events again; the wait doubles with each look, up to slowest times this
	Log     *slog.Logger
	Random  *rand.Rand
	Trust   bool // an event that is refused is dead, also if the far side takes no others

	events   []Event
	pause    time.Duration       // before the next look
	troubles map[string]*trouble // by what fails
	freed    time.Time
	taken    bool // the far side has taken an event since Run began
	held     bool // the far side refuses all that is left of the batch
}

// trouble is something that fails again and again.
type trouble struct {
	since time.Time
	said  time.Time // when it was last logged
	tries int
}

// Run sends events until ctx ends, or, once drained is closed, until none are
// left. An event whose sending ctx cuts short is sent again by the next Run.
func (f *Forward) Run(ctx context.Context, drained <-chan struct{}) error {
	var b spool.Batch
	f.held = f.Reader.Cursor().Held
	for {
		ended, err := f.collect(ctx, &b, drained)
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
			f.failed("write the cursor", err)
		}
		dead, err := f.deliver(ctx, &b)
		if err != nil {
			return err
		}
		if err := f.Reader.Done(&b, dead); err != nil {
			f.failed("write the cursor", err) // what is sent is sent; after a crash it is again
		}
		f.free(false)
		b.Reset()
	}
}

// collect fills b. It returns true where nothing is left and nothing will come.
//
// It waits longer with each look. Where the last batch was sent because of its age,
// events come slowly, and the wait stays long; where it was full, it is short again.
func (f *Forward) collect(ctx context.Context, b *spool.Batch, drained <-chan struct{}) (ended bool, err error) {
	limits := f.Limits
	// A batch that may have been sent is sent again as it was, so that its name
	// says the same events.
	if c := f.Reader.Cursor(); c.Pending > c.Position {
		limits = Limits{Events: int(min(c.Pending-c.Position, math.MaxInt32)), Bytes: math.MaxInt}
	}
	var begun time.Time
	f.pause = max(f.pause, f.Poll)
	for ; ; f.pause = min(2*f.pause, slowest*f.Poll) {
		before := b.Len()
		select {
		case <-drained: // before it is looked: whatever there is was there by then
			ended = true
		default:
		}
		if err := f.Reader.Take(b, limits.Events, limits.Bytes); err != nil {
			f.failed("read the spool", err)
		} else if b.Len() > 0 {
			f.worked("read the spool")
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
			f.free(true)
		}
	}
}

// split returns the events of b that are still to be sent.
func (f *Forward) split(b *spool.Batch) Batch {
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

// writeDead writes the dead events of a batch to their file until it takes them. The
// far side has the others: they are not sent again meanwhile. Its error is ctx's.
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

// backOff waits after an attempt that failed, and longer the next time. Its error is
// ctx's.
func (f *Forward) backOff(ctx context.Context, failed error, wait *time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.failed("send", failed)
	pause := *wait/2 + time.Duration(f.Random.Int64N(int64(*wait/2)+1))
	if later := (*Later)(nil); errors.As(failed, &later) {
		pause = max(pause, min(later.After, longest))
	}
	*wait = min(2**wait, f.Backoff.Last)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// longest is how long a far side can ask to be left alone.
const longest = 10 * time.Minute

// failed logs what fails when it begins to, and then now and again.
func (f *Forward) failed(what string, err error) {
	const often = 30 * time.Second
	now := time.Now()
	t := f.troubles[what]
	if t == nil {
		t = &trouble{since: now}
		if f.troubles == nil {
			f.troubles = map[string]*trouble{}
		}
		f.troubles[what] = t
	}
	if t.tries++; now.Sub(t.said) >= often {
		t.said = now
		f.Log.Error("events are not sent on", "sink", f.Name, "at", what, "cause", err, "attempts", t.tries)
	}
	if what == "send" {
		_ = f.Reader.Failed(f.held || !f.taken && f.Reader.Cursor().Sent == 0) // a count
	}
}

// worked logs that what failed does so no more.
func (f *Forward) worked(what string) {
	if t := f.troubles[what]; t != nil {
		f.Log.Info("it works again", "sink", f.Name, "at", what, "after", time.Since(t.since).Round(time.Millisecond), "attempts", t.tries)
		delete(f.troubles, what)
	}
}

// free gives space back, not with each batch.
func (f *Forward) free(idle bool) {
	often := 100 * time.Millisecond
	if idle {
		often = time.Second
	}
	if now := time.Now(); now.Sub(f.freed) >= often {
		f.freed = now
		if err := f.Readers.Free(f.Reader); err != nil {
			f.failed("free the spool", err)
		}
	}
}
