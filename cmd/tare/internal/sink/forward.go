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

// This file sends the events of a spool to one destination, batch by batch. A spool is files in which the ingest
// service stores events. deliver.go sends one batch.

// Limits bound a batch. It is sent when it has so many events or bytes, or its first event is older than Age.
type Limits struct {
	Events int
	Bytes  int
	Age    time.Duration
}

// maxPollFactor is the longest wait for events, as a multiple of Poll. It keeps an idle service cheap.
const maxPollFactor = 10

// Backoff bounds the time between attempts. It doubles from First up to Last. Each wait is random, between
// half of the time and all of it.
type Backoff struct{ First, Last time.Duration }

// Forward sends the events of a spool to one destination. The Reader's cursor is the position of the first
// unsent event.
//
// Run collects a batch (collectBatch), sends it (deliverBatch) and advances the cursor.
type Forward struct {
	Name    string
	Reader  *spool.Reader
	Readers *spool.Readers
	Sink    Sink
	Dead    *DeadLetters
	Limits  Limits
	Backoff Backoff
	Poll    time.Duration // wait between reads; it doubles up to maxPollFactor times Poll
	Log     *slog.Logger
	Random  *rand.Rand
	Trust   bool // a rejected event is dead, even if the destination accepts no others

	events   []Event
	pause    time.Duration
	failures map[string]*failureLog // operations that fail now
	freed    time.Time
	accepted bool // an event was accepted since Run began
	held     bool // the destination rejects all of the batch
}

type failureLog struct {
	since  time.Time
	logged time.Time // time of the last log
	tries  int
}

// Run sends events until ctx ends. Once drained is closed, it also ends at the end of the spool.
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
			f.logFailure("write the cursor", err) // a crash repeats the events
		}
		f.freeSpace(100 * time.Millisecond)
		b.Reset()
	}
}

// collectBatch adds events to b until it is to be sent. ended means that there will be no more.
//
// The wait between reads grows. It is reset if a batch is full.
func (f *Forward) collectBatch(ctx context.Context, b *spool.Batch, drained <-chan struct{}) (ended bool, err error) {
	limits := f.batchLimits()
	var begun time.Time // time of the first event
	f.pause = max(f.pause, f.Poll)
	for ; ; f.pause = min(2*f.pause, maxPollFactor*f.Poll) {
		before := b.Len()
		select {
		case <-drained: // checked before the read, which then finds all events
			ended = true
		default:
		}
		f.readEvents(b, limits)
		isFull := b.Len() >= limits.Events || len(b.Lines) >= limits.Bytes || b.Closed
		if isFull {
			f.pause = 0
			return false, nil
		}
		wait := f.pause
		if b.Len() > 0 {
			if begun.IsZero() {
				begun = time.Now()
			}
			age := max(time.Since(begun), time.Since(b.Oldest)) // the clock may have been set back
			wait = min(wait, limits.Age-age)
			if wait <= 0 {
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
		case <-drained: // the next turn reads the rest
		case <-time.After(wait):
		}
		if b.Len() == 0 {
			f.freeSpace(time.Second) // the service is idle
		}
	}
}

// batchLimits returns the limits of the next batch. A batch that may have been sent before a crash is repeated.
// Its name identifies its events, so it must have the same ones.
func (f *Forward) batchLimits() Limits {
	c := f.Reader.Cursor()
	if c.Pending <= c.Position {
		return f.Limits
	}
	return Limits{Events: int(min(c.Pending-c.Position, math.MaxInt32)), Bytes: math.MaxInt}
}

func (f *Forward) readEvents(b *spool.Batch, limits Limits) {
	if err := f.Reader.Take(b, limits.Events, limits.Bytes); err != nil {
		f.logFailure("read the spool", err)
	} else if b.Len() > 0 {
		f.logRecovery("read the spool")
	}
}

func (f *Forward) unsentEvents(b *spool.Batch) Batch {
	f.events = f.events[:0]
	lines := b.Lines
	position := f.Reader.Cursor().Position // earlier parts of b may be done
	for number := b.From; number < b.To; number++ {
		end := bytes.IndexByte(lines, '\n')
		if number >= position {
			f.events = append(f.events, Event{number, lines[:end]})
		}
		lines = lines[end+1:]
	}
	return Batch{b.ID, f.events}
}

// writeDead writes the dead events of a batch to their file, and retries until that succeeds. It fails only if
// ctx ends.
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

// backOff logs the error of a failed attempt, waits, and increases wait. It fails only if ctx ends.
func (f *Forward) backOff(ctx context.Context, cause error, wait *time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.logFailure("send", cause)
	pause := *wait/2 + time.Duration(f.Random.Int64N(int64(*wait/2)+1))
	if later := (*Later)(nil); errors.As(cause, &later) {
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

// maxLater is the longest pause that a destination can request.
const maxLater = 10 * time.Minute

// logFailure logs the first failure, then at most one every 30 s.
func (f *Forward) logFailure(operation string, err error) {
	const interval = 30 * time.Second
	now := time.Now()
	l := f.failures[operation]
	if l == nil {
		l = &failureLog{since: now}
		if f.failures == nil {
			f.failures = map[string]*failureLog{}
		}
		f.failures[operation] = l
	}
	l.tries++
	if now.Sub(l.logged) >= interval {
		l.logged = now
		f.Log.Error("events are not sent on", "sink", f.Name, "at", operation, "cause", err, "attempts", l.tries)
	}
	if operation == "send" {
		neverAccepted := !f.accepted && f.Reader.Cursor().Sent == 0
		_ = f.Reader.Failed(f.held || neverAccepted) // an error loses only a count
	}
}

func (f *Forward) logRecovery(operation string) {
	if l := f.failures[operation]; l != nil {
		f.Log.Info("it works again", "sink", f.Name, "at", operation, "after", time.Since(l.since).Round(time.Millisecond), "attempts", l.tries)
		delete(f.failures, operation)
	}
}

// freeSpace removes sent events from the spool, but not within minInterval of the last time.
func (f *Forward) freeSpace(minInterval time.Duration) {
	if time.Since(f.freed) < minInterval {
		return
	}
	f.freed = time.Now()
	if err := f.Readers.Free(f.Reader); err != nil {
		f.logFailure("free the spool", err)
	}
}
