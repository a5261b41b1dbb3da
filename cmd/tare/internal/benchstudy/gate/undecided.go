package gate

import (
	"slices"

	"github.com/tarebench/tare"
)

// UndecidedWorkloads returns the ids of the workloads on which a criterion of the head, the changed
// revision, is inconclusive, in the order of the result.
func UndecidedWorkloads(r *tare.Result) []string {
	var out []string
	for _, w := range r.Workloads {
		isUndecided := slices.ContainsFunc(r.Verdicts, func(v tare.Verdict) bool {
			return v.Contender == HeadID && v.Workload == w.ID && v.Criterion != "" && v.Verdict == tare.Inconclusive
		})
		if isUndecided {
			out = append(out, w.ID)
		}
	}
	return out
}
