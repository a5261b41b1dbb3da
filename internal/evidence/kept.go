package evidence

import (
	"maps"
	"slices"

	"github.com/tarebench/tare"
)

// Kept returns the evidence of a saved result for study s, whose claims, decompositions and break-evens
// may have changed since the result was measured. A result has no slices: for each contender, workload
// and round, the evidence has one slice with their sum.
func Kept(s tare.Study, r *tare.Result) Evidence {
	s.Workloads, s.Metrics, s.Baseline = r.Workloads, r.Metrics, r.Baseline()
	e := Evidence{
		Study: s, Plan: r.Plan, Contenders: r.Contenders, Rounds: r.RoundsDone,
		Trials: r.Trials, Semantics: r.Semantics, Final: true,
	}
	for _, t := range r.Trials {
		if t.Tau > 1 {
			continue
		}
		for _, workload := range slices.Sorted(maps.Keys(t.Samples)) {
			if s, ok := sliceOf(t, workload); ok {
				e.Slices = append(e.Slices, s)
			}
		}
	}
	// Take only the first result of each contender and workload, which is from before timing: results
	// of samples in the rounds follow it.
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

// sliceOf returns one slice with the sums of all slices of a trial on a workload. It returns false if
// the trial has no time on the workload.
func sliceOf(t tare.Trial, workload string) (s tare.Slice, ok bool) {
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
