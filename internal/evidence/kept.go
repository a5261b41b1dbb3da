package evidence

import (
	"maps"
	"slices"

	"github.com/tarebench/tare"
)

// This file prepares a saved result so that its claims can be judged again.

// ForRejudging returns the evidence of a saved result r, so that a changed study s can judge it
// again. r has only sums of slices. So the evidence has one slice with that sum for each contender,
// workload and round.
func ForRejudging(s tare.Study, r *tare.Result) Evidence {
	e := FromResult(r)
	s.Workloads, s.Metrics, s.Baseline = r.Workloads, r.Metrics, r.Baseline()
	e.Study, e.index = s, nil // the index lacks the slices
	for _, t := range r.Trials {
		if isExtraRound(t.Tau) {
			continue
		}
		for _, workload := range slices.Sorted(maps.Keys(t.Samples)) {
			if s, ok := sumSlices(t, workload); ok {
				e.Slices = append(e.Slices, s)
			}
		}
	}
	// Later comparisons with the reference were made during timing. Take only the first.
	type key struct {
		contender, workload string
		probe               bool
	}
	seen := map[key]bool{}
	for _, c := range r.Conformance {
		if k := (key{c.Contender, c.Workload, c.Probe}); !seen[k] {
			seen[k] = true
			e.Conformance = append(e.Conformance, c)
		}
	}
	return e.Indexed()
}

// sumSlices returns one slice with the sums of all slices of a trial on a workload. It returns
// false if the trial has no time on the workload.
func sumSlices(t tare.Trial, workload string) (s tare.Slice, ok bool) {
	sample := t.Samples[workload]
	total := func(metric string) int64 {
		m, _ := tare.MetricNamed(metric)
		return int64(sample[m.Key] * sample[tare.KeyOps])
	}
	s = tare.Slice{
		Round: t.Round, Tau: t.Tau, Contender: t.Contender, Workload: workload,
		Ops: int64(sample[tare.KeyOps]), WallNS: total("time"), CPUNS: total("cpu"),
	}
	return s, s.Ops > 0 && s.WallNS > 0
}
