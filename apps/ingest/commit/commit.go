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

// Batch is what one caller wants to have kept.
type Batch struct {
	Lines []byte
	N     int    // lines
	Err   error  // the result
	End   uint64 // where it was kept, for writers that say so
}

// Queue hands batches to one writer at a time.
type Queue struct {
	turn  chan struct{} // full while somebody writes
	write func([]*Batch)

	mu     sync.Mutex
	closed bool
	next   *group // what the next turn will write; nil: nothing waits
}

// group is batches that are written in one turn.
type group struct {
	batches []*Batch
	done    chan struct{} // closed when all of them have their result
}

// New is a queue before write, which sets the result of every batch it is given.
// It is never called twice at once.
func New(write func([]*Batch)) *Queue {
	return &Queue{turn: make(chan struct{}, 1), write: write}
}

// Keep returns when b has its result, which it returns. Where ctx ends before b
// is in somebody's turn, the error is ctx's and b is not written.
func (q *Queue) Keep(ctx context.Context, b *Batch) error {
	g, err := q.join(b)
	if err != nil {
		return err
	}
	select {
	case q.turn <- struct{}{}:
		q.commit(g)
		<-q.turn
	case <-g.done:
	case <-ctx.Done():
		if q.leave(g, b) {
			return ctx.Err()
		}
		<-g.done // somebody is writing it
	}
	return b.Err
}

// join adds a batch to the group that waits.
func (q *Queue) join(b *Batch) (*group, error) {
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

// leave takes a batch out of a group that still waits, or returns false.
func (q *Queue) leave(g *group, b *Batch) bool {
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

// commit writes g, unless that was done in an earlier turn. The caller has the
// turn.
func (q *Queue) commit(g *group) {
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

// Waiting is how many batches wait for the next turn.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == nil {
		return 0
	}
	return len(q.next.batches)
}

// Close writes what waits and then calls last, which nothing is written after.
func (q *Queue) Close(last func() error) error {
	q.mu.Lock()
	q.closed = true
	g := q.next
	q.mu.Unlock()
	q.turn <- struct{}{}
	defer func() { <-q.turn }()
	if g != nil {
		q.commit(g)
	}
	return last()
}
