package contender

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load/hist"
)

func decoded(t *testing.T, word []byte) *hist.Hist {
	t.Helper()
	h, err := hist.Decode(string(word))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// steady is an open loop of so many operations in a second.
func steady(rate float64) func(uint64) func() time.Duration {
	return func(uint64) func() time.Duration {
		n := -1
		return func() time.Duration {
			n++
			return time.Duration(float64(n) / rate * 1e9)
		}
	}
}

// TestOpenLoop: operations begin when they are meant to, what the lead-in and a
// stall keep waiting counts as late, and all of a slice is waited for.
func TestOpenLoop(t *testing.T) {
	var n atomic.Int64
	l := visit(t, together(2, Work{Times: steady(1000), Do: func(int) (int, error) {
		if k := n.Add(1); k == 31 || k == 32 {
			time.Sleep(50 * time.Millisecond) // both callers stall
		}
		return 0, nil
	}}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	a := l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: untilOps, Ops: 100, Lead: 20})
	h := latency(t, a)
	service, lag := decoded(t, a.Service), decoded(t, a.Lag)
	stalled := service.Above(int64(40 * time.Millisecond)) // 2, but for an operation of the lead-in that a busy machine held back so long
	if service.Count() != 100 || lag.Count() != 100 || lag.Above(int64(10*time.Millisecond)) < 30 || stalled == 0 || a.Unsent != 0 {
		t.Errorf("%d served, of which %d stalled, %d begun; %d not", service.Count(), stalled, lag.Count(), a.Unsent)
	}
	if a.Ops != 100 || a.Begun != 120 || h.Count() != 100 || time.Duration(a.WallNS) < 90*time.Millisecond {
		t.Errorf("%+v", a)
	}
	if late := h.Above(int64(10 * time.Millisecond)); late < 30 { // of the 50 that were due meanwhile
		t.Errorf("%d operations were late by more than 10 ms", late)
	}
}

// TestOpenLoopEnds: a slice that is capped does not wait for what is due much later.
func TestOpenLoopEnds(t *testing.T) {
	l := visit(t, together(3, Work{Times: func(uint64) func() time.Duration {
		n := 0
		return func() time.Duration {
			if n++; n <= 20 {
				return time.Duration(n) * time.Millisecond
			}
			return time.Hour
		}
	}, Do: func(int) (int, error) { return 0, nil }}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	for _, q := range []wire.Request{
		{Op: wire.OpSlice, Until: untilOps, Ops: 50, CapNS: int64(200 * time.Millisecond)},
		{Op: wire.OpWarm, MinNS: int64(200 * time.Millisecond)},
		{Op: wire.OpSlice, Until: untilOps, Ops: 50, Lead: 1 << 40, CapNS: int64(5 * time.Millisecond)},
	} {
		q.On = "w"
		if a := l.ok(q); a.Ops < 1 || a.Ops > 20 || a.Begun > 20 {
			t.Errorf("%+v: %+v", q, a)
		}
	}
}

// TestOpenLoopBehind: callers that cannot keep the rate begin late and later, as the lag says, and
// what they have not begun in the end is counted: with it all that was asked for is there.
func TestOpenLoopBehind(t *testing.T) {
	const rate, span = 2000, 200 * time.Millisecond
	l := visit(t, together(2, Work{Times: steady(rate), Do: func(int) (int, error) { time.Sleep(5 * time.Millisecond); return 0, nil }}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	for _, lead := range []int64{0, 3} {
		a := l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: untilOps, Ops: 1 << 30, Lead: lead, CapNS: int64(span), CapOps: 1})
		asked := int64(span.Seconds() * rate)
		if a.Ops+a.Unsent != asked || a.Unsent < asked/2 || a.Begun != a.Ops+lead || time.Duration(a.WallNS) < span {
			t.Errorf("%d asked, %d done, %d not, in %v", asked, a.Ops, a.Unsent, time.Duration(a.WallNS))
		}
		lag, service := decoded(t, a.Lag), decoded(t, a.Service)
		if late := lag.Quantile(0.9); late < int64(span/4) {
			t.Errorf("the tenth that waited longest did so for %v", time.Duration(late))
		}
		if got, want := lag.Mean()+service.Mean(), latency(t, a).Mean(); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("lag and service are %.0f ns in the mean, latency is %.0f", got, want)
		}
		if at := float64(a.UnderWayNS) / float64(a.WallNS); at > 2 || at < 1 {
			t.Errorf("%.2f at once, want about 2", at)
		}
	}
}

// TestOpenLoopStuck: nobody is free at the end, and the slice ends all the same as
// soon as somebody is.
func TestOpenLoopStuck(t *testing.T) {
	var n atomic.Int64
	l := visit(t, together(1, Work{Times: steady(1000), Do: func(int) (int, error) {
		if n.Add(1) == 2 {
			time.Sleep(400 * time.Millisecond)
		}
		return 0, nil
	}}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	a := l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: untilOps, Ops: 1 << 30, CapNS: int64(50 * time.Millisecond), CapOps: 1})
	if a.Ops > 2 || a.Ops+a.Unsent != 50 || time.Duration(a.WallNS) > 350*time.Millisecond {
		t.Errorf("%d done, %d not, in %v", a.Ops, a.Unsent, time.Duration(a.WallNS))
	}
}

// TestOpenLoopHopeless: a backlog that nobody can count is worked out.
func TestOpenLoopHopeless(t *testing.T) {
	const rate = 1e9
	l := visit(t, together(1, Work{Times: steady(rate), Do: func(int) (int, error) { time.Sleep(time.Millisecond); return 0, nil }}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	const span = 100 * time.Millisecond
	a := l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: untilOps, Ops: 1 << 30, CapNS: int64(span), CapOps: 1})
	if got := float64(a.Ops+a.Unsent) / (span.Seconds() * rate); math.Abs(got-1) > 0.001 {
		t.Errorf("%d done, %d not: %.4f of what was asked", a.Ops, a.Unsent, got)
	}
}

// TestOpenLoopPanics: the run ends although nothing is due for long, or nobody is left to do it.
func TestOpenLoopPanics(t *testing.T) {
	for _, gap := range []time.Duration{0, time.Hour} {
		l := visit(t, together(1, Work{Times: func(uint64) func() time.Duration {
			n := -1
			return func() time.Duration { n++; return time.Duration(n) * gap }
		}, Do: func(int) (int, error) { panic("ouch") }}))
		l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
		if a := l.do(wire.Request{Op: wire.OpSlice, On: "w", Until: untilOps, Ops: 9}); a.Error == nil || a.Error.Class != classInternal {
			t.Errorf("every %v: %+v", gap, a)
		}
	}
}

// TestCrewFailsAtTheEnd: what was under way when measuring ended is no operation,
// but an error if it is one.
func TestCrewFailsAtTheEnd(t *testing.T) {
	const ops = 5
	var begun, ended atomic.Int64
	l := visit(t, together(2, Work{Do: func(int) (int, error) {
		if begun.Add(1) == 1 {
			for ended.Load() < ops {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(20 * time.Millisecond) // the last one is taken down meanwhile
			return 0, errStuck
		}
		time.Sleep(time.Millisecond)
		ended.Add(1)
		return 0, nil
	}}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	a := l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: untilOps, Ops: ops})
	if a.Ops != ops || a.Errors != 1 || a.Message != errStuck.Error() || latency(t, a).Count() != ops {
		t.Errorf("%+v", a)
	}
	if at := float64(a.UnderWayNS) / float64(a.WallNS); at > 2 || at < 1.5 { // it was there all the time
		t.Errorf("%.2f at once, want about 2", at)
	}
}

var errStuck = errors.New("stuck")

// TestNetwork: replies tell what went over connections since the last one that did.
func TestNetwork(t *testing.T) {
	var net Network
	w := Work{
		Do:      func(int) (int, error) { net.In, net.Out = net.In+3, net.Out+2; return 0, nil },
		Network: func() Network { return net },
	}
	l := visit(t, together(1, w))
	net.Opened = 4
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	if a := l.ok(wire.Request{Op: wire.OpAnswer, On: "w", Cases: []int{0, 0}}); a.Opened != 4 || a.WireIn != 6 || a.WireOut != 4 {
		t.Errorf("%+v", a)
	}
	net.Opened++
	for _, q := range []wire.Request{{Op: wire.OpSlice, Until: untilOps, Ops: 10}, {Op: wire.OpStats, Ops: 10}, {Op: wire.OpWarm, MinNS: 1}} {
		q.On = "w"
		a := l.ok(q)
		if done := max(a.Begun, a.Ops); a.WireIn != 3*done || a.WireOut != 2*done || (a.Opened == 1) != (q.Op == wire.OpSlice) {
			t.Errorf("%s: %+v", q.Op, a)
		}
	}
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	if a := l.ok(wire.Request{Op: wire.OpAnswer, On: "w", Cases: []int{0}}); a.Opened != net.Opened || a.WireIn != net.In {
		t.Errorf("a workload that was just prepared has been told of: %+v", a)
	}
}
