package judge

import (
	"math"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

func weighedAgainst(contender string, ratio, low, high, against float64) tare.Comparison {
	return tare.Comparison{
		Workload: "w", Contender: contender, Against: base, Metric: "cpu", Level: 0.95, Rounds: 12,
		Ratio: ratio, Low: low, High: high, AgainstValue: against, Value: against * ratio, Unit: "ns/op",
	}
}

func TestCosts(t *testing.T) {
	contenders := []tare.Contender{
		{ID: base, Role: tare.RoleBaseline}, {ID: tare.ControlID, Role: tare.RoleControl},
		{ID: "lean", Role: tare.RoleContender}, {ID: "fat", Role: tare.RoleContender}, {ID: "same", Role: tare.RoleContender},
	}
	comparisons := []tare.Comparison{
		weighedAgainst(tare.ControlID, 1, 0.99, 1.01, 100000),
		weighedAgainst("lean", 0.5, 0.48, 0.52, 100000),
		weighedAgainst("fat", 1.5, 1.45, 1.55, 100000),
		weighedAgainst("same", 1.001, 0.98, 1.02, 100000),
	}
	costs := Costs([]string{"time", "cpu"}, contenders, comparisons, nil, 1000)
	if len(costs) != 3 {
		t.Fatalf("%d costs, want those of three contenders: %+v", len(costs), costs)
	}
	// 1,000 a second of 100 µs are a tenth of a core; half of it is saved.
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	lean, fat, same := costs[0], costs[1], costs[2]
	near("cores of the baseline", lean.AgainstCores, 0.1)
	near("cores", lean.Cores, 0.05)
	near("saved", lean.Saved, 0.05)
	near("saved at least", lean.SavedLow, 0.048)
	near("saved at most", lean.SavedHigh, 0.052)
	near("one percent of a core", lean.OnePercent, 200) // 200 times 50 µs are 10 ms
	near("saved by one that costs more", fat.Saved, -0.05)
	if same.OnePercent != 0 {
		t.Errorf("a difference that was not shown is 1 %% of a core at %v a second", same.OnePercent)
	}
	for _, c := range []struct{ sentence, want string }{
		{lean.Sentence, "lean on w at 1,000 a second takes 5 % of a core and encoding-json 10 %: that saves 5 % (4.8 % to 5.2 %); it is 1 % of a core at 200 a second."},
		{fat.Sentence, "that costs 5 % more (4.5 % to 5.5 %)"},
		{same.Sentence, "no difference was shown"},
		{Costs([]string{"cpu"}, contenders, comparisons[1:2], nil, 0)[0].Sentence, "the difference is 1 % of a core at 200 a second"},
	} {
		if !strings.Contains(c.sentence, c.want) {
			t.Errorf("%q, want %q in it", c.sentence, c.want)
		}
	}
	void := []tare.Finding{{Check: "wrong-answer", Severity: tare.Void, Contender: "lean"}}
	if c := Costs([]string{"time", "cpu"}, contenders, comparisons, void, 1000); len(c) != 2 || c[0].Contender != "fat" {
		t.Errorf("what is void was priced: %+v", c)
	}
	void[0].Contender = base
	if c := Costs([]string{"time", "cpu"}, contenders, comparisons, void, 1000); len(c) != 0 {
		t.Errorf("priced against a baseline that is void: %+v", c)
	}
	if c := Costs([]string{"time"}, contenders, comparisons, nil, 1000); len(c) != 0 {
		t.Errorf("a study without CPU time was priced by comparisons of CPU time: %+v", c)
	}
}

func TestFormatRate(t *testing.T) {
	for x, want := range map[float64]string{0.5: "0.5", 139.4: "139", 1000: "1,000", 12345: "12,300", 9996: "10,000", 1234567: "1,230,000"} {
		if got := formatRate(x); got != want {
			t.Errorf("%v is written %q, want %q", x, got, want)
		}
	}
}
