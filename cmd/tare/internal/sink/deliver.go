package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
)

// This file decides the fate of each event of a batch. A destination that rejects an event may itself be wrong:
// a proxy that responds with 400 to plain HTTP, for example. So there are these terms:
//
// 	accepted  the destination has stored the event
// 	rejected  the destination refuses the event, perhaps wrongly
// 	proven    rejected, and the destination has accepted another event of the batch
// 	dead      proven, or ailing for too long: in the dead letters and never sent again
// 	ailing    failed inside the destination, as with status 500, while it accepts others
// 	held      waits and is tried again, because all remaining events are rejected
//
// To find the rejected events, a rejected batch is sent again in halves, down to lone events.

const (
	// firstTries limits rejected lone events in a row, in the first pass over a batch. It doubles with each
	// pass. So a destination that rejects everything gets few requests. A batch that begins with many bad
	// events is delivered at last.
	firstTries = 16

	// An ailing event is dead after this number of attempts and this time.
	ailingTries = 10
	ailingTime  = 15 * time.Minute
)

var errHeld = errors.New("the destination rejects every event; an event is given up only after the destination has accepted another")

type pass struct {
	batch    *spool.Batch
	maxInRow int  // rejected lone events in a row
	accepted bool // the destination has accepted an event of the batch

	rejected      []rejection // events that are not in the dead letters yet
	rejectedInRow int
	uncountedDead int // dead letters that the cursor does not count yet
}

type rejection struct {
	event  Event
	reason string
}

// isProven reports whether the rejected events of a complete pass are dead. trust is the user's option
// hold=off: a rejection needs no proof.
func (p *pass) isProven(trust bool) bool {
	hasUnproven := p.rejectedInRow > 0 && !p.accepted
	return trust || !hasUnproven
}

// deliverBatch sends a batch until the destination has all of its events, except dead ones. It returns the
// number of dead events that the cursor does not count yet. It fails only if ctx ends.
func (f *Forward) deliverBatch(ctx context.Context, b *spool.Batch) (dead int, err error) {
	wait := f.Backoff.First
	const maxTries = 1 << 30 // prevents an overflow
	for maxInRow := firstTries; ; maxInRow = min(2*maxInRow, maxTries) {
		p := &pass{batch: b, maxInRow: maxInRow}
		rest := f.unsentEvents(b)
		err := f.sendPart(ctx, p, rest)
		if err != nil && !errors.Is(err, errHeld) {
			return 0, err
		}
		if err == nil && p.isProven(f.Trust) {
			err = f.writeRejected(ctx, p)
			return p.uncountedDead, err
		}
		last := p.rejected[len(p.rejected)-1]
		f.markHeld(len(rest.Events))
		if err := f.backOff(ctx, fmt.Errorf("%w: %s", errHeld, last.reason), &wait); err != nil {
			return 0, err
		}
		f.extendBatch(b)
	}
}

// markHeld records that all events of a batch are rejected. It does not do so for a lone event after others
// were sent. That event may itself be bad; only the next event can show that.
func (f *Forward) markHeld(events int) {
	if events > 1 || f.Reader.Cursor().Sent == 0 {
		f.held = true
	}
}

// extendBatch adds events to a delayed batch. If the destination accepts one of them, the rejected ones are
// dead.
func (f *Forward) extendBatch(b *spool.Batch) {
	before := b.Len()
	if err := f.Reader.Take(b, f.Limits.Events, f.Limits.Bytes); err != nil {
		f.logFailure("read the spool", err)
	}
	if b.Len() > before {
		if err := f.Reader.Begin(b); err != nil {
			f.logFailure("write the cursor", err)
		}
	}
}

// sendPart sends a part until only rejected events remain. It fails if ctx ends, or with errHeld.
func (f *Forward) sendPart(ctx context.Context, p *pass, part Batch) error {
	wait := f.Backoff.First
	var ailing ailingAttempts
	partAccepted := false // any event of part was accepted
	unsent := part
	for {
		result, err := f.Sink.Send(ctx, unsent)
		var rejected *Refused
		if errors.As(err, &rejected) {
			if len(unsent.Events) > 1 {
				return f.sendHalves(ctx, p, unsent)
			}
			result, err = Result{Dead: []Dead{{Index: 0, Reason: rejected.Reason}}}, nil
		}
		if err == nil {
			if f.recordAccepted(p, unsent, result) {
				partAccepted = true
			}
			if err := f.recordRejected(ctx, p, unsent, result.Dead, partAccepted); err != nil {
				return err
			}
			if len(result.Again) == 0 {
				return f.advanceCursor(ctx, p, part)
			}
			unsent = selectEvents(unsent, result.Again)
			if dead := ailing.giveUp(unsent, result, p.accepted); len(dead) > 0 {
				const isProven = true // giveUp needs an accepted event
				if err := f.recordRejected(ctx, p, unsent, dead, isProven); err != nil {
					return err
				}
				return f.advanceCursor(ctx, p, part)
			}
			err = fmt.Errorf("the destination has not taken %d of %d events: %s", len(unsent.Events), len(part.Events), cmp.Or(result.Why, "it may take them later"))
		}
		if err := f.backOff(ctx, err, &wait); err != nil {
			return err
		}
	}
}

func (f *Forward) recordAccepted(p *pass, sent Batch, result Result) bool {
	accepted := len(sent.Events) - len(result.Dead) - len(result.Again)
	if accepted <= 0 {
		return false
	}
	p.accepted, f.accepted, f.held = true, true, false
	f.logRecovery("send")
	return true
}

// ailingAttempts counts attempts in a row with only ailing failures.
type ailingAttempts struct {
	count int
	since time.Time // the first; zero before it
}

// giveUp records an attempt that left events unsent. They are dead after ailingTries and ailingTime, if others
// of the batch were accepted.
func (a *ailingAttempts) giveUp(unsent Batch, result Result, accepted bool) (dead []Dead) {
	if !result.Ails || !accepted {
		*a = ailingAttempts{}
		return nil
	}
	a.count++
	if a.since.IsZero() {
		a.since = time.Now()
	}
	elapsed := time.Since(a.since)
	if a.count < ailingTries || elapsed < ailingTime {
		return nil
	}
	reason := fmt.Sprintf("not taken in %d attempts and %v, while others were: %s", a.count, elapsed.Round(time.Second), result.Why)
	for i := range unsent.Events {
		dead = append(dead, Dead{Index: i, Sure: true, Reason: reason})
	}
	return dead
}

// recordRejected records the rejected events of a part. It writes them to the dead letters if an event of the
// batch was accepted. partAccepted means that one of this part was. It fails if ctx ends, or with errHeld after
// too many rejections in a row.
func (f *Forward) recordRejected(ctx context.Context, p *pass, part Batch, dead []Dead, partAccepted bool) error {
	for _, d := range dead {
		p.rejected = append(p.rejected, rejection{event: part.Events[d.Index], reason: d.Reason})
		if !d.Sure { // the destination has rejected it, not tare itself
			p.rejectedInRow++
		}
	}
	if partAccepted {
		p.rejectedInRow = 0
	}
	if p.rejectedInRow >= p.maxInRow && !f.Trust {
		return errHeld
	}
	if p.accepted {
		return f.writeRejected(ctx, p)
	}
	return nil
}

// advanceCursor records a part as done, after the first accepted event. Before it, earlier parts may be sent
// again. It fails only if ctx ends.
func (f *Forward) advanceCursor(ctx context.Context, p *pass, part Batch) error {
	if !p.accepted {
		return nil
	}
	if err := f.writeRejected(ctx, p); err != nil {
		return err
	}
	end := part.Events[len(part.Events)-1].Number + 1
	if end == p.batch.To {
		return nil // Run records the complete batch
	}
	if err := f.Reader.Part(p.batch, end, p.uncountedDead); err != nil {
		f.logFailure("write the cursor", err) // a crash repeats the part
	}
	p.uncountedDead = 0
	return nil
}

// writeRejected writes the rejected events to the dead letters. It fails only if ctx ends.
func (f *Forward) writeRejected(ctx context.Context, p *pass) error {
	if len(p.rejected) == 0 {
		return nil
	}
	b := Batch{Spool: p.batch.ID}
	var dead []Dead
	for i, r := range p.rejected {
		b.Events = append(b.Events, r.event)
		dead = append(dead, Dead{Index: i, Reason: r.reason})
	}
	if err := f.writeDead(ctx, b, dead); err != nil {
		return err
	}
	p.uncountedDead += len(p.rejected)
	p.rejected = nil
	return nil
}

func (f *Forward) sendHalves(ctx context.Context, p *pass, b Batch) error {
	half := len(b.Events) / 2
	for _, events := range [][]Event{b.Events[:half], b.Events[half:]} {
		if err := f.sendPart(ctx, p, Batch{b.Spool, events}); err != nil {
			return err
		}
	}
	return nil
}

func selectEvents(b Batch, indices []int) Batch {
	var list []Event
	for _, i := range indices {
		list = append(list, b.Events[i])
	}
	return Batch{b.Spool, list}
}
