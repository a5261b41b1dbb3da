package tare_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tarebench/tare"
)

func TestDiffers(t *testing.T) {
	control := tare.Comparison{Workload: "w", Metric: "time", Contender: tare.ControlID, Ratio: 1, Low: 0.95, High: 1.05}
	floor := tare.NoiseFloor([]tare.Comparison{{Workload: "w", Metric: "time", Contender: "other", Low: 0.1, High: 9}, control}, "w", "time")
	if want := math.Log(1.05/0.95) / 2; floor != want {
		t.Fatalf("noise floor %v, want %v", floor, want)
	}
	if f := tare.NoiseFloor([]tare.Comparison{control}, "w", "cpu"); f != 0 {
		t.Errorf("noise floor of another metric: %v", f)
	}
	away := control // a control that lies farther out than its interval is wide
	away.Ratio, away.Low, away.High = 1.02, 1.005, 1.035
	if f, want := tare.NoiseFloor([]tare.Comparison{away}, "w", "time"), math.Log(1.02); f != want {
		t.Errorf("noise floor of a control at 1.02: %v, want %v", f, want)
	}
	for _, c := range []struct {
		ratio, low, high float64
		want             tare.Significance
	}{
		{1.2, 1.1, 1.3, tare.Significant},
		{0.8, 0.7, 0.9, tare.Significant},
		{1.04, 1.01, 1.07, tare.WithinNoise},
		{0.97, 0.95, 0.99, tare.WithinNoise},
		{1.2, 0.99, 1.4, tare.NotShown},
		{1.2, 1, 1.4, tare.NotShown},
		{1.2, 0, 0, tare.NotShown},
	} {
		if got := (tare.Comparison{Ratio: c.ratio, Low: c.low, High: c.high}).Differs(floor); got != c.want {
			t.Errorf("%v (%v to %v): %v, want %v", c.ratio, c.low, c.high, got, c.want)
		}
	}
}

func TestEffectsOf(t *testing.T) {
	stored := []tare.Effects{{Workload: "w", Metric: "time", A: "a", B: "b", Effects: []float64{1, -2}, Sums: []float64{3}, Of: []int{1, 2}}}
	e, ok := tare.EffectsOf(stored, "w", "time", "b", "a")
	if !ok || e.A != "b" || e.B != "a" || !slices.Equal(e.Effects, []float64{-1, 2}) || !slices.Equal(e.Sums, []float64{-3}) || !slices.Equal(e.Of, []int{1, 2}) {
		t.Errorf("turned: %+v", e)
	}
	if !slices.Equal(stored[0].Effects, []float64{1, -2}) {
		t.Error("the stored effects were changed")
	}
	if _, ok := tare.EffectsOf(stored, "w", "cpu", "a", "b"); ok {
		t.Error("effects of another metric")
	}
}

func TestBelow(t *testing.T) {
	for _, c := range []struct {
		low, high, effect float64
		want              bool
	}{
		{0.99, 1.01, 0.02, true}, {1 / 1.02, 1.02, 0.02, true}, {0.97, 1.01, 0.02, false}, {0.99, 1.03, 0.02, false},
		{1.005, 1.01, 0.02, true}, {0.99, 1.01, 0, false}, {0, 0, 0.02, false},
	} {
		if got := (tare.Comparison{Low: c.low, High: c.high}).Below(c.effect); got != c.want {
			t.Errorf("%v to %v below %v: %v, want %v", c.low, c.high, c.effect, got, c.want)
		}
	}
}
