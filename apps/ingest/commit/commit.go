// Package commit writes the batches of concurrent callers together (group commit). Batches that arrive during
// a write wait, and are then written in one. For example, if ten callers arrive while a sync takes 5 ms, one
// more write stores the batches of all ten. The destination, a file or a database, is called the sink.
package commit

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Errors that [Queue.Keep] returns.
var (
	ErrClosed   = errors.New("the sink is closed")                      // Keep was called after Close
	ErrTooLarge = errors.New("the batch is larger than the sink takes") // do not try again
)

// Batch contains the lines of one caller.
type Batch struct {
	Lines []byte
	N     int    // number of lines
	Err   error  // result, set by the writer
	End   uint64 // position after the batch, if the writer sets it
}

// Queue collects batches into groups and writes one group at a time. It has no goroutine of its own: one of
// the callers whose batches are in a group locks writing and writes the group, while the others wait.
type Queue struct {
	writing chan struct{} // a lock, full while a caller writes; unlike a mutex, it can be waited for together with a context
	write   func([]*Batch)

	mu     sync.Mutex
	closed bool
	next   *group // receives new batches; nil if none waits
}

// group is the batches of one write.
type group struct {
	batches []*Batch
	done    chan struct{}
}

// New returns a queue that passes groups of batches to write. write must set the Err of every batch. It is never
// called concurrently.
func New(write func([]*Batch)) *Queue { return &Queue{writing: make(chan struct{}, 1), write: write} }

// Keep adds b to a group, waits until the group is written, and returns b.Err. If ctx ends before a caller has
// begun to write the group, b is not written, and Keep returns the error of ctx.
func (q *Queue) Keep(ctx context.Context, b *Batch) error {
	g, err := q.joinGroup(b)
	if err != nil {
		return err
	}
	select {
	case q.writing <- struct{}{}:
		q.commitGroup(g)
		<-q.writing
	case <-g.done:
	case <-ctx.Done():
		if q.leaveGroup(g, b) {
			return ctx.Err()
		}
		<-g.done // another caller is writing the group
	}
	return b.Err
}

// joinGroup adds b to the group that is written next.
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

// leaveGroup removes b from g. It returns false if a caller is writing g or has written it.
func (q *Queue) leaveGroup(g *group, b *Batch) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(g.batches, b)
	if isTaken := q.next != g; isTaken || i < 0 { // commitGroup takes a group out of q.next
		return false
	}
	g.batches = slices.Delete(g.batches, i, i+1)
	return true
}

// commitGroup writes g, unless another caller has already done so. The caller must hold q.writing.
func (q *Queue) commitGroup(g *group) {
	q.mu.Lock()
	if q.next != g { // another caller took g out of q.next and wrote it
		q.mu.Unlock()
		return
	}
	q.next = nil
	q.mu.Unlock()
	q.write(g.batches)
	close(g.done)
}

// Waiting returns the number of batches in the group that is written next.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == nil {
		return 0
	}
	return len(q.next.batches)
}

// Close writes the waiting batches and then calls closeSink. No batch is written afterwards.
func (q *Queue) Close(closeSink func() error) error {
	q.mu.Lock()
	q.closed = true
	g := q.next
	q.mu.Unlock()
	q.writing <- struct{}{}
	defer func() { <-q.writing }()
	if g != nil {
		q.commitGroup(g)
	}
	return closeSink()
}
