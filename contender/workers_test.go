package contender

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load/hist"
)

// together is a program whose operations several callers do at once.
func together(callers int, w Work) Program {
	return Program{Kind: "test", Prepare: func(string, wire.Workload, [][]byte) (Work, error) {
		w.Callers = callers
		w.Answer = func(i int) (Answered, error) {
			_, err := w.Do(i)
			return Answered{Output: []byte("done")}, err
		}
		return w, nil
	}}
}

func latency(t *testing.T, a wire.Reply) *hist.Hist {
	t.Helper()
	h, err := hist.Decode(string(a.Latency))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestCrewCounts: a slice has the operations that were asked for and no others,
// each body gets its turn, and all callers have their part.
func TestCrewCounts(t *testing.T) {
	for _, callers := range []int{1, 2, 8, 64} {
		var mu sync.Mutex
		seen := make([]int64, 7)
		atOnce, most := 0, 0
		l := visit(t, together(callers, Work{Do: func(i int) (int, error) {
			mu.Lock()
			seen[i]++
			atOnce++
			most = max(most, atOnce)
			mu.Unlock()
			runtime.Gosched()
			mu.Lock()
			atOnce--
			mu.Unlock()
			if i == 3 {
				return 5, errors.New("three")
			}
			return 10, nil
		}}))
		l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "0", "1", "2", "3", "4", "5", "6")})
		var begun int64
		for range 3 {
			a := l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: untilOps, Ops: 700, Lead: 70})
			if a.Ops != 700 || a.Begun < 770 || a.Begun > 770+int64(callers) || a.WallNS <= 0 || a.CPUNS < 0 || latency(t, a).Count() != 700 {
				t.Fatalf("%d callers: %+v", callers, a)
			}
			failed := (700*10 - a.BytesOut) / 5 // of the measured ones
			if failed < 100-int64(callers) || failed > 100+int64(callers) || a.Errors < failed || a.Errors > failed+int64(callers) || a.Message != "three" {
				t.Errorf("%d callers: %+v", callers, a)
			}
			if most := int64(callers) * a.WallNS; a.UnderWayNS <= 0 || a.UnderWayNS > most || a.Service != nil || a.Lag != nil || a.Unsent != 0 {
				t.Errorf("%d callers, %d ns in %d: %+v", callers, a.UnderWayNS, a.WallNS, a)
			}
			begun += a.Begun
		}
		mu.Lock()
		for i, n := range seen {
			if n < begun/7 || n > begun/7+1 {
				t.Errorf("%d callers: body %d was done %d times of %d", callers, i, n, begun)
			}
		}
		if most > callers || callers > 1 && most < 2 {
			t.Errorf("%d callers: %d at once", callers, most)
		}
		mu.Unlock()
	}
}

// TestCrewStats: exactly so many operations, from the first body on, and nothing
// allocated that is not the operation's own.
func TestCrewStats(t *testing.T) {
	var sum atomic.Int64
	l := visit(t, together(4, Work{Do: func(i int) (int, error) { sum.Add(int64(i)); return 1, nil }, Times: steady(10)}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "0", "1", "2")})
	allocs := func(ops int64) int64 {
		sum.Store(0)
		a := l.ok(wire.Request{Op: wire.OpStats, On: "w", Ops: ops})
		if a.Ops != ops || a.BytesOut != ops || a.Errors != 0 || a.Latency != nil || sum.Load() != ops {
			t.Fatalf("%d: %+v, sum %d", ops, a, sum.Load())
		}
		return a.Allocs
	}
	allocs(30)
	if few, many := allocs(30), allocs(60_000); many > few+200 {
		t.Errorf("%d objects for 30 operations, %d for 60000", few, many)
	}
}

func TestCrewCaps(t *testing.T) {
	l := visit(t, together(3, Work{Do: func(int) (int, error) { time.Sleep(time.Millisecond); return 0, nil }}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	ms := int64(time.Millisecond)
	for _, q := range []wire.Request{
		{Op: wire.OpSlice, Until: untilOps, Ops: 1 << 40, CapNS: 20 * ms, CapOps: 10},
		{Op: wire.OpSlice, Until: untilOps, Ops: 1 << 40, Lead: 1 << 40, CapNS: 20 * ms},
		{Op: wire.OpSlice, Until: untilOps, Ops: 1 << 40, CapNS: 1, CapOps: 10},
		{Op: wire.OpWarm, MinNS: 20 * ms}, {Op: wire.OpWarm, MinGC: 1 << 40, CapNS: 20 * ms}, {Op: wire.OpWarm},
		{Op: wire.OpProfile, Profile: profileMem, MinNS: 20 * ms},
	} {
		q.On = "w"
		a := l.ok(q)
		if a.Ops < max(1, q.CapOps) || a.Ops == q.Ops || q.MinNS > 0 && a.WallNS < q.MinNS && q.Op == wire.OpWarm {
			t.Errorf("%+v: %+v", q, a)
		}
	}
	if a := l.do(wire.Request{Op: wire.OpSlice, On: "w", Until: untilGC, Ops: 1, CapNS: ms}); a.Error == nil || a.Error.Class != classNotMine {
		t.Errorf("until gc: %+v", a)
	}
}

// TestCrewWarmsByCycles: with a collector at work its cycles end a warm-up.
func TestCrewWarmsByCycles(t *testing.T) {
	var hold atomic.Pointer[[]byte]
	l := visit(t, together(2, Work{Do: func(int) (int, error) {
		b := make([]byte, 100_000)
		hold.Store(&b)
		return 0, nil
	}}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	if a := l.ok(wire.Request{Op: wire.OpWarm, On: "w", MinGC: 3, MinNS: int64(time.Hour)}); a.GC < 3 {
		t.Errorf("%+v", a)
	}
}

// TestCrewPanics: a panic of one caller ends the run and is the reply's error; the
// next request is served.
func TestCrewPanics(t *testing.T) {
	var wrong atomic.Bool
	l := visit(t, together(4, Work{Do: func(i int) (int, error) {
		if wrong.Load() && i == 1 {
			panic("ouch")
		}
		return 0, nil
	}}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "0", "1")})
	for _, q := range []wire.Request{
		{Op: wire.OpSlice, Until: untilOps, Ops: 1 << 40}, {Op: wire.OpStats, Ops: 1 << 40},
		{Op: wire.OpWarm, MinNS: int64(time.Hour)}, {Op: wire.OpProfile, Profile: profileMem, MinNS: int64(time.Hour)},
	} {
		q.On = "w"
		wrong.Store(true)
		if a := l.do(q); a.Error == nil || a.Error.Class != classInternal || !strings.Contains(a.Error.Message, "panic: ouch (") || !strings.Contains(a.Error.Message, "workers_test.go") {
			t.Errorf("%s: %+v", q.Op, a.Error)
		}
		wrong.Store(false)
		if a := l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: untilOps, Ops: 9}); a.Ops != 9 {
			t.Errorf("afterwards: %+v", a)
		}
	}
}

// TestForgotten: what a workload keeps open is closed when it is forgotten, and no
// caller stays.
func TestForgotten(t *testing.T) {
	before := runtime.NumGoroutine()
	var closed, reset int
	p := together(16, Work{Do: func(int) (int, error) { return 0, nil }, Close: func() { closed++ }, Reset: func() error { reset++; return nil }})
	l := visit(t, p)
	prepare := wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")}
	l.ok(prepare)
	l.ok(wire.Request{Op: wire.OpReset, On: "w"})
	l.ok(prepare)
	l.ok(wire.Request{Op: wire.OpBye})
	if err := l.end(); err != nil || closed != 2 || reset != 1 {
		t.Errorf("%v: closed %d times, reset %d", err, closed, reset)
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, before were %d", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestReset: there is not always something to go back to, and it can fail.
func TestReset(t *testing.T) {
	l := visit(t, echo(nil))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	if a := l.do(wire.Request{Op: wire.OpReset, On: "w"}); a.Error == nil || a.Error.Class != classNotMine {
		t.Errorf("%+v", a)
	}
	if a := l.do(wire.Request{Op: wire.OpReset, On: "v"}); a.Error == nil || a.Error.Class != classBadRequest {
		t.Errorf("%+v", a)
	}
	p := echo(nil)
	p.Serve = func(_ string, w wire.Workload) (Served, error) {
		return Served{Addr: "127.0.0.1:1", Reset: func() error { return errors.New("the store is gone") }, Counts: func() Counts {
			return Counts{Calls: &wire.Calls{Get: 7}, Fault: errors.New("disk full")}
		}}, nil
	}
	p.Prepares = func(w wire.Workload) bool { return w.Set["addr"] != "" }
	l = visit(t, p)
	if a := l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")}); a.Addr == "" {
		t.Fatalf("%+v", a)
	}
	if a := l.do(wire.Request{Op: wire.OpReset, On: "w"}); a.Error == nil || a.Error.Message != "reset: the store is gone" {
		t.Errorf("%+v", a)
	}
	if a := l.ok(wire.Request{Op: wire.OpStats, On: "w"}); a.Calls == nil || a.Calls.Get != 7 || a.Message != "disk full" {
		t.Errorf("%+v", a)
	}
	l.ok(wire.Request{Op: wire.OpEnd, On: "w"})
	if a := l.do(wire.Request{Op: wire.OpReset, On: "w"}); a.Error == nil || a.Error.Class != classNotMine {
		t.Errorf("after end: %+v", a)
	}
	client := workload(t, "c", "1")
	client.Set = map[string]string{"addr": "127.0.0.1:1"}
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: client})
	if a := l.ok(wire.Request{Op: wire.OpAnswer, On: "c", Cases: []int{0}}); string(a.Answers[0].Output) != "1" {
		t.Errorf("%+v", a)
	}
}
