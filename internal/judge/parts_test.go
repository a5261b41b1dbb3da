package judge

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// partOf is what one machine measured of a divided study: workload w alone.
func partOf(seed uint64, w string, ratio float64) *tare.Result {
	return onMachine(seed, ratio, func(r *tare.Result) {
		r.Workloads = []tare.Workload{{ID: w}}
		r.Rounds[0].Workload, r.Comparisons[0].Workload = w, w
		r.Plan.Looks = []int{18}
		r.Comparisons[0].Value, r.Comparisons[0].AgainstValue, r.Comparisons[0].Rounds = ratio, 1, 18
	})
}

// Parts are one table: each workload says who measured it, and intervals are those
// of one family, wider than those of each part.
func TestParts(t *testing.T) {
	a, b := partOf(1, "v", 1), partOf(2, "w", 1.2)
	alone, err := Parts(machinesOf(partOf(1, "v", 1)), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Parts(machinesOf(a, b), []tare.Criterion{{Contender: "a", Metric: "time", Ratio: "<= 1.05"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Workloads) != 2 || len(r.Comparisons) != 2 || r.MeasuredBy("v") != "A" || r.MeasuredBy("w") != "B" || !r.Divided() || len(r.OverMachines) > 0 {
		t.Fatalf("%+v, %+v", r.Workloads, r.Machines)
	}
	one, of := alone.Comparisons[0], r.Comparisons[0]
	if of.Level < one.Level || of.High-of.Low < one.High-one.Low || !of.Bounded() {
		t.Errorf("[%g, %g] at %g of one family, [%g, %g] at %g alone", of.Low, of.High, of.Level, one.Low, one.High, one.Level)
	}
	verdicts := map[string]tare.Ruling{}
	for _, v := range r.Verdicts {
		if v.Criterion != "" {
			verdicts[v.Workload] = v.Verdict
		}
	}
	if verdicts["v"] != tare.Met || verdicts["w"] != tare.NotMet {
		t.Errorf("%v", verdicts)
	}
	if a.Comparisons[0].Level != 0 || len(a.Machines) > 0 {
		t.Error("a part was changed")
	}
	twice := machinesOf(partOf(1, "v", 1), partOf(2, "v", 1))
	if _, err := Parts(twice, nil, false); err == nil || !strings.Contains(err.Error(), "two parts") {
		t.Errorf("one workload of two machines: %v", err)
	}
	older := partOf(2, "w", 1)
	older.Contenders[1].Go = "go1.25.0"
	if _, err := Parts(machinesOf(partOf(1, "v", 1), older), nil, false); err == nil || !strings.Contains(err.Error(), "mixed-go") {
		t.Errorf("two versions of Go: %v", err)
	}
}
