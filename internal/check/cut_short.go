package check

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const maxCutShare = 0.01 // tolerated share of slices that were cut off

// cutShort finds slices that ended too early. A slice is a timed run of some milliseconds.
func cutShort() Check {
	return Check{
		ID:       "cut-short",
		Severity: tare.Warn,
		Summary: "A slice of work that allocates contains complete garbage collection cycles; one that takes four times as long as expected is cut off before its cycles are over. " +
			"The check warns if that happened to more than 1 % of a contender's slices.",
		Why: "If a slice ends in the middle of a cycle, the collector does the rest in time that is not counted, and allocating code looks cheap: " +
			"a lean encoder took 0.886 of the time of json.Marshal instead of 0.738.",
		Advice: "measure on a quieter machine, or compare with --isolation=trial, which cuts nothing",
		Run: func(in Input) []tare.Finding {
			cut, all := map[subject]int{}, map[subject]int{} // slices
			var order []subject
			for _, s := range in.Slices {
				slicing, ok := in.Plan.Slicing(s.Workload)
				plannedCycles := slicing.Cycles[s.Contender] * int64(max(1, s.Tau)) // Tau multiplies the slice length
				if !ok || plannedCycles == 0 {
					continue
				}
				c := subject{s.Contender, s.Workload}
				all[c]++
				if all[c] == 1 {
					order = append(order, c)
				}
				if s.GC < plannedCycles {
					cut[c]++
				}
			}
			var out []tare.Finding
			for _, c := range order {
				if share := float64(cut[c]) / float64(all[c]); share > maxCutShare {
					out = append(out, tare.Finding{
						Contender: c.contender, Workload: c.workload,
						Message: fmt.Sprintf("%d of %d slices (%s) were cut off before their collection cycles were over", cut[c], all[c], format.Percent(share)),
					})
				}
			}
			return out
		},
	}
}
