package check

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// cutWarns is the share of slices cut off from which it is worth a warning.
const cutWarns = 0.01

func cutShort() Check {
	return Check{
		ID:       "cut-short",
		Severity: tare.Warn,
		Summary: "A slice of work that allocates holds whole garbage collection cycles; one that takes four times as long as expected is cut off before its cycles are over. " +
			"Warned of when that happened to more than 1 % of a contender's slices.",
		Why: "A slice that ends in the middle of a cycle leaves collection to time that is not counted, and makes allocating code look cheap: " +
			"a lean encoder came out at 0.886 of json.Marshal instead of 0.738.",
		Advice: "measure on a quieter machine, or compare with --isolation=trial, where nothing is cut",
		Run: func(in Input) []tare.Finding {
			type who struct{ contender, workload string }
			cut, all := map[who]int{}, map[who]int{}
			var order []who
			for _, s := range in.Slices {
				sl, ok := in.Plan.Slicing(s.Workload)
				cycles := sl.Cycles[s.Contender] * int64(max(1, s.Tau))
				if !ok || cycles == 0 {
					continue
				}
				w := who{s.Contender, s.Workload}
				if all[w]++; all[w] == 1 {
					order = append(order, w)
				}
				if s.GC < cycles {
					cut[w]++
				}
			}
			var out []tare.Finding
			for _, w := range order {
				if share := float64(cut[w]) / float64(all[w]); share > cutWarns {
					out = append(out, tare.Finding{
						Contender: w.contender, Workload: w.workload,
						Message: fmt.Sprintf("%d of %d slices (%s) were cut off before their collection cycles were over", cut[w], all[w], format.Percent(share)),
					})
				}
			}
			return out
		},
	}
}
