package plan_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/stats"
)

// A Williams design balances position and predecessor.
func TestWilliamsIsBalanced(t *testing.T) {
	for k := 2; k <= 11; k++ {
		rows := plan.Williams(k)
		want := k
		if k%2 == 1 {
			want = 2 * k
		}
		if len(rows) != want {
			t.Fatalf("k=%d: %d rows, want %d", k, len(rows), want)
		}
		position := map[[2]int]int{}
		follows := map[[2]int]int{}
		for _, row := range rows {
			for i, c := range row {
				position[[2]int{i, c}]++
				if i > 0 {
					follows[[2]int{row[i-1], c}]++
				}
			}
		}
		if len(position) != k*k {
			t.Errorf("k=%d: %d position/treatment pairs, want %d", k, len(position), k*k)
		}
		for p, n := range position {
			if n != want/k {
				t.Errorf("k=%d: treatment %d is %d times in position %d, want %d", k, p[1], n, p[0], want/k)
			}
		}
		if len(follows) != k*(k-1) {
			t.Errorf("k=%d: %d ordered pairs, want %d", k, len(follows), k*(k-1))
		}
		for p, n := range follows {
			if n != want/k {
				t.Errorf("k=%d: %d follows %d %d times, want %d", k, p[1], p[0], n, want/k)
			}
		}
	}
}

func pilots(workload string, allocating bool, ids ...string) (out []tare.Pilot) {
	for _, id := range ids {
		p := tare.Pilot{Contender: id, Workload: workload, NSPerOp: 50e3, SetupNS: 20e6}
		if id == tare.NullID {
			p.NSPerOp = 5
		} else if allocating {
			p.BytesPerOp, p.AllocsPerOp, p.CycleNS = 30e3, 600, 8e6
		}
		out = append(out, p)
	}
	return out
}

var ids = []string{"base", "control", "a", "b", "null"}

func study(t *testing.T, allocating bool, o plan.Options) tare.Plan {
	t.Helper()
	p := plan.New([]tare.Workload{{ID: "w"}}, ids, pilots("w", allocating, ids...), o)
	return p
}

func TestSlicesOfWorkThatAllocatesNothing(t *testing.T) {
	p := study(t, false, plan.Options{Rounds: 10})
	s, _ := p.Slicing("w")
	if s.Count != 70 { // five contenders: a multiple of ten, not below 64
		t.Errorf("count = %d, want 70", s.Count)
	}
	if s.TargetNS != 1e6 || s.Ops["a"] != 20 || s.Ops["null"] != 200000 {
		t.Errorf("slices of %d ns, a %d ops, null %d ops; want 1 ms, 20, 200000", s.TargetNS, s.Ops["a"], s.Ops["null"])
	}
	for id, u := range s.Until {
		if u != tare.UntilOps {
			t.Errorf("%s: until %s, want ops", id, u)
		}
	}
}

func TestSlicesOfWorkThatAllocatesHoldWholeCycles(t *testing.T) {
	p := study(t, true, plan.Options{Rounds: 10})
	s, _ := p.Slicing("w")
	if s.Count != 20 || s.Block != 2 || s.RatioOfSums {
		t.Errorf("count %d, block %d, sums %v; want 20, 2, false", s.Count, s.Block, s.RatioOfSums)
	}
	if s.Until["a"] != tare.UntilGC || s.Cycles["a"] != 2 || s.Ops["a"] != 320 {
		t.Errorf("a: until %s, %d cycles, %d ops; want gc, 2, 320", s.Until["a"], s.Cycles["a"], s.Ops["a"])
	}
	if s.Until[tare.NullID] != tare.UntilOps || s.TargetNS != 16e6 {
		t.Errorf("null: until %s for %d ns; want ops for the others' 16 ms", s.Until[tare.NullID], s.TargetNS)
	}
}

func TestACycleThatDoesNotFitASliceMakesSumsPrimary(t *testing.T) {
	ps := pilots("w", true, ids...)
	for i := range ps {
		if ps[i].CycleNS > 0 {
			ps[i].CycleNS = 3e9
		}
	}
	p := plan.New([]tare.Workload{{ID: "w"}}, ids, ps, plan.Options{Rounds: 10})
	s, _ := p.Slicing("w")
	if !s.RatioOfSums || s.Until["a"] != tare.UntilOps || s.Ops["a"] != 240 {
		t.Errorf("sums %v, until %s, %d ops; want true, ops, 240 (12 ms)", s.RatioOfSums, s.Until["a"], s.Ops["a"])
	}
}

// A large live heap makes cycles long: a slice is one of them, there are few,
// and none is made eight times as long.
func TestAHugeCycleIsASlice(t *testing.T) {
	ps := pilots("w", true, ids...)
	for i := range ps {
		if ps[i].CycleNS > 0 {
			ps[i].CycleNS = 600e6
		}
	}
	p := plan.New([]tare.Workload{{ID: "w"}}, ids, ps, plan.Options{Rounds: 10})
	s, _ := p.Slicing("w")
	if !s.RatioOfSums || s.Until["a"] != tare.UntilGC || s.Cycles["a"] != 1 || s.Count != 2 || s.Block != 1 {
		t.Errorf("sums %v, until %s, %d cycles, %d slices in blocks of %d; want true, gc, 1, 2, 1", s.RatioOfSums, s.Until["a"], s.Cycles["a"], s.Count, s.Block)
	}
	if n := len(plan.Round(p, 1, 1).Orders["w"]); n != 2 {
		t.Errorf("%d slices in a round, want 2", n)
	}
	if r := plan.Round(p, 1, plan.LongTau); len(r.Workloads) != 0 || len(r.Orders) != 0 {
		t.Errorf("a round of long slices asks for %v", r.Orders)
	}
}

// Where a workload says how long its slices are, everybody does as many
// operations in one as the slowest: what comes once in a slice would otherwise
// count the more the fewer operations share it.
func TestASliceOfOneLengthHasOneNumberOfOperations(t *testing.T) {
	for _, allocates := range []bool{false, true} {
		ps := pilots("w", allocates, ids...)
		for i := range ps {
			ps[i].CycleNS = 0
			ps[i].NSPerOp = float64(1000 * (i + 1))
		}
		p := plan.New([]tare.Workload{{ID: "w", Slice: 40 * time.Millisecond}}, ids, ps, plan.Options{Rounds: 10, Most: 16})
		s, _ := p.Slicing("w")
		want := int64(40e6) / int64(1000*len(ids))
		for _, id := range ids {
			if s.Ops[id] != want || s.Until[id] != tare.UntilOps {
				t.Errorf("%s does %d operations until %s, want %d", id, s.Ops[id], s.Until[id], want)
			}
		}
	}
}

// Longer cycles leave time for more rounds, which say more than more slices.
func TestAVeryLongCycleIsAskedForOnce(t *testing.T) {
	ps := pilots("w", true, ids...)
	for i := range ps {
		if ps[i].CycleNS > 0 {
			ps[i].CycleNS = 1100e6
		}
	}
	p := plan.New([]tare.Workload{{ID: "w"}}, ids, ps, plan.Options{Rounds: 10})
	if s, _ := p.Slicing("w"); s.Count != 1 || !s.RatioOfSums || s.Cycles["a"] != 1 || len(plan.Round(p, 1, 1).Orders["w"]) != 1 {
		t.Errorf("%+v, want one slice of one cycle", s)
	}
}

// A slice begins with a turn of the pool, and is about three of them long
// within reason.
func TestTheLeadInIsATurnOfThePool(t *testing.T) {
	for _, c := range []struct {
		pool         int
		cycles, lead int64
	}{
		{1, 2, 22},    // seven hundredths of 320 operations in two cycles of 8 ms
		{32, 2, 32},   // a turn
		{96, 2, 96},   // 96 operations of 50 µs want 14.4 ms, to which two cycles are nearest
		{640, 3, 240}, // would want 96 ms: 24 ms have to do, and half of them
	} {
		p := plan.New([]tare.Workload{{ID: "w", Pool: c.pool}}, ids, pilots("w", true, ids...), plan.Options{Rounds: 10})
		s, _ := p.Slicing("w")
		if s.Cycles["a"] != c.cycles || s.Lead["a"] != c.lead {
			t.Errorf("pool of %d: %d cycles, lead-in of %d operations; want %d and %d", c.pool, s.Cycles["a"], s.Lead["a"], c.cycles, c.lead)
		}
	}
}

// One contender whose cycles are too long takes the whole workload out of
// whole cycles: contenders are never cut by different rules.
func TestAllContendersAreCutByOneRule(t *testing.T) {
	ps := pilots("w", true, ids...)
	ps[2].CycleNS = 0
	p := plan.New([]tare.Workload{{ID: "w"}}, ids, ps, plan.Options{Rounds: 10})
	s, _ := p.Slicing("w")
	for id, u := range s.Until {
		if u != tare.UntilOps {
			t.Errorf("%s: until %s, want ops for all", id, u)
		}
	}
}

func TestLongCyclesMakeFewerSlices(t *testing.T) {
	ps := pilots("w", true, ids...)
	for i := range ps {
		if ps[i].CycleNS > 0 {
			ps[i].CycleNS = 25e6
		}
	}
	p := plan.New([]tare.Workload{{ID: "w"}}, ids, ps, plan.Options{Rounds: 10})
	s, _ := p.Slicing("w")
	if s.RatioOfSums || s.Count != 10 || s.Until["a"] != tare.UntilGC {
		t.Errorf("sums %v, %d slices until %s; want whole cycles in 10 slices", s.RatioOfSums, s.Count, s.Until["a"])
	}
}

func TestLongerSlicesOnDemandStillHoldWholeCycles(t *testing.T) {
	p := study(t, true, plan.Options{Rounds: 10, Slice: 64 * time.Millisecond})
	s, _ := p.Slicing("w")
	if s.Cycles["a"] != 8 || s.Ops["a"] != 1280 || s.CapNS < 64e6 || s.RatioOfSums {
		t.Errorf("%d cycles, %d ops, cap %d, sums %v; want 8, 1280, at least 64 ms, false", s.Cycles["a"], s.Ops["a"], s.CapNS, s.RatioOfSums)
	}
}

func TestBudgets(t *testing.T) {
	long := study(t, false, plan.Options{Budget: 10 * time.Minute})
	if long.RoundsPlanned != plan.MaxRounds || long.Looks[len(long.Looks)-1] != plan.MaxRounds {
		t.Errorf("ten minutes plan %d rounds with looks %v; want %d", long.RoundsPlanned, long.Looks, plan.MaxRounds)
	}
	if len(long.Looks) != 1 {
		t.Errorf("looks %v where none can end the study", long.Looks)
	}
	if early := study(t, false, plan.Options{Budget: 10 * time.Minute, Early: true}); !slices.Equal(early.Looks, stats.Looks(plan.MaxRounds)) {
		t.Errorf("looks %v where each may end the study", early.Looks)
	}
	until := study(t, false, plan.Options{Budget: time.Hour, Until: 0.02})
	if !slices.Equal(until.Looks, stats.Looks(stats.LastLook)) || until.RoundsPlanned != stats.LastLook || until.Until != 0.02 {
		t.Errorf("an hour until 2 %% is decided plans %d rounds with looks %v", until.RoundsPlanned, until.Looks)
	}
	short := study(t, false, plan.Options{Budget: time.Second})
	if short.RoundsPlanned != plan.MinRounds || !short.Stretched {
		t.Errorf("a second plans %d rounds, stretched %v; want %d, true", short.RoundsPlanned, short.Stretched, plan.MinRounds)
	}
	if short.Fits {
		t.Error("a second is said to fit")
	}
	own := study(t, false, plan.Options{Budget: time.Second, User: true})
	if own.RoundsPlanned != plan.LeastRounds(1, 1) || !own.Stretched || own.Fits {
		t.Errorf("a second of the user's own plans %d rounds, stretched %v, fits %v; want %d, true, false", own.RoundsPlanned, own.Stretched, own.Fits, plan.LeastRounds(1, 1))
	}
}

// A budget that is a limit is never stretched, however few rounds it has time for.
func TestStrictBudgetIsNotStretched(t *testing.T) {
	whole := study(t, false, plan.Options{Budget: time.Hour})
	for _, rounds := range []float64{0.2, 1.5, 5.5} {
		p := study(t, false, plan.Options{Budget: time.Duration(rounds * whole.SecondsPerRound * 0.2e9), User: true, Strict: true})
		if n := int((p.BudgetSeconds) / p.SecondsPerRound); p.RoundsPlanned != max(1, n) || p.Fits || p.Stretched {
			t.Errorf("%v rounds: %d are planned of %v s in %v s; fits %v, stretched %v", rounds, p.RoundsPlanned, p.SecondsPerRound, p.BudgetSeconds, p.Fits, p.Stretched)
		}
	}
}

// All time of an operation counts that of a benchmark, timed or not, and the start of its
// process once a round.
func TestRoundsCountWhatIsNotTimed(t *testing.T) {
	of := func(edit func(*tare.Pilot)) tare.Plan {
		works := []tare.Workload{{ID: "v", Slice: 4 * time.Millisecond}, {ID: "w", Slice: 4 * time.Millisecond}}
		all := slices.Concat(pilots("v", false, ids...), pilots("w", false, ids...))
		for i := range all {
			if all[i].Process = "p"; all[i].Contender == "a" {
				edit(&all[i])
			}
		}
		return plan.New(works, ids, all, plan.Options{Rounds: 1, Most: 16})
	}
	plain := of(func(*tare.Pilot) {})
	stops := of(func(p *tare.Pilot) { p.UntimedNS = 450e3 })
	var ops int64
	for _, s := range plain.Slices {
		ops += int64(s.Count) * s.Ops["a"]
	}
	if more := stops.SecondsPerRound - plain.SecondsPerRound; more < 420e-6*float64(ops) || more > 500e-6*float64(ops) {
		t.Errorf("450 µs more of each of %d operations are %v s a round", ops, more)
	}
	if a, b := plain.Slices[0].MemoryOps, stops.Slices[0].MemoryOps; b*9 > a {
		t.Errorf("%d operations of 50 µs are counted, %d that take ten times as long", a, b)
	}
	starts := of(func(p *tare.Pilot) { p.StartNS = 3e9 })
	if more := starts.SecondsPerRound - plain.SecondsPerRound; more < 2.99 || more > 3.01 {
		t.Errorf("a process of two benchmarks that starts in 3 s costs %v s a round", more)
	}
	counted := of(func(p *tare.Pilot) { p.Counted, p.AroundNS = true, 1e9 })
	around := of(func(p *tare.Pilot) { p.AroundNS = 1e9 })
	if less := around.SecondsPerRound - counted.SecondsPerRound; less < 2 {
		t.Errorf("without a pass that counts allocations, rounds are %v s shorter", less)
	}
}

// A slice of a benchmark in whole runs is a run, of which there are two in a round,
// however little of it is timed.
func TestWholeRunsAreSlices(t *testing.T) {
	for _, ns := range []float64{50, 20e6, 700e6} {
		var all []tare.Pilot
		for _, id := range ids {
			all = append(all, tare.Pilot{Contender: id, Workload: "w", NSPerOp: ns, BytesPerOp: 1000, AroundNS: 400e6, Counted: true})
		}
		p := plan.New([]tare.Workload{{ID: "w"}}, ids, all, plan.Options{Rounds: 1, Most: 16})
		if s, _ := p.Slicing("w"); s.Count != 2 || s.Ops["a"] != 1 || s.Block != 1 || !s.RatioOfSums {
			t.Errorf("runs with %v ns that are timed: %+v", ns, s)
		}
	}
}

// A slice of a length that was chosen for work that allocates is not made longer.
func TestChosenSlicesOfWorkThatAllocates(t *testing.T) {
	all := pilots("w", true, ids...)
	for i := range all {
		all[i].CycleNS = 0 // testing tells nothing of collections
	}
	p := plan.New([]tare.Workload{{ID: "w", Slice: 20 * time.Microsecond}}, ids, all, plan.Options{Rounds: 1, Most: 16})
	if s, _ := p.Slicing("w"); s.TargetNS != 50e3 || s.Ops["a"] != 1 {
		t.Errorf("slices of %d ns and %d operations, want one of 50 µs", s.TargetNS, s.Ops["a"])
	}
}

// Rounds with longer slices take the time of several others: a plan has them only
// where there are enough of them to say anything.
func TestLongRoundsOnlyWhereTheyCount(t *testing.T) {
	with := 0
	for _, budget := range []time.Duration{5 * time.Second, 20 * time.Second, time.Minute, 2 * time.Minute, 10 * time.Minute, time.Hour} {
		p := study(t, false, plan.Options{Budget: budget, User: true, Long: true})
		if p.LongEvery > 0 {
			with++
		}
		if long := p.RoundsPlanned / plan.LongEvery; p.LongEvery > 0 && long < stats.LongRounds {
			t.Errorf("%v: %d long rounds among %d", budget, long, p.RoundsPlanned)
		}
	}
	if with == 0 || with == 6 {
		t.Errorf("%d of 6 budgets have long rounds", with)
	}
}

// As many rounds as a budget is stretched to give each workload an interval.
func TestLeastRoundsGiveIntervals(t *testing.T) {
	for workloads, want := range map[int]int{0: 8, 1: 8, 6: 8, 7: 9, 33: 11, 102: 12, 1000: 16} {
		if got := plan.LeastRounds(workloads, 1); got != want {
			t.Errorf("%d workloads: %d rounds, want %d", workloads, got, want)
		}
		effects := make([]float64, plan.LeastRounds(workloads, 1))
		for i := range effects {
			effects[i] = float64(i)
		}
		if _, _, ok := stats.Interval(effects, stats.Alpha/float64(max(1, workloads))); !ok {
			t.Errorf("%d workloads: no interval of %d rounds", workloads, len(effects))
		}
	}
}

// A budget that is too short for twelve rounds by the slice rule takes slices
// from each round before it stretches.
func TestShortBudgetsTakeSlices(t *testing.T) {
	for _, allocating := range []bool{false, true} {
		long := study(t, allocating, plan.Options{Budget: 10 * time.Minute})
		short := study(t, allocating, plan.Options{Budget: time.Duration(0.8 * plan.MinRounds * long.SecondsPerRound * 1e9)})
		a, _ := long.Slicing("w")
		b, _ := short.Slicing("w")
		if !short.Fits || short.Stretched || short.RoundsPlanned < plan.MinRounds {
			t.Errorf("allocating %v: %d rounds, fits %v, stretched %v; want %d or more that fit", allocating, short.RoundsPlanned, short.Fits, short.Stretched, plan.MinRounds)
		}
		if b.Count >= a.Count || b.Count < 4 {
			t.Errorf("allocating %v: %d slices for %d; want fewer, and at least two blocks", allocating, b.Count, a.Count)
		}
	}
}

// Eight contenders do not take eight visits a round where four are wanted, only
// to balance their order: each round takes other rows of the design.
func TestFewSlicesOfManyContenders(t *testing.T) {
	many := []string{"base", "control", "a", "b", "c", "d", "e", "null"}
	w := tare.Workload{ID: "w", Traffic: &tare.Traffic{Connections: 10}}
	p := plan.New([]tare.Workload{w}, many, pilots("w", false, many...), plan.Options{Budget: time.Second})
	if s, _ := p.Slicing("w"); s.Count != 4 {
		t.Errorf("%d visits a round at the shortest budget, want 4", s.Count)
	}
}

// What is measured of the variance decides how many slices a round has: where
// rounds differ much from each other more slices tell nothing new.
func TestSlicesFollowTheVariance(t *testing.T) {
	count := func(v stats.Variance) int {
		p := study(t, true, plan.Options{Budget: time.Hour, Measured: map[string]stats.Variance{"w": v}})
		s, _ := p.Slicing("w")
		return s.Count
	}
	between := count(stats.Variance{Within: 0.01, Between: 0.02, Rounds: 100})
	usual := count(stats.Variance{})
	within := count(stats.Variance{Within: 0.04, Between: 0, Rounds: 100})
	if between != 4 || between > usual || usual > within || within <= between {
		t.Errorf("%d slices where rounds differ, %d as a rule, %d where slices differ; want 4 and rising", between, usual, within)
	}
}

// No ratio is taken of the null contender: its slices are a tenth as long, and
// as many.
func TestBriefContenders(t *testing.T) {
	for _, allocating := range []bool{false, true} {
		p := study(t, allocating, plan.Options{Rounds: 10, Brief: []string{"null"}})
		whole := study(t, allocating, plan.Options{Rounds: 10})
		a, _ := whole.Slicing("w")
		b, _ := p.Slicing("w")
		if b.Ops["null"] != a.Ops["null"]/10 || b.Ops["a"] != a.Ops["a"] || b.Count != a.Count {
			t.Errorf("null makes %d of %d operations, a %d of %d", b.Ops["null"], a.Ops["null"], b.Ops["a"], a.Ops["a"])
		}
	}
	w := tare.Workload{ID: "w", Traffic: &tare.Traffic{Connections: 50}}
	p := plan.New([]tare.Workload{w}, ids, pilots("w", false, ids...), plan.Options{Rounds: 10, Brief: []string{"null"}})
	if s, _ := p.Slicing("w"); s.Ops["null"] < 500 {
		t.Errorf("a visit to the null server is %d answers over 50 connections: that is a burst", s.Ops["null"])
	}
}

// The last round replaces the next look, so that evidence is always judged at
// the end.
func TestTheLastRoundIsALook(t *testing.T) {
	for n := plan.MinRounds; n <= plan.MaxRounds; n++ {
		p := study(t, false, plan.Options{Budget: time.Duration(float64(n)*0.4711*1e9) + time.Millisecond})
		if last := p.Looks[len(p.Looks)-1]; last != p.RoundsPlanned {
			t.Fatalf("%d rounds planned, looks %v", p.RoundsPlanned, p.Looks)
		}
	}
}

// A round depends on the plan's seed and its index alone.
func TestRoundsAreReproducible(t *testing.T) {
	p := study(t, true, plan.Options{Seed: 7, Rounds: 10})
	seen := map[string]bool{}
	for i := 1; i <= 10; i++ {
		a, b := plan.Round(p, i, 1), plan.Round(p, i, 1)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("round %d differs between two calls", i)
		}
		seen[fmt.Sprint(a.Start, a.Orders)] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d different rounds of 10", len(seen))
	}
	q := p
	q.Seed = "8"
	if reflect.DeepEqual(plan.Round(p, 1, 1).Orders, plan.Round(q, 1, 1).Orders) {
		t.Error("another seed gives the same orders")
	}
}

// Within a round every contender is equally often in each position.
func TestOrdersAreBalanced(t *testing.T) {
	p := study(t, true, plan.Options{Seed: 3, Rounds: 1})
	orders := plan.Round(p, 1, 1).Orders["w"]
	count := map[string]int{}
	for _, o := range orders {
		for pos, id := range o {
			count[fmt.Sprint(pos, id)]++
		}
	}
	for k, n := range count {
		if n != len(orders)/len(ids) {
			t.Errorf("%s: %d times, want %d", k, n, len(orders)/len(ids))
		}
	}
}

// Among many contenders a round does not hold a whole square, or it would last
// for ever; each takes other rows.
func TestManyContendersTakeRowsOfTheSquare(t *testing.T) {
	var many []string
	for i := range 15 {
		many = append(many, fmt.Sprint("c", i))
	}
	p := plan.New([]tare.Workload{{ID: "w", Pool: 64}}, many, pilots("w", true, many...), plan.Options{Rounds: 10})
	s, _ := p.Slicing("w")
	if s.Count%2 != 0 || s.Count < 6 || s.Count > 32 {
		t.Errorf("%d slices, want an even number that fits a round", s.Count)
	}
	rows := map[string]bool{}
	for i := 1; i <= 10; i++ {
		for _, o := range plan.Round(p, i, 1).Orders["w"] {
			if len(o) != len(many) {
				t.Fatalf("%d contenders in an order, want %d", len(o), len(many))
			}
			rows[fmt.Sprint(o)] = true
		}
	}
	if len(rows) < 8*s.Count {
		t.Errorf("%d different orders in ten rounds of %d", len(rows), s.Count)
	}
}

func TestTrialIsolationKeepsOneOrder(t *testing.T) {
	p := study(t, true, plan.Options{Seed: 3, Rounds: 1, Isolation: tare.TrialWise})
	s, _ := p.Slicing("w")
	if !s.RatioOfSums {
		t.Error("whole trials are compared by the ratio of sums")
	}
	o := plan.Round(p, 1, 1).Orders["w"]
	for _, x := range o {
		if !reflect.DeepEqual(x, o[0]) {
			t.Fatalf("orders differ within a round: %v and %v", x, o[0])
		}
	}
}
