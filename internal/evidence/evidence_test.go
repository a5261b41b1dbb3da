package evidence

import (
	"math"
	"testing"

	"github.com/tarebench/tare"
)

// taken is evidence of two rounds with the null contender idle for 100 ns of CPU time in
// the first and lost in the second, and what a mark says of the second round of b.
func taken(counts bool) Evidence {
	e := Evidence{
		Study:      tare.Study{Metrics: []string{"cpu", "allocs"}, Workloads: []tare.Workload{{ID: "w"}}},
		Contenders: []tare.Contender{{ID: "a", Role: tare.RoleBaseline}, {ID: "b", Role: tare.RoleContender}, {ID: tare.NullID, Role: tare.RoleNull}},
	}
	for round := 1; round <= 2; round++ {
		for _, id := range []string{"a", "b"} {
			t := tare.Trial{Round: round, Tau: 1, Contender: id, Samples: map[string]tare.Sample{"w": {"allocs_per_op": float64(round)}}}
			if id == "b" && round == 2 && !counts {
				t.Error = &tare.TrialError{Class: tare.ErrExit}
			}
			e.Trials = append(e.Trials, t)
			e.Slices = append(e.Slices, tare.Slice{Round: round, Tau: 1, Workload: "w", Contender: id, Ops: 10, CPUNS: 1000, IdleCPUNS: 150})
		}
	}
	e.Slices = append(e.Slices, tare.Slice{Round: 1, Tau: 1, Workload: "w", Contender: tare.NullID, Ops: 10, CPUNS: 10, IdleCPUNS: 100})
	return e
}

// TestIndex: CPU time is that of the process less what an idle one uses, also in a round
// that the null contender lost.
func TestIndex(t *testing.T) {
	x := taken(true).Index()
	cpu, _ := tare.MetricNamed("cpu")
	for _, id := range []string{"a", "b"} {
		for round := 1; round <= 2; round++ {
			if v, ok := x.InRound(cpu, At(round, "w", id)); !ok || math.Abs(v-105) > 1e-9 {
				t.Errorf("%s in round %d: %v ns, %t, want 105", id, round, v, ok)
			}
		}
	}
	allocs, _ := tare.MetricNamed("allocs")
	failed := taken(false).Index()
	if got := failed.PerRound(cpu, "w", "b"); len(got) != 1 {
		t.Errorf("what was measured before a process died counts: %v", got)
	}
	if s := failed.Sample(At(2, "w", "b")); s != nil {
		t.Errorf("so does its sample: %v", s)
	}
	if got := x.PerRound(allocs, "w", "a"); len(got) != 2 || got[0] != 1 || got[1] != 2 {
		t.Errorf("allocations by round: %v", got)
	}
}

// TestIndexedOnce: what reads the evidence of a look reads the index that it was given, and
// builds none.
func TestIndexedOnce(t *testing.T) {
	e := taken(true).Indexed()
	e.Slices, e.Trials = nil, nil
	if n := len(e.Indexed().Index().Rounds()); n != 2 {
		t.Errorf("%d rounds: the index was built anew", n)
	}
}

// TestFromResult: what a result keeps is read by the same rules. Trials that do not count
// are in no value, and sums of slices are in the samples.
func TestFromResult(t *testing.T) {
	cpu, _ := tare.MetricNamed("cpu")
	r := &tare.Result{}
	for round := 1; round <= 3; round++ {
		r.Trials = append(r.Trials, tare.Trial{Round: round, Tau: 1, Contender: "a", Samples: map[string]tare.Sample{"w": {cpu.Key: float64(round)}}})
	}
	r.Trials[1].Void = []tare.VoidPart{{}}
	if got := FromResult(r).Index().PerRound(cpu, "w", "a"); len(got) != 2 || got[0] != 1 || got[1] != 3 {
		t.Errorf("CPU time by round: %v", got)
	}
}
