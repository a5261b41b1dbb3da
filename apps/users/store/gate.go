package store

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// maxCalls is a number that concurrent calls cannot reach.
const maxCalls = 1 << 40

// rwLock is a read-write lock of a store. Calls share it; a replacement of the database takes it
// exclusively. Unlike with a sync.RWMutex, waiting for the lock ends with the context.
type rwLock struct{ s *semaphore.Weighted }

func newRWLock() rwLock { return rwLock{semaphore.NewWeighted(maxCalls)} }

// rLock takes the lock for a call. It returns an error if ctx has ended, even if it need not wait.
func (l rwLock) rLock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.s.Acquire(ctx, 1)
}

func (l rwLock) rUnlock() { l.s.Release(1) }

// lock waits until all calls have ended. No other call begins before unlock.
func (l rwLock) lock(ctx context.Context) error { return l.s.Acquire(ctx, maxCalls) }

func (l rwLock) unlock() { l.s.Release(maxCalls) }
