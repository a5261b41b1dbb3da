package users_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
)

func TestNoLimit(t *testing.T) {
	for _, limit := range []int{0, -1} {
		s := service(t, users.Config{Limit: limit}, 0)
		if s.Limited() {
			t.Errorf("%d: limited", limit)
		}
		for range 1000 {
			if !s.Allow() {
				t.Fatalf("%d: not allowed", limit)
			}
		}
	}
}

func TestLimit(t *testing.T) {
	now := newClock()
	s := service(t, users.Config{Limit: 4, Now: now.Now}, 0) // one each 250 ms
	if !s.Limited() {
		t.Fatal("there is no limit")
	}
	for i, step := range []struct {
		pass time.Duration
		want int // that are let through then
	}{
		{0, 4},
		{0, 0},
		{249 * time.Millisecond, 0},
		{time.Millisecond, 1},
		{500 * time.Millisecond, 2},
		{time.Hour, 4},
		{-time.Hour, 0}, // the clock is set back
		{250 * time.Millisecond, 1},
		{time.Second, 4},
	} {
		now.pass(step.pass)
		got := 0
		for range 10 {
			if s.Allow() {
				got++
			}
		}
		if got != step.want {
			t.Errorf("step %d: %d let through, want %d", i, got, step.want)
		}
	}
}

// However requests are spread, no more than a burst of one second and what comes
// back since, and nearly so many.
func TestLimitIsKept(t *testing.T) {
	for _, limit := range []int{1, 3, 700, 600_000, 2_000_000_000} {
		now := newClock()
		s := service(t, users.Config{Limit: limit, Now: now.Now}, 0)
		let := 0
		const steps, step = 1000, 3 * time.Millisecond
		for i := range steps {
			for range i % 30 {
				if s.Allow() {
					let++
				}
			}
			now.pass(step)
		}
		most := float64(limit) * (1 + (steps * step).Seconds())
		asked := float64(steps / 30 * 29 * 30 / 2)
		if float64(let) > most || float64(let) < 0.95*min(asked, most)-1 {
			t.Errorf("limit %d: %d let through of at most %.0f", limit, let, most)
		}
	}
}

func TestLimitIsForAll(t *testing.T) {
	now := newClock()
	s := service(t, users.Config{Limit: 100, Now: now.Now}, 0)
	var let atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if s.Allow() {
					let.Add(1)
				}
			}
		})
	}
	all.Wait()
	if let.Load() != 100 {
		t.Errorf("%d let through, want 100", let.Load())
	}
	refused(t, "limited", users.Limited(), users.ResourceExhausted, "too many requests")
}
