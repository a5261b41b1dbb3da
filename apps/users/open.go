package users

import (
	"context"
	"errors"
	"fmt"
)

// Names of the stores in this package, see [Memory] and [Linear].
const (
	MemoryStore = "memory"
	LinearStore = "linear"
)

// ErrNoStore is the error of [Open] for a store that is not of this package.
var ErrNoStore = errors.New("no such store")

// Open opens a store of this package and resets it to n users. It is an [Opener].
func Open(ctx context.Context, store string, n int) (Repository, error) {
	var r Repository
	switch store {
	case MemoryStore:
		r = Memory()
	case LinearStore:
		r = Linear()
	default:
		return nil, fmt.Errorf("%w as %q: this build has %s and %s", ErrNoStore, store, MemoryStore, LinearStore)
	}
	if err := r.Reset(ctx, n); err != nil {
		return nil, err
	}
	return r, nil
}

var _ Opener = Open

func checkReset(ctx context.Context, n int) error {
	if n < 0 {
		return fmt.Errorf("a store of %d users", n)
	}
	return ctx.Err()
}
