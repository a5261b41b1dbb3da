package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/machine"
)

// An agent has the machine while it measures, and its session has the cache. A tare that
// waits for the machine does not have the cache meanwhile, or each would wait for what
// the other one has.
func TestWaitingForTheMachineLeavesTheCacheFree(t *testing.T) {
	dir, lock := t.TempDir(), fmt.Sprintf("session test %d", os.Getpid())
	release, err := machine.LockHost(t.Context(), lock, nil)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	measure := func(ctx context.Context, errs *screen, lock string) error {
		env := newEnv(errs, dir, lock)
		p := NewProgress(env, false)
		defer p.End()
		return With(ctx, env, Options{}, p, func(context.Context, *Session) error { return nil })
	}
	waiting, user := &screen{}, make(chan error, 1)
	go func() { user <- measure(t.Context(), waiting, lock) }()
	for text := ""; !strings.Contains(text, "waiting for another tare"); text += waiting.take() {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := measure(ctx, &screen{}, lock+" inner"); err != nil {
		t.Errorf("the session of the agent: %v", err)
	}
	release()
	if err := <-user; err != nil {
		t.Error(err)
	}
}

// The rounds of a batch end within the time that there is, if they go on as they began.
func TestPermitWithin(t *testing.T) {
	for most, want := range map[time.Duration]int{0: 1, 15 * time.Second: 1, 34 * time.Second: 2, 35 * time.Second: 3} {
		at := time.Unix(0, 0)
		permit := permitWithin(most, func() time.Time { return at })
		at = at.Add(5 * time.Second) // the pilot
		done := 0
		for {
			more, err := permit(t.Context(), done)
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
			done++
			at = at.Add(10 * time.Second)
		}
		if done != want {
			t.Errorf("%v hold %d rounds of 10 s after a pilot of 5 s, want %d", most, done, want)
		}
	}
}
