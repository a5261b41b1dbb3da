package spool

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
)

// The clock of the machine is set forward and back by up to a day, between any two
// operations and across restarts: every event comes out once and in order, and what
// was full takes events again as soon as there is room.
func TestClockJumps(t *testing.T) {
	jumps := 0
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 26))
		r := newRig(t, Options{Segment: 500 + rng.Int64N(5000), Bytes: LeastBytes, Age: time.Hour})
		jump := func() {
			if rng.IntN(2) == 0 {
				jumps++
				r.clock.now = r.clock.now.Add(time.Duration(rng.Int64N(int64(48*time.Hour))) - 24*time.Hour)
			}
		}
		kept, got := 0, ""
		for range 60 {
			jump()
			if r.keep(fmt.Sprint(kept)) == nil {
				kept++
			}
			jump()
			switch rng.IntN(5) {
			case 0:
				got += r.take()
			case 1:
				assert.NoError(t, "close", r.spool.Close())
				r.spool = mustOpen(t, r.disk, r.spool.options)
				r.read()
			}
			if age := r.spool.Status().Age; age > 49*time.Hour*time.Duration(jumps+1) {
				t.Fatalf("seed %d: an age of %v", seed, age)
			}
		}
		got += r.take()
		jump()
		r.clock.now = r.clock.now.Add(time.Second) // it looks at what was sent five times a second
		r.mustKeep("last")
		got += r.take()
		var want strings.Builder
		for i := range kept {
			fmt.Fprintf(&want, "%d ", i)
		}
		if got != want.String()+"last " || len(r.damage) > 0 {
			t.Fatalf("seed %d: %s, want %s; damage %v", seed, got, want.String(), r.damage)
		}
	}
	t.Logf("%d jumps of the clock", jumps)
}

// A full spool whose clock was set back by a day looks at once whether there is room.
func TestFullAndSetBack(t *testing.T) {
	r := newRig(t, Options{Bytes: LeastBytes})
	for r.keep(strings.Repeat("x", 1000)) == nil {
	}
	r.clock.now = r.clock.now.Add(-24 * time.Hour)
	assert.ErrorIs(t, "full still", r.keep(strings.Repeat("x", 1000)), ErrFull)
	r.take()
	r.clock.now = r.clock.now.Add(-time.Hour)
	r.mustKeep(strings.Repeat("x", 1000))
}
