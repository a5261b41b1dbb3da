package lab

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/judge"
)

// countIndexes returns how often f builds an index of evidence: how often it allocates at the
// first place of newIndex that does.
func countIndexes(f func()) int64 {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	before := countAllocations("internal/evidence.newIndex")
	f()
	return countAllocations("internal/evidence.newIndex") - before
}

// countAllocations returns the number of allocations so far at the first line at which function
// allocates. If that line allocates several objects, it counts one of them.
func countAllocations(function string) int64 {
	for range 3 { // the profile is that of the collection before the last
		runtime.GC()
	}
	records := make([]runtime.MemProfileRecord, 1000)
	n, ok := runtime.MemProfile(records, true)
	for ; !ok; n, ok = runtime.MemProfile(records, true) {
		records = make([]runtime.MemProfileRecord, 2*n)
	}
	counts, first := map[uintptr]int64{}, 0 // by place in the first line
	for _, r := range records[:n] {
		for frames := runtime.CallersFrames(r.Stack()); ; {
			f, more := frames.Next()
			if strings.HasSuffix(f.Function, function) && (first == 0 || f.Line <= first) {
				if f.Line < first {
					clear(counts)
				}
				first = f.Line
				counts[f.PC] += r.AllocObjects
			}
			isRuntime := strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, "internal/runtime/")
			if !more || !isRuntime {
				break
			}
		}
	}
	var most int64
	for _, n := range counts {
		most = max(most, n)
	}
	return most
}

// measuredRun returns a run that has measured two contenders in 12 rounds, on workloads of three sizes.
func measuredRun() *run {
	ids := []string{"a", "b", tare.ControlID, tare.NullID}
	roles := []tare.Role{tare.RoleBaseline, tare.RoleContender, tare.RoleControl, tare.RoleNull}
	r := &run{study: tare.Study{
		ID: "look", Kind: "codec", Baseline: "a", Metrics: []string{"time", "cpu", "allocs"},
		Criteria: []tare.Criterion{{Contender: "b", Metric: "time", Ratio: "<= 0.9"}},
		Claims: []tare.Claim{
			{ID: "1", Kind: tare.ClaimRatio, Contender: "b", Workload: "w1", Metric: "time", Value: 50, Baseline: 100, Statement: "half"},
			{ID: "2", Kind: tare.ClaimGrowth, Contender: "b", Workloads: []string{"w1", "w2", "w3"}, Metric: "time", Value: 1, Statement: "linear"},
		},
	}}
	for i, id := range ids {
		r.contenders = append(r.contenders, tare.Contender{ID: id, Role: roles[i]})
	}
	const rounds, perRound = 12, 4
	r.plan = tare.Plan{RoundsPlanned: rounds, Looks: []int{rounds}, SecondsPerRound: 1}
	for n, size := range []int64{1, 4, 16} {
		w := tare.Workload{ID: fmt.Sprintf("w%d", n+1), Fixture: "f", Op: "get", Pool: 1, Bytes: 100 * size}
		r.study.Workloads = append(r.study.Workloads, w)
		r.plan.Slices = append(r.plan.Slices, tare.Slicing{Workload: w.ID, Contenders: ids, Count: perRound, Block: 2})
	}
	for round := 1; round <= rounds; round++ {
		r.rounds = append(r.rounds, tare.Round{Index: round, Tau: 1})
		for i, id := range ids {
			trial := tare.Trial{Round: round, Tau: 1, Contender: id, Samples: map[string]tare.Sample{}}
			for _, w := range r.study.Workloads {
				trial.Samples[w.ID] = tare.Sample{"allocs_per_op": 3, tare.KeyOps: 10 * perRound}
				wall := int64([]int{1000, 500, 1000, 10}[i]+round) * w.Bytes / 100
				for index := range perRound {
					r.slices = append(r.slices, tare.Slice{Round: round, Index: index, Tau: 1, Workload: w.ID, Contender: id, Ops: 10, WallNS: wall + int64(index), CPUNS: wall})
				}
			}
			r.trials = append(r.trials, trial)
		}
	}
	return r
}

// TestLookBuildsOneIndex: all that a look computes from the rounds so far reads one index of them.
func TestLookBuildsOneIndex(t *testing.T) {
	if n := countIndexes(func() { evidence.Evidence{}.Indexed(); evidence.Evidence{}.Index() }); n != 2 {
		t.Fatalf("of two indexes %d are counted", n)
	}
	var o judgedRounds
	n := countIndexes(func() {
		r := measuredRun()
		o = r.judgeEvidence(tare.Machine{}, true)
		judge.Settled(o.data, o.comparisons, o.findings, 0.1)
		judge.DecidedTo(0.1, o.data, o.comparisons, o.findings, o.verdicts, o.claims)
		judge.BreakEven(o.data, o.findings)
		judge.Resolution(o.data, o.comparisons)
		correctSamples(o.data)
	})
	if len(o.comparisons) == 0 || len(o.verdicts) == 0 || len(o.claims) == 0 || len(o.scaling) == 0 {
		t.Fatalf("the look found %d comparisons, %d verdicts, %d claims, %d exponents", len(o.comparisons), len(o.verdicts), len(o.claims), len(o.scaling))
	}
	if n != 1 {
		t.Errorf("a look built %d indexes", n)
	}
}
