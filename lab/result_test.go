package lab

import (
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// TestCorrectSamples: a sample has the CPU time that comparisons are made from, which is
// without what an idle process used.
func TestCorrectSamples(t *testing.T) {
	d := evidence.Evidence{
		Contenders: []tare.Contender{{ID: "a", Role: tare.RoleBaseline}, {ID: tare.NullID, Role: tare.RoleNull}},
		Trials:     []tare.Trial{{Round: 1, Tau: 1, Contender: "a", Samples: map[string]tare.Sample{"w": {"cpu_ns_per_op": 115, "time_ns_per_op": 200, "allocs_per_op": 3}}}},
		Slices: []tare.Slice{
			{Round: 1, Tau: 1, Workload: "w", Contender: "a", Ops: 10, WallNS: 2000, CPUNS: 1000, IdleCPUNS: 150},
			{Round: 1, Tau: 1, Workload: "w", Contender: tare.NullID, Ops: 10, CPUNS: 10, IdleCPUNS: 100},
		},
	}.Indexed()
	correctSamples(d)
	if s := d.Trials[0].Samples["w"]; s["cpu_ns_per_op"] != 105 || s["time_ns_per_op"] != 200 || s["allocs_per_op"] != 3 {
		t.Errorf("%v, want 105 ns of CPU time", s)
	}
}
