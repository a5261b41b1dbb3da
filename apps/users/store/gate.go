package store

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// maxCalls is a number that concurrent calls cannot reach.
const maxCalls = 1 << 40

// callGate is a read-write lock of a store. Calls share it; a replacement of the database takes it
// exclusively. Unlike with a sync.RWMutex, waiting for the lock ends with the context.
type callGate struct{ s *semaphore.Weighted }

// newGate returns a lock that is free.
func newGate() callGate { return callGate{semaphore.NewWeighted(maxCalls)} }

// enter begins a call. It returns an error if ctx has ended, even if it need not wait.
func (g callGate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return g.s.Acquire(ctx, 1)
}

// leave ends a call.
func (g callGate) leave() { g.s.Release(1) }

// lockAll waits until all calls have ended. No other call begins before unlockAll.
func (g callGate) lockAll(ctx context.Context) error { return g.s.Acquire(ctx, maxCalls) }

// unlockAll lets calls begin again.
func (g callGate) unlockAll() { g.s.Release(maxCalls) }
