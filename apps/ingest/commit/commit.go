// Package commit writes the batches of concurrent callers together: batches that
// arrive while others are being written wait, and go into the next write.
package commit

import (
	"context"
	"errors"
	"sync"
)

// Errors of Keep. A batch that is too large will always be.
var (
	ErrClosed   = errors.New("the sink is closed")
	ErrTooLarge = errors.New("the batch is larger than the sink takes")
)

// Batch contains the lines of one caller.
type Batch struct {
	Lines []byte
	N     int    // lines
	Err   error  // the result
	End   uint64 // its position, for writers that set it
}

// Queue passes batches to one writer at a time.
type Queue struct {
	turn  chan struct{} // full while a caller writes
	write func([]*Batch)

	mu     sync.Mutex
	closed bool
	next   *group // batches of the next turn; nil if nothing waits
}

// group contains the batches that are written in one turn.
type group struct {
	batches []*Batch
	done    chan struct{} // closed when all of them have their result
}

// New returns a queue before write, which sets the result of every batch. It is never called
// concurrently.
func New(write func([]*Batch)) *Queue {
	return &Queue{turn: make(chan struct{}, 1), write: write}
}

// Keep returns when b has its result, which it returns. If ctx ends before a turn has begun with b,
// the error is ctx's and b is not written.
func (q *Queue) Keep(ctx context.Context, b *Batch) error {
	g, err := q.joinGroup(b)
	if err != nil {
		return err
	}
	select {
	case q.turn <- struct{}{}:
		q.commitGroup(g)
		<-q.turn
	case <-g.done:
	case <-ctx.Done():
		if q.leaveGroup(g, b) {
			return ctx.Err()
		}
		<-g.done // another caller is writing it
	}
	return b.Err
}

// joinGroup adds a batch to the group that waits.
func (q *Queue) joinGroup(b *Batch) (*group, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, ErrClosed
	}
	if q.next == nil {
		q.next = &group{done: make(chan struct{})}
	}
	q.next.batches = append(q.next.batches, b)
	return q.next, nil
}

// leaveGroup removes a batch from a group that still waits, or returns false.
func (q *Queue) leaveGroup(g *group, b *Batch) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next != g {
		return false
	}
	for i := range g.batches {
		if g.batches[i] == b {
			g.batches = append(g.batches[:i], g.batches[i+1:]...)
			return true
		}
	}
	return false
}

// commitGroup writes g, unless that was done in an earlier turn. The caller has the turn.
func (q *Queue) commitGroup(g *group) {
	q.mu.Lock()
	if q.next != g {
		q.mu.Unlock()
		return
	}
	q.next = nil
	q.mu.Unlock()
	q.write(g.batches)
	close(g.done)
}

// Waiting returns how many batches wait for the next turn.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == nil {
		return 0
	}
	return len(q.next.batches)
}

// Close writes the waiting batches and then calls last, after which nothing is written.
func (q *Queue) Close(last func() error) error {
	q.mu.Lock()
	q.closed = true
	g := q.next
	q.mu.Unlock()
	q.turn <- struct{}{}
	defer func() { <-q.turn }()
	if g != nil {
		q.commitGroup(g)
	}
	return last()
}
