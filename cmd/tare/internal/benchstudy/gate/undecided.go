package gate

import (
	"slices"

	"github.com/tarebench/tare"
)

// UndecidedWorkloads returns the ids of the workloads with an inconclusive criterion of the head.
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
