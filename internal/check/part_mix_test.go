package check

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// mixedStudy returns a study of a service with single operations, whose times are in
// microseconds, and two operations that consist of them. off multiplies the time of
// an operation.
func mixedStudy(r *rand.Rand, rounds int, off map[string]float64) Input {
	cost := map[string]float64{"create": 100, "delete": 40, "get": 50, "list": 140}
	cost["create+delete"] = cost["create"] + cost["delete"]
	cost["mix"] = 0.25 * (cost["create"] + cost["get"] + cost["list"] + cost["delete"])
	in := Input{Evidence: evidence.Evidence{
		Study:      tare.Study{ID: "service", Baseline: base, Metrics: []string{"time"}},
		Contenders: []tare.Contender{{ID: base, Role: tare.RoleBaseline}, {ID: tare.NullID, Role: tare.RoleNull}, {ID: "lean", Role: tare.RoleContender}},
		Final:      true,
	}}
	parts := map[string][]tare.Part{
		"create+delete": {{Op: "create", Times: 1}, {Op: "delete", Times: 1}},
		"mix":           {{Op: "create", Times: 0.25}, {Op: "get", Times: 0.25}, {Op: "list", Times: 0.25}, {Op: "delete", Times: 0.25}},
	}
	for _, op := range []string{"create", "delete", "get", "list", "create+delete", "mix"} {
		in.Study.Workloads = append(in.Study.Workloads, tare.Workload{ID: op + "/c10", Fixture: "users", N: 1000, Op: op, Parts: parts[op], Traffic: &tare.Traffic{Connections: 10}})
	}
	for round := 1; round <= rounds; round++ {
		for _, w := range in.Study.Workloads {
			for _, c := range in.Contenders {
				ns := cost[w.Op] * 1000 * math.Exp(0.02*r.NormFloat64())
				if by, ok := off[w.Op]; ok && c.ID == "lean" {
					ns *= by
				}
				for i := range 4 {
					in.Slices = append(in.Slices, tare.Slice{Round: round, Index: i, Tau: 1, Workload: w.ID, Contender: c.ID, Ops: 1000, WallNS: int64(1000 * ns)})
				}
			}
		}
	}
	return in
}

func TestPartsOfAService(t *testing.T) {
	wantNone(t, "part-whole", mixedStudy(newRandom(1), 16, nil))
	for name, c := range map[string]struct {
		off      map[string]float64
		workload string
		message  string
	}{
		"cheaper than its part":     {map[string]float64{"create+delete": 0.6}, "create+delete/c10", "× the time of one on create/c10, which is a part of it ("},
		"cheaper than the cheapest": {map[string]float64{"mix": 0.4}, "mix/c10", "× the time of the cheapest of the operations that it is a mix of ("},
		"dearer than the dearest":   {map[string]float64{"mix": 2}, "mix/c10", "× the time of the dearest of the operations that it is a mix of ("},
	} {
		fs := runCheck(t, "part-whole", mixedStudy(newRandom(2), 16, c.off))
		if len(fs) != 1 || fs[0].Severity != tare.Void || fs[0].Contender != "lean" || fs[0].Workload != c.workload || !strings.Contains(fs[0].Message, c.message) {
			t.Errorf("%s: found %+v", name, fs)
		}
	}
	// Within the margin, too few rounds, and parts that are asked in another way.
	wantNone(t, "part-whole", mixedStudy(newRandom(3), 16, map[string]float64{"create+delete": 0.7}))
	wantNone(t, "part-whole", mixedStudy(newRandom(4), 8, map[string]float64{"mix": 2}))
	other := mixedStudy(newRandom(5), 16, map[string]float64{"mix": 2, "create+delete": 0.5})
	for i := range other.Study.Workloads {
		w := &other.Study.Workloads[i]
		switch w.Op {
		case "create":
			w.Traffic = &tare.Traffic{Connections: 1}
		case "delete":
			w.N = 50
		}
	}
	wantNone(t, "part-whole", other)
}

// A store of more users is not a larger request.
func TestStoresAreNoParts(t *testing.T) {
	in := mixedStudy(newRandom(6), 16, map[string]float64{"list": 0.3})
	in.Study.Workloads[3].Op, in.Study.Workloads[3].N = "get", 100_000
	in.Study.Workloads = in.Study.Workloads[:4]
	wantNone(t, "part-whole", in)
}
