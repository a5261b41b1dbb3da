package judge

import (
	"maps"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// This file states how small a difference the machine can show. For example, two copies of the
// baseline seem to differ by up to 2 %. Then a difference of 1 % cannot be shown.

// Resolution returns the smallest differences that this machine can show. They follow from the
// control, which is the baseline measured a second time. HalfWidth is half of the control's interval.
// Four of five such studies would find a difference as large as Found. It omits metrics of trials and
// those without an interval of the control.
func Resolution(d evidence.Evidence, comparisons []tare.Comparison) []tare.Resolution {
	seconds, x := measuredSeconds(d), d.Index()
	var out []tare.Resolution
	for _, c := range comparisons {
		m, _ := tare.MetricNamed(c.Metric)
		if c.Contender != tare.ControlID || !m.PerSlice || !c.Bounded() {
			continue
		}
		floor := c.NoiseFloor()
		out = append(out, tare.Resolution{
			Workload:  c.Workload,
			Metric:    c.Metric,
			Seconds:   seconds,
			HalfWidth: math.Expm1(floor),
			Within:    math.Expm1(c.HalfWidth() * spreadWithinRounds(x, d, c)),
			Found:     math.Expm1(stats.Detectable(floor, stats.LookLevel(1-c.Level, d.Looks()))),
		})
	}
	return out
}

// spreadWithinRounds returns the part of an interval's half-width that comes from variance within
// rounds, from 0 to 1. It returns 0 if too few blocks of slices were measured.
func spreadWithinRounds(x *evidence.Index, d evidence.Evidence, c tare.Comparison) float64 {
	slicing, _ := d.Plan.Slicing(c.Workload)
	if slicing.Block == 0 {
		return 0
	}
	var blocks [][]float64
	count := 0
	for _, r := range x.Rounds() {
		p, q := pairSlices(x, c.Metric, evidence.At(r, c.Workload, c.Contender), evidence.At(r, c.Workload, c.Against))
		effects := stats.BlockEffects(p, q, slicing.Block)
		blocks, count = append(blocks, effects), count+len(effects)
	}
	within, between, ok := stats.Components(blocks)
	if !ok || !(within > 0) {
		return 0
	}
	within *= float64(len(blocks)) / float64(count) // variance of a round's mean, from that of one block
	return math.Sqrt(within / (within + between))
}

// measuredSeconds returns the duration of all rounds in seconds, without the extra rounds of longer
// slices. If no trial has a duration, it returns the planned one.
func measuredSeconds(d evidence.Evidence) float64 {
	seconds := map[int]float64{} // by round
	for _, t := range d.Trials {
		switch {
		case t.Tau > 1: // an extra round of longer slices
		case d.Plan.Isolation == tare.TrialWise: // one trial after another
			seconds[t.Round] += t.Seconds
		default: // the trials are open at the same time
			seconds[t.Round] = max(seconds[t.Round], t.Seconds)
		}
	}
	sum := 0.0
	for _, r := range slices.Sorted(maps.Keys(seconds)) {
		sum += seconds[r]
	}
	if sum == 0 {
		return float64(d.Rounds) * d.Plan.SecondsPerRound
	}
	return sum
}
