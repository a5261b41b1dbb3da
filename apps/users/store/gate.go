package store

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// maxCalls is more than the number of concurrent calls.
const maxCalls = 1 << 40

// rwLock is a read-write lock of a store. Calls share it; replacing the database takes it exclusively. Unlike
// with sync.RWMutex, waiting ends with the context.
type rwLock struct{ s *semaphore.Weighted }

func newRWLock() rwLock { return rwLock{semaphore.NewWeighted(maxCalls)} }

// rLock takes the lock for a call. It fails if ctx has ended, even if the lock is free.
func (l rwLock) rLock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.s.Acquire(ctx, 1)
}

func (l rwLock) rUnlock() { l.s.Release(1) }

// lock waits until all calls have ended and blocks new ones.
func (l rwLock) lock(ctx context.Context) error { return l.s.Acquire(ctx, maxCalls) }

func (l rwLock) unlock() { l.s.Release(maxCalls) }
