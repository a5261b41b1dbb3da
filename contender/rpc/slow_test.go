package rpc

import (
	"context"
	"fmt"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// slowFace has a client whose calls take so long and reach nobody.
func slowFace(each time.Duration) Face {
	f := httpFace()
	f.Dial = func(Target) (Client, error) { return slow{each: each}, nil }
	return f
}

type slow struct {
	Client
	each time.Duration
}

func (s slow) Delete(context.Context, int64) error {
	time.Sleep(s.each)
	return nil
}

func (slow) Close() error { return nil }

// opener opens a store in memory whatever it is called.
func opener(asked *string) users.Opener {
	return func(ctx context.Context, store string, n int) (users.Repository, error) {
		*asked = fmt.Sprint(store, " ", n)
		return users.Open(ctx, users.MemoryStore, n)
	}
}
