package gate

import (
	"slices"

	"github.com/tarebench/tare"
)

// Undecided are the workloads of a result about which a criterion of the head
// could not be ruled on, in its order.
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
