package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
)

// A destination that rejects an event may also be the wrong one: a proxy that responds with 400 to
// plain HTTP on a port of TLS, an API of another version. A rejected event is dead only if the
// destination accepts other events of the same batch. Otherwise the batch is held back and tried
// again.

const (
	// firstTries bounds the lone events in a row that may be rejected in the first pass over a batch.
	// The bound doubles with each pass, so that a destination that rejects everything costs a few
	// requests, and poison at the start is passed at last.
	firstTries = 16

	// An event that the destination fails to accept by an error of its own, while it accepts others
	// of the batch, is dead after this number of attempts and this time.
	ailingTries = 10
	ailingTime  = 15 * time.Minute
)

// errHeld means that the destination rejects all remaining events of a batch.
var errHeld = errors.New("the destination refuses every event; none is given up before it takes one")

// pass is one attempt to send the events of a batch in their order.
type pass struct {
	batch *spool.Batch
	tries int  // lone events in a row that may be rejected
	taken bool // the destination has accepted an event

	refused []rejection // since it has accepted the last one
	row     int         // of events that the destination itself rejected
	dead    int         // events in the dead letters that the cursor does not count yet
}

// rejection is an event that the destination claims it will never accept.
type rejection struct {
	event  Event
	reason string
}

// deliverBatch sends a batch until the destination has it, except the dead events, and returns how
// many of these the cursor does not count yet. Its error is ctx's.
func (f *Forward) deliverBatch(ctx context.Context, b *spool.Batch) (dead int, err error) {
	wait := f.Backoff.First
	for tries := firstTries; ; tries = min(2*tries, 1<<30) {
		p := &pass{batch: b, tries: tries}
		rest := f.unsentEvents(b)
		err := f.sendPart(ctx, p, rest)
		if err == nil && (p.taken || p.row == 0 || f.Trust) {
			err = f.writeRejected(ctx, p)
			return p.dead, err
		}
		if err != nil && !errors.Is(err, errHeld) {
			return 0, err
		}
		last := p.refused[len(p.refused)-1]
		f.markHeld(len(rest.Events))
		if err := f.backOff(ctx, fmt.Errorf("%w: %s", errHeld, last.reason), &wait); err != nil {
			return 0, err
		}
		f.extendBatch(b)
	}
}

// markHeld records that the destination accepts nothing of a batch. A lone event may be poison: the
// next one shows whether it is, and must be let in for that.
func (f *Forward) markHeld(events int) {
	if events > 1 || f.Reader.Cursor().Sent == 0 {
		f.held = true
	}
}

// extendBatch adds events to a batch that is held back, as far as its limits allow: if they are
// accepted, the rejected ones are dead.
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

// sendPart sends a part of a batch until the destination has it, except rejected events. Its error
// is ctx's, or errHeld.
func (f *Forward) sendPart(ctx context.Context, p *pass, part Batch) error {
	wait := f.Backoff.First
	var ailing time.Time // start of the attempts that are needed because of ailing events
	tries, took := 0, false
	for remaining := part; ; {
		result, err := f.Sink.Send(ctx, part)
		var refused *Refused
		if errors.As(err, &refused) {
			if len(part.Events) > 1 {
				return f.sendHalves(ctx, p, part)
			}
			result, err = Result{Dead: []Dead{{Index: 0, Reason: refused.Reason}}}, nil
		}
		if err == nil {
			if len(result.Dead)+len(result.Again) < len(part.Events) {
				took, p.taken, f.taken, f.held = true, true, true, false
				f.logRecovery("send")
			}
			if err := f.recordRejected(ctx, p, part, result.Dead, took); err != nil {
				return err
			}
			if len(result.Again) == 0 {
				return f.advanceCursor(ctx, p, remaining)
			}
			part = selectEvents(part, result.Again)
			err = fmt.Errorf("the destination has not taken %d of %d events: %s", len(part.Events), len(remaining.Events), cmp.Or(result.Why, "it may take them later"))
			switch tries++; {
			case !result.Ails || !p.taken:
				ailing, tries = time.Time{}, 0
			case ailing.IsZero():
				ailing = time.Now()
			case tries >= ailingTries && time.Since(ailing) >= ailingTime:
				var dead []Dead
				for i := range part.Events {
					dead = append(dead, Dead{Index: i, Sure: true, Reason: fmt.Sprintf("not taken in %d attempts and %v, while others were: %s", tries, time.Since(ailing).Round(time.Second), result.Why)})
				}
				if err := f.recordRejected(ctx, p, part, dead, true); err != nil {
					return err
				}
				return f.advanceCursor(ctx, p, remaining)
			}
		}
		if err := f.backOff(ctx, err, &wait); err != nil {
			return err
		}
	}
}

// recordRejected records the events of a part that are not accepted. They are dead if the
// destination has accepted others; took means that it has accepted some of this part. Its error is
// ctx's, or errHeld if too many in a row are rejected.
func (f *Forward) recordRejected(ctx context.Context, p *pass, part Batch, dead []Dead, took bool) error {
	for _, one := range dead {
		p.refused = append(p.refused, rejection{part.Events[one.Index], one.Reason})
		if !one.Sure {
			p.row++
		}
	}
	if took {
		p.row = 0
	}
	if p.row >= p.tries && !f.Trust {
		return errHeld
	}
	if p.taken {
		return f.writeRejected(ctx, p)
	}
	return nil
}

// advanceCursor records that a part of a batch is done, if all before it is.
func (f *Forward) advanceCursor(ctx context.Context, p *pass, part Batch) error {
	if !p.taken {
		return nil
	}
	if err := f.writeRejected(ctx, p); err != nil {
		return err
	}
	to := part.Events[len(part.Events)-1].Number + 1
	if to == p.batch.To {
		return nil // Done records it
	}
	if err := f.Reader.Part(p.batch, to, p.dead); err != nil {
		f.logFailure("write the cursor", err) // after a crash it is sent again
	}
	p.dead = 0
	return nil
}

// writeRejected writes the rejected events to the dead letters. Its error is ctx's.
func (f *Forward) writeRejected(ctx context.Context, p *pass) error {
	if len(p.refused) == 0 {
		return nil
	}
	b := Batch{Spool: p.batch.ID}
	var dead []Dead
	for i, r := range p.refused {
		b.Events = append(b.Events, r.event)
		dead = append(dead, Dead{Index: i, Reason: r.reason})
	}
	if err := f.writeDead(ctx, b, dead); err != nil {
		return err
	}
	p.dead += len(p.refused)
	p.refused = nil
	return nil
}

// sendHalves sends a rejected batch in two parts.
func (f *Forward) sendHalves(ctx context.Context, p *pass, b Batch) error {
	half := len(b.Events) / 2
	for _, part := range []Batch{{b.Spool, b.Events[:half]}, {b.Spool, b.Events[half:]}} {
		if err := f.sendPart(ctx, p, part); err != nil {
			return err
		}
	}
	return nil
}

// selectEvents returns the events of a batch with these indices.
func selectEvents(b Batch, indices []int) Batch {
	var list []Event
	for _, i := range indices {
		list = append(list, b.Events[i])
	}
	return Batch{b.Spool, list}
}
