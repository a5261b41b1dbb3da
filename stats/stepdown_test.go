package stats_test

import (
	"slices"
	"testing"

	"github.com/tarebench/tare/stats"
)

// TestStepDown: intervals are as wide as 1/alpha here, so that what is decided at
// alpha/3 leaves alpha/2 to the others, and so on.
func TestStepDown(t *testing.T) {
	for name, c := range map[string]struct {
		decidedBelow []float64 // member i is decided at levels of at most this confidence
		want         []float64 // 1 - alpha of each
	}{
		"all at once":       {[]float64{1, 1, 1}, []float64{0.1, 0.1, 0.1}},
		"none":              {[]float64{0, 0, 0}, []float64{0.1, 0.1, 0.1}},
		"one after another": {[]float64{1, 0.86, 0.75}, []float64{0.1, 0.15, 0.3}},
		"one stays open":    {[]float64{1, 1, 0}, []float64{0.1, 0.1, 0.3}},
	} {
		got := stats.StepDown(3, 0.3, func(_ int, alpha float64) stats.Span {
			return stats.Span{OK: true, Low: alpha}
		}, func(i int, s stats.Span) bool { return 1-s.Low > c.decidedBelow[i] })
		var levels []float64
		for _, s := range got {
			levels = append(levels, 1-s.Level)
		}
		if !slices.EqualFunc(levels, c.want, func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }) {
			t.Errorf("%s: levels %v, want %v", name, levels, c.want)
		}
	}
	few := stats.StepDown(2, 0.05, func(int, float64) stats.Span { return stats.Span{} }, func(int, stats.Span) bool { return false })
	if few[0].OK || few[0].Level != 1-0.05/2 {
		t.Errorf("too few rounds: %+v", few)
	}
}
