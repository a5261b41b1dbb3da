package main

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

func result(isolation tare.Isolation, cs ...tare.Comparison) *tare.Result {
	return &tare.Result{
		Design: tare.Design{
			Plan:       tare.Plan{Isolation: isolation},
			Contenders: []tare.Contender{{ID: "base", Role: tare.RoleBaseline}, {ID: "a", Role: tare.RoleContender}, {ID: "b", Role: tare.RoleContender}},
		},
		Measured: tare.Measured{RoundsDone: 18, Comparisons: cs}, Run: tare.Run{Seed: "1"},
	}
}

func ratio(contender, against string, low, high float64) tare.Comparison {
	return tare.Comparison{Workload: "w", Contender: contender, Against: against, Metric: "time", Ratio: (low + high) / 2, Low: low, High: high}
}

func TestCompare(t *testing.T) {
	one := result(tare.Lockstep, ratio("a", "base", 0.5, 0.6), ratio("b", "base", 0.8, 0.9), ratio("a", "b", 0.9, 0.95))
	for _, c := range []struct {
		name    string
		other   *tare.Result
		opposed int
		want    string
	}{
		{"the same", one, 0, "3 ratios are in both: 0 intervals are disjoint, 0 pairs"},
		{"a pair the other way round", result(tare.TrialWise, ratio("a", "base", 0.5, 0.6), ratio("a", "b", 1.1, 1.2)), 1, "| w | a / b | time | 0.925 (0.900 to 0.950) | 1.150 (1.100 to 1.200) | OPPOSITE |"},
		{"another size", result(tare.TrialWise, ratio("a", "base", 0.7, 0.8)), 0, "| w | a / base | time | 0.550 (0.500 to 0.600) | 0.750 (0.700 to 0.800) | disjoint |"},
		{"one that cannot tell", result(tare.TrialWise, ratio("a", "b", 0.8, 1.2)), 0, "1 ratios are in both: 0 intervals are disjoint, 0 pairs"},
	} {
		var out strings.Builder
		if got := writeComparison(&out, one, c.other); got != c.opposed || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %d opposed, want %d and %q in\n%s", c.name, got, c.opposed, c.want, out.String())
		}
	}
}
