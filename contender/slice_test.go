package contender

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// collector is a collector for tests: cycle k completes after lengths[k] more
// operations. Looking after every operation makes everything exact.
type collector struct {
	lengths func(k int64) int64
	cycles  int64
	left    int64
}

func (c *collector) session() (*session, *work) {
	c.left = c.lengths(0)
	s := &session{lastCPU: -1, meter: &meter{cycles: func() int64 { return c.cycles }, maxYield: time.Hour}}
	return s, &work{bodies: 1, Work: Work{Do: func(int) (int, error) {
		if c.left--; c.left == 0 {
			c.cycles++
			c.left = c.lengths(c.cycles)
		}
		return 1, nil
	}}}
}

func (c *collector) slice(t *testing.T, s *session, w *work, q wire.Request) wire.Reply {
	t.Helper()
	q.Op, q.Until = wire.OpSlice, untilGC
	if q.CapNS == 0 {
		q.CapNS = int64(time.Hour)
	}
	a, err := s.runSlice(w, q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSliceHoldsWholeCycles: with cycles of equal length every slice holds
// exactly the operations of the cycles it reports, however long the lead-in.
func TestSliceHoldsWholeCycles(t *testing.T) {
	for _, lead := range []int64{0, 1, 7, 49, 50, 51, 99, 100, 101, 250} {
		for _, cycles := range []int64{0, 1, 3, 8} {
			c := &collector{lengths: func(int64) int64 { return 100 }}
			s, w := c.session()
			for i := range 50 {
				a := c.slice(t, s, w, wire.Request{Lead: lead, Cycles: cycles, Ops: 100 * max(1, cycles)})
				if want := max(1, cycles); a.GC != want || a.Ops != 100*want {
					t.Fatalf("lead %d, cycles %d, slice %d: %d ops in %d cycles", lead, cycles, i, a.Ops, a.GC)
				}
				if i%10 == 9 { // a cycle ends while another contender has the token
					c.cycles++
					c.left = 100
				}
			}
		}
	}
}

// TestSliceIsUnbiased: with cycles of varying length operations per cycle come
// out as their mean, with and without a lead-in.
func TestSliceIsUnbiased(t *testing.T) {
	for name, lengths := range map[string]func(r *rand.Rand, k int64) int64{
		"uniform":  func(r *rand.Rand, k int64) int64 { return 60 + r.Int64N(81) },
		"two-fold": func(r *rand.Rand, k int64) int64 { return 70 + 60*r.Int64N(2) },
	} {
		for _, q := range []wire.Request{{Ops: 100}, {Ops: 100, Lead: 8}, {Ops: 100, Lead: 40}, {Ops: 800, Lead: 60, Cycles: 8}} {
			r := rand.New(rand.NewPCG(1, 2))
			c := &collector{lengths: func(k int64) int64 { return lengths(r, k) }}
			s, w := c.session()
			var ops, gc int64
			for range 2000 {
				a := c.slice(t, s, w, q)
				ops += a.Ops
				gc += a.GC
			}
			if mean := float64(ops) / float64(gc); mean < 98 || mean > 102 {
				t.Errorf("%s, lead %d, cycles %d: %.2f ops per cycle, want 100", name, q.Lead, q.Cycles, mean)
			}
		}
	}
}

// TestSliceRealigns: where too little of the cycle is left, the lead-in goes
// on until the next begins.
func TestSliceRealigns(t *testing.T) {
	c := &collector{lengths: func(int64) int64 { return 100 }}
	s, w := c.session()
	done := func() int64 { return 100*c.cycles + 100 - c.left }
	c.slice(t, s, w, wire.Request{Ops: 100}) // nothing is known at first: to the next cycle, then one whole
	if done() != 200 {
		t.Errorf("the first slice ends after %d operations, want 200", done())
	}
	c.slice(t, s, w, wire.Request{Ops: 100, Lead: 50}) // half is just not too late
	if done() != 200+50+100 {
		t.Errorf("the second ends after %d, want 350", done())
	}
	c.slice(t, s, w, wire.Request{Ops: 100, Lead: 1}) // 51 is
	if done() != 500 {
		t.Errorf("the third ends after %d, want 500", done())
	}
	s.phase = phase{} // another request came between: again nothing is known
	c.slice(t, s, w, wire.Request{Ops: 100, Lead: 30})
	if done() != 700 {
		t.Errorf("the fourth ends after %d, want 700", done())
	}
}

func TestSliceCaps(t *testing.T) {
	never := &collector{lengths: func(int64) int64 { return 1 << 60 }}
	s, w := never.session()
	if a := never.slice(t, s, w, wire.Request{Ops: 10, CapNS: 1, CapOps: 25, Lead: 1 << 40}); a.GC != 0 || a.Ops != 25 {
		t.Errorf("without a cycle: %+v", a)
	}
	long := &collector{lengths: func(int64) int64 { return 1000 }}
	s, w = long.session()
	if a := long.slice(t, s, w, wire.Request{Ops: 10, CapNS: 1, CapOps: 3000}); a.GC < 1 {
		t.Errorf("cap_ops hold a whole cycle, reported %+v", a)
	}
	if a, err := s.runSlice(w, wire.Request{Until: untilOps, Ops: 1 << 60, CapNS: int64(time.Millisecond), CapOps: 10}); err != nil || a.Ops < 10 || a.Ops == 1<<60 {
		t.Errorf("until ops, capped: %+v, %v", a, err)
	}
	if a, err := s.runSlice(w, wire.Request{Until: untilOps, Ops: 7, CapNS: 1, CapOps: 10}); err != nil || a.Ops != 7 {
		t.Errorf("cap_ops are more than ops: %+v, %v", a, err)
	}
	if a, err := s.runSlice(w, wire.Request{Until: untilOps, Ops: 7}); err != nil || a.Ops != 7 {
		t.Errorf("no cap: %+v, %v", a, err)
	}
}

func TestSliceMinimum(t *testing.T) {
	c := &collector{lengths: func(int64) int64 { return 10 }}
	s, w := c.session()
	floor := 5 * time.Millisecond
	if a := c.slice(t, s, w, wire.Request{Ops: 10, Lead: 3, MinNS: int64(floor)}); a.WallNS < int64(floor) || a.Ops != 10*a.GC {
		t.Errorf("%+v: want at least %v and whole cycles of 10 operations", a, floor)
	}
}

func TestWarm(t *testing.T) {
	c := &collector{lengths: func(int64) int64 { return 10 }}
	s, w := c.session()
	hour := int64(time.Hour)
	for _, tt := range []struct {
		q        wire.Request
		gc, from int64
		to       int64
	}{
		{wire.Request{}, 0, minWarmOps, minWarmOps},
		{wire.Request{MinGC: 3, MinNS: hour}, 3, 21, 30},
		{wire.Request{MinGC: 3, CapNS: hour}, 3, 21, 30},
		{wire.Request{MinGC: 1 << 50, MinNS: 1}, 0, minWarmOps, minWarmOps},
		{wire.Request{MinNS: hour, CapNS: 1}, 0, 1, 1},
	} {
		a, err := s.warmUp(w, tt.q)
		if err != nil || a.GC < tt.gc || a.Ops < tt.from || a.Ops > tt.to || a.WallNS <= 0 {
			t.Errorf("%+v: %+v, %v", tt.q, a, err)
		}
	}
	a, err := s.warmUp(w, wire.Request{MinNS: int64(3 * time.Millisecond)})
	if err != nil || a.WallNS < int64(3*time.Millisecond) {
		t.Errorf("%+v, %v", a, err)
	}
}

// garbage is an operation that allocates about 32 kB in pieces, like an
// encoder does, and keeps none of it.
func garbage() Program {
	var hold [8][]byte
	return echo(func(i int) error {
		for k := range hold {
			hold[k] = make([]byte, 4000)
		}
		return nil
	})
}

// TestRealCycles is the law of TestSliceIsUnbiased under the real collector: every slice holds a
// cycle, and operations per cycle are those of a long run. A collector that other processes hold up
// lets a cycle grow: each figure is taken three times at most. The figures are of the default pace
// of collection, whatever GOGC is.
func TestRealCycles(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l := visit(t, garbage())
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1", "2", "3")})
	hour := int64(time.Hour)
	long := func() float64 {
		a := l.ok(wire.Request{Op: wire.OpWarm, On: "w", MinGC: 300, MinNS: hour})
		return float64(a.Ops) / float64(a.GC)
	}
	first := long()
	for _, q := range []wire.Request{{}, {Lead: int64(first * 0.07)}, {Lead: int64(first * 0.3), Cycles: 3}} {
		q.Op, q.On, q.Until, q.CapNS = wire.OpSlice, "w", untilGC, hour
		q.Ops = int64(first) * max(1, q.Cycles)
		agree := false
		for range 3 {
			var ops, gc int64
			for range 150 {
				a := l.ok(q)
				if a.GC < max(1, q.Cycles) {
					t.Fatalf("a slice of %d cycles: %+v", q.Cycles, a)
				}
				if a.CPUNS < 0 || a.IdleCPUNS < 0 || a.WallNS <= 0 {
					t.Fatalf("%+v", a)
				}
				ops += a.Ops
				gc += a.GC
			}
			got, again := float64(ops)/float64(gc), long()
			want := (first + again) / 2
			t.Logf("lead %d, cycles %d: %.1f ops per cycle, long run %.1f (%+.2f %%)", q.Lead, q.Cycles, got, want, 100*(got/want-1))
			if agree = got >= want*0.9 && got <= want*1.1; agree {
				break
			}
			first = again
		}
		if !agree {
			t.Errorf("lead %d, cycles %d: operations per cycle are not those of a long run", q.Lead, q.Cycles)
		}
	}
}

// TestSlicesEndSwept: a slice of whole cycles leaves no garbage of the last
// one to be swept while another contender has the token. What is freed by
// sweeping is counted when it is swept, so the count must stand still.
func TestSlicesEndSwept(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	sample := []metrics.Sample{{Name: "/gc/heap/frees:objects"}}
	frees := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	s := &session{lastCPU: -1, meter: newMeter()}
	var hold [8][]byte
	w := &work{bodies: 1, Work: Work{Do: func(int) (int, error) {
		for k := range hold {
			hold[k] = make([]byte, 4000)
		}
		return 0, nil
	}}}
	left, begun := uint64(0), frees()
	for range 50 {
		if a, err := s.runSlice(w, wire.Request{Until: untilGC, CapNS: int64(time.Hour)}); err != nil || a.GC == 0 {
			t.Fatalf("%+v, %v", a, err)
		}
		before := frees()
		time.Sleep(time.Millisecond)
		left += frees() - before
	}
	t.Logf("%d of %d objects were swept after the slices", left, frees()-begun)
	if freed := frees() - begun; freed == 0 || float64(left) > 0.05*float64(freed) {
		t.Errorf("%d of %d objects were swept after the slices", left, freed)
	}
}

// TestLoopDoesNotAllocate: neither the loop, nor looking at clock, CPU and
// cycles, nor a whole slice or warm-up allocates anything of its own.
func TestLoopDoesNotAllocate(t *testing.T) {
	s := &session{lastCPU: -1, meter: newMeter()}
	w := &work{bodies: 3, Work: Work{Do: func(int) (int, error) { return 1, nil }}}
	for name, f := range map[string]func(){
		"loop": func() { var t tally; w.run(1000, &t) },
		"look": func() { s.meter.cycles(); cpuNS(); s.meter.awaitSweep() },
		"ops":  func() { _, _ = s.runSlice(w, wire.Request{Until: untilOps, Ops: 100_000, Lead: 10}) },
		"gc":   func() { _, _ = s.runSlice(w, wire.Request{Until: untilGC, Ops: 1, CapNS: 1_000_000}) },
		"warm": func() { _, _ = s.warmUp(w, wire.Request{MinGC: 1, MinNS: 1_000_000}) },
	} {
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("%s allocates %v objects", name, n)
		}
	}
}

// TestStatsAreExact: what an operation allocates is counted to the byte,
// whatever the number of operations.
func TestStatsAreExact(t *testing.T) {
	var keep []byte
	s := &session{lastCPU: -1, meter: newMeter()}
	w := &work{bodies: 1, Work: Work{Do: func(int) (int, error) { keep = make([]byte, 64); return len(keep), nil }}}
	for _, n := range []int64{1, 10, 5000} {
		// Other goroutines of the test binary may allocate meanwhile: the
		// least of a few passes is this one's own.
		allocs, bytes := int64(1<<62), int64(1<<62)
		for range 5 {
			a, err := s.countAllocs(w, wire.Request{Ops: n})
			if err != nil {
				t.Fatal(err)
			}
			allocs, bytes = min(allocs, a.Allocs), min(bytes, a.Bytes)
		}
		if allocs != n || bytes != 64*n {
			t.Errorf("%d ops: %d allocs, %d B; want %d, %d", n, allocs, bytes, n, 64*n)
		}
	}
}

// TestIdleCPU: what the process burns between two slices is counted apart from
// what it burns in them.
func TestIdleCPU(t *testing.T) {
	if cpuNS() == 0 {
		t.Skip("CPU time is not known here")
	}
	l := visit(t, echo(nil))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	slice := wire.Request{Op: wire.OpSlice, On: "w", Until: untilOps, Ops: 1}
	l.ok(slice)
	const burn = 50 * time.Millisecond
	for start := cpuNS(); cpuNS()-start < int64(burn); {
	}
	if a := l.ok(slice); a.IdleCPUNS < int64(burn) || a.CPUNS > a.IdleCPUNS {
		t.Errorf("after %v of CPU between slices: %+v", burn, a)
	}
}

// TestLookShare: batches are long enough for what a look costs.
func TestLookShare(t *testing.T) {
	m := newMeter()
	if m.interval < minInterval || m.maxYield <= 0 {
		t.Errorf("looks every %v, a quick yield is %v", m.interval, m.maxYield)
	}
	m.interval = 100 * time.Microsecond
	for pace, want := range map[float64]int64{0: 1, -1: 1, 0.001: maxBatch, 1: 100_000, 1000: 100, 60_000: 1, 1e9: 1, 1e300: 1} {
		if got := m.batchSize(pace); got != want {
			t.Errorf("pace %v ns: batch of %d, want %d", pace, got, want)
		}
	}
}

func BenchmarkLook(b *testing.B) {
	m := newMeter()
	start := time.Now()
	for b.Loop() {
		m.cycles()
		_ = time.Since(start)
	}
}

func BenchmarkLoop(b *testing.B) {
	w := &work{bodies: 64, Work: Work{Do: func(int) (int, error) { return 1, nil }}}
	var t tally
	w.run(int64(b.N), &t)
}
