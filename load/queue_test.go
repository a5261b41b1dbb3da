package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
)

// noEngine is an engine whose requests the test sends at chosen times.
type noEngine struct{}

func (noEngine) name() Engine       { return "none" }
func (noEngine) threadCount() int   { return 1 }
func (noEngine) dialerCount() int   { return 1 }
func (noEngine) recorderCount() int { return 1 }
func (noEngine) run(*run)           {}
func (noEngine) wake()              {}
func (noEngine) readUsage() usage   { return usage{} }
func (noEngine) close()             {}

// scripted is a simulated server: it responds after a fixed time, except while it is stopped.
type scripted struct {
	service     time.Duration
	stop, going time.Duration // since the leg's start; equal: it never stops
}

// answers returns the time of the response to a request that was sent at a time.
func (s scripted) answers(sent time.Duration) time.Duration {
	at := sent + s.service
	if at > s.stop && sent < s.going {
		at += s.going - max(sent, s.stop)
	}
	return at
}

// simulate runs an open loop with the queue and the recorder of the engines, and with a scripted
// server and clock instead of sockets and time.
func simulate(t *testing.T, leg Leg, conns int, server scripted) *Result {
	t.Helper()
	s, err := newSettings(Options{Target: Target{Addr: "127.0.0.1:1"}, Requests: []Request{{Method: "GET"}}, Connections: conns})
	assert.NoError(t, "options", err)
	const start = int64(time.Hour) // any time is as good
	r := newRun(s, noEngine{}, leg)
	r.queue.openAt(start)
	r.started.Store(start)
	rec := recorder{s: s}
	rec.start(r)
	rec.inFlight.last = start

	type pending struct {
		x    exchange
		done int64
	}
	var busy []pending // soonest first
	now, free, held, holds, final := start, conns, ticket{}, false, false
	for {
		next := r.updatePhase(now)
		if len(busy) > 0 && busy[0].done <= now {
			rec.recordResponse(&busy[0].x, response{status: 200}, now)
			busy = busy[1:]
			free++
			continue
		}
		if len(busy) > 0 {
			next = min(next, busy[0].done)
		}
		if free > 0 && !holds && !final {
			held, holds = r.queue.takeTicket()
		}
		if holds && free > 0 && held.at <= now {
			x := exchange{measured: held.measured, intended: held.at, sent: now, parts: 1}
			rec.recordSend(&x, now)
			p := pending{x, start + int64(server.answers(time.Duration(now-start)))}
			at, _ := slices.BinarySearchFunc(busy, p.done, func(b pending, done int64) int { return cmp.Compare(b.done, done+1) })
			busy = slices.Insert(busy, at, p)
			free--
			holds = false
			continue
		}
		if holds && free > 0 {
			next = min(next, held.at)
		}
		final = r.isOver() // what is free when it is over sends once more, and that was now
		if final && len(busy) == 0 {
			break
		}
		if next == never {
			t.Fatalf("nothing will happen after %v", time.Duration(now-start))
		}
		now = next
	}
	rec.stop()
	out := r.buildResult()
	adds(t, s, leg, out, false)
	return out
}

// theory returns the q-quantile of the latencies of a constant rate if the server stops once and
// otherwise responds immediately: the requests that were due during the stop have waited for the
// complete stop down to nothing.
func theory(rate float64, whole, stop, service time.Duration, q float64) time.Duration {
	n := math.Round(rate * whole.Seconds())
	slower := n * (1 - q) // requests above the quantile
	if wait := stop - time.Duration(slower/rate*1e9); wait > 0 {
		return wait + service
	}
	return service
}

func TestStopOnAScriptedClock(t *testing.T) {
	const rate, whole, stop, service = 5000.0, 8 * time.Second, 500 * time.Millisecond, 100 * time.Microsecond
	for _, at := range []time.Duration{0, 2 * time.Second, 3333 * time.Millisecond} {
		r := simulate(t, Leg{Profile: Constant{PerSecond: rate}, Duration: whole}, 50, scripted{service, at, at + stop})
		assert.Equal(t, "sent", r.Sent, 40000)
		assert.Equal(t, "answered", r.Requests, 40000)
		assert.Equal(t, "late", r.Late, 0)
		assert.Equal(t, "wall", r.Wall, whole)
		got := float64(r.Requests) / r.Wall.Seconds()
		assert.Near(t, "rate", got, rate, rate/1000)
		assert.Near(t, "rate asked", r.Asked, rate, rate/1000)
		for _, q := range []float64{0.5, 0.99, 0.999} {
			want := float64(theory(rate, whole, stop, service, q))
			assert.Near(t, fmt.Sprintf("stop at %v: quantile %v", at, q), float64(r.Latency.Quantile(q)), want, 0.02*want)
		}
		assert.Equal(t, "seconds", len(r.Timeline), 8)
		// What left the queue at once tells nothing of the stop, as the wrong
		// clock would.
		if p99 := r.Service.Quantile(0.99); p99 > int64(2*service) {
			t.Errorf("service p99 %v", time.Duration(p99))
		}
	}
}

func TestStopAtTheEnd(t *testing.T) {
	leg := Leg{Profile: Constant{PerSecond: 1000}, Duration: 2 * time.Second}
	r := simulate(t, leg, 50, scripted{time.Millisecond, 1800 * time.Millisecond, 2500 * time.Millisecond})
	assert.Equal(t, "sent", r.Sent, 1850)
	assert.Equal(t, "late", r.Late, 150)
	assert.Near(t, "asked", r.Asked, 1000, 1e-9)
	assert.Near(t, "longest, ns", float64(r.Latency.Max()), 701e6, 1.1e6)
}

func TestLeadFlowsIntoWhatIsMeasured(t *testing.T) {
	leg := Leg{Profile: Constant{PerSecond: 1000}, Lead: 300, Duration: time.Second}
	r := simulate(t, leg, 10, scripted{service: 5 * time.Millisecond})
	assert.Equal(t, "sent", r.Sent, 1000)
	assert.Near(t, "under way", r.Concurrency, 5, 0.01) // and from the first instant on
	leg = Leg{Profile: Constant{PerSecond: 1000}, LeadTime: 300*time.Millisecond + 1, Duration: time.Second}
	r = simulate(t, leg, 10, scripted{service: 5 * time.Millisecond})
	assert.Equal(t, "sent", r.Sent, 1000)
	assert.Equal(t, "wall", r.Wall, time.Second)
	leg = Leg{Profile: Constant{PerSecond: 1000}, Lead: 400, LeadTime: 300 * time.Millisecond, Duration: time.Second}
	r = simulate(t, leg, 10, scripted{service: 5 * time.Millisecond})
	assert.Equal(t, "sent", r.Sent, 1000)
}

// If the server is too slow by a quarter, the requests that it cannot take are counted.
func TestOverload(t *testing.T) {
	leg := Leg{Profile: Constant{PerSecond: 1000}, Duration: 4 * time.Second}
	r := simulate(t, leg, 8, scripted{service: 10 * time.Millisecond}) // carries 800/s
	assert.Near(t, "sent", float64(r.Sent), 3200, 10)
	assert.Equal(t, "late", r.Late, 4000-r.Sent)
	assert.Near(t, "under way", r.Concurrency, 8, 0.05)
	// The k-th request waits for k/800 − k/1000 s.
	assert.Near(t, "p99, s", float64(r.Latency.Quantile(0.99))/1e9, 0.99*0.8+0.01, 0.02)
}

func TestQueueIsShared(t *testing.T) {
	leg := Leg{Profile: Constant{PerSecond: 1e6}, Duration: 100 * time.Millisecond, Lead: 1000}
	q := newQueue(leg)
	q.openAt(5)
	var mu sync.Mutex
	seen := map[int64]bool{}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				tk, ok := q.takeTicket()
				if !ok {
					return
				}
				if (i+worker)%5 == 0 {
					q.giveBack(tk)
					continue
				}
				mu.Lock()
				if seen[tk.at] || tk.measured != (tk.at >= 5+1000_000) {
					t.Errorf("%+v, seen: %v", tk, seen[tk.at])
				}
				seen[tk.at] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	assert.Equal(t, "tickets", len(seen), 101000)
	asked, late := q.countUnsent(math.MaxInt64)
	assert.Equal(t, "asked", asked, 100000)
	assert.Equal(t, "late", late, 0)
}

func TestQueueGivesBackTheEarliestFirst(t *testing.T) {
	q := newQueue(Leg{Profile: Constant{PerSecond: 1000}, Duration: 10 * time.Millisecond})
	if _, ok := q.takeTicket(); ok {
		t.Error("a ticket before time zero")
	}
	q.openAt(0)
	var all []ticket
	for {
		tk, ok := q.takeTicket()
		if !ok {
			break
		}
		all = append(all, tk)
	}
	assert.Equal(t, "tickets", len(all), 10)
	for _, i := range []int{3, 1, 2} {
		q.giveBack(all[i])
	}
	for _, i := range []int{1, 2, 3} {
		tk, ok := q.takeTicket()
		assert.Equal(t, "has a ticket", ok, true)
		assert.Equal(t, "time", tk.at, all[i].at)
	}
	// Cut short at 5 ms with one ticket in hand of each half.
	q.giveBack(all[4])
	q.giveBack(all[7])
	asked, late := q.countUnsent(5e6)
	assert.Equal(t, "late", late, 1)
	assert.Equal(t, "asked", asked, 9) // the other two were sent, whenever that was
}

// gone is a profile of only three requests.
type gone struct{ Constant }

func (gone) Times(uint64) func() time.Duration {
	at := []time.Duration{0, time.Millisecond, 2 * time.Millisecond}
	return func() time.Duration {
		if len(at) == 0 {
			return math.MaxInt64
		}
		t := at[0]
		at = at[1:]
		return t
	}
}

func TestProfileThatEnds(t *testing.T) {
	for lead, sent := range map[int64]int64{0: 3, 1: 2, 3: 0, 7: 0} {
		r := simulate(t, Leg{Profile: gone{}, Lead: lead, Duration: 50 * time.Millisecond}, 2, scripted{service: time.Microsecond})
		assert.Equal(t, fmt.Sprintf("sent after %d", lead), r.Sent, sent)
		assert.Equal(t, "wall", r.Wall, 50*time.Millisecond)
	}
}
