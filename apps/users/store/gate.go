package store

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// maxCalls is more than the possible number of concurrent calls.
const maxCalls = 1 << 40

// callGate lets calls run concurrently, and a replacement of the database only without calls.
// Unlike a lock, waiting for it ends with the context.
type callGate struct{ s *semaphore.Weighted }

func newGate() callGate { return callGate{semaphore.NewWeighted(maxCalls)} }

// enter also rejects a context that has ended if there is no wait.
func (g callGate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return g.s.Acquire(ctx, 1)
}

func (g callGate) leave() { g.s.Release(1) }

// lockAll returns when all calls have left, and lets no other one in until unlockAll.
func (g callGate) lockAll(ctx context.Context) error { return g.s.Acquire(ctx, maxCalls) }

func (g callGate) unlockAll() { g.s.Release(maxCalls) }
