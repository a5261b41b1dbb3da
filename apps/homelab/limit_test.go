package homelab_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/homelab"
)

// clock is a time that a test moves.
type clock struct{ time.Time }

func (c *clock) now() time.Time       { return c.Time }
func (c *clock) pass(d time.Duration) { c.Time = c.Add(d) }

func limited(t *testing.T, rate int) (*homelab.House, *clock) {
	t.Helper()
	c := &clock{start()}
	h, err := homelab.New(homelab.Config{Rate: rate, Now: c.now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !h.Limited() {
		t.Fatal("there is no limit")
	}
	return h, c
}

// take is the numbers of a client's headers, in order.
func take(t *testing.T, h *homelab.House, client string) string {
	t.Helper()
	headers, ok := h.Take(client)
	names := []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"}
	if ok {
		names = names[:3]
	}
	if len(headers) != len(names) {
		t.Fatalf("ok is %v: %q", ok, headers)
	}
	values := make([]string, len(names))
	for i, header := range headers {
		if header[0] != names[i] {
			t.Fatalf("%q, want %q", headers, names)
		}
		values[i] = header[1]
	}
	return strings.Join(values, " ")
}

func TestTake(t *testing.T) {
	h, clock := limited(t, 4) // a token each 15 s
	for _, step := range []struct {
		pass time.Duration
		want string
	}{
		{0, "4 3 15"},
		{0, "4 2 30"},
		{0, "4 1 45"},
		{0, "4 0 60"},
		{0, "4 0 60 15"},
		{14 * time.Second, "4 0 46 1"},
		{1 * time.Second, "4 0 60"},
		{-10 * time.Second, "4 0 60 15"}, // the clock is set back
		{30 * time.Second, "4 1 45"},
		{time.Hour, "4 3 15"},
		{7500 * time.Millisecond, "4 2 23"},
	} {
		clock.pass(step.pass)
		if got := take(t, h, "192.0.2.1"); got != step.want {
			t.Errorf("after %v: %s, want %s", step.pass, got, step.want)
		}
	}
	if got := take(t, h, "192.0.2.2"); got != "4 3 15" {
		t.Errorf("another client: %s", got)
	}
}

// However requests are spread, no client gets more than its burst and what has been refilled.
func TestTakeIsFair(t *testing.T) {
	for _, rate := range []int{1, 7, 500, 3000} {
		h, clock := limited(t, rate)
		taken := 0
		const steps, step = 1000, 210 * time.Millisecond
		for i := range steps {
			for range 1 + i%3*rate/10 {
				if _, ok := h.Take("192.0.2.1"); ok {
					taken++
				}
			}
			clock.pass(step)
		}
		most := rate + int(float64(rate)*(steps*step).Minutes())
		if taken > most || float64(taken) < 0.98*float64(min(most, steps)) {
			t.Errorf("rate %d: %d of at most %d", rate, taken, most)
		}
	}
}

// A burst of other clients costs no memory for ever, and a client that is
// refused does not get a new bucket by waiting until others have come.
func TestClientsAreForgotten(t *testing.T) {
	const most = 10_000
	h, clock := limited(t, 1)
	clients := func() string {
		_, text, _ := strings.Cut(string(h.Metrics()), "\nhomelab_rate_limited_clients ")
		return strings.TrimSpace(text)
	}
	for i := range 3 * most / 2 {
		h.Take(fmt.Sprint(i))
	}
	if got := clients(); got != fmt.Sprint(most) {
		t.Errorf("%s clients, want %d", got, most)
	}
	if _, ok := h.Take(fmt.Sprint(3*most/2 - 1)); ok {
		t.Error("a client that came late was forgotten")
	}
	clock.pass(59 * time.Second)
	if _, ok := h.Take(fmt.Sprint(3*most/2 - 1)); ok {
		t.Error("a client has a token too early")
	}
	clock.pass(2 * time.Second)
	if _, ok := h.Take("somebody new"); !ok {
		t.Error("a new client is refused")
	}
	if got := clients(); got != "2" { // the one that asked last, and the new one
		t.Errorf("%s clients after all buckets are full", got)
	}
}
