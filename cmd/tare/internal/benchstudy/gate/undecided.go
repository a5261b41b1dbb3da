package gate

import (
	"slices"

	"github.com/tarebench/tare"
)

// Undecided returns the workloads of a result with an inconclusive criterion of the head, in the
// result's order.
func Undecided(r *tare.Result) []string {
	var out []string
	for _, w := range r.Workloads {
		if slices.ContainsFunc(r.Verdicts, func(v tare.Verdict) bool {
			return v.Contender == HeadID && v.Workload == w.ID && v.Criterion != "" && v.Verdict == tare.Inconclusive
		}) {
			out = append(out, w.ID)
		}
	}
	return out
}
