package store

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// everyone is more calls than there can be at once.
const everyone = 1 << 40

// gate lets calls in side by side, and what replaces the database beneath them
// alone. Unlike a lock, it lets those who wait go when their context ends.
type gate struct{ s *semaphore.Weighted }

func newGate() gate { return gate{semaphore.NewWeighted(everyone)} }

// enter also refuses a context that has ended where nobody has to wait.
func (g gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return g.s.Acquire(ctx, 1)
}

func (g gate) leave() { g.s.Release(1) }

// alone returns when all calls have left, and lets no other one in until open.
func (g gate) alone(ctx context.Context) error { return g.s.Acquire(ctx, everyone) }

func (g gate) open() { g.s.Release(everyone) }
