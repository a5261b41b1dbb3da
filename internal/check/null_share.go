package check

import (
	"fmt"

	"github.com/tarebench/tare"
)

const minNotedShare = 0.05 // least share that is worth a note

// nullShare compares values with those of the null contender, which does no work. Its values are
// the cost of the harness, the code that calls and times operations.
func nullShare() Check {
	return Check{
		ID:       "null-share",
		Severity: tare.Note,
		Summary: "The share of the harness in the reported time and bytes per operation: the null contender's median divided by the smallest median of a contender. " +
			"A share from 5 % on is noted. The check generator-headroom judges the time of servers.",
		Why: "A router benchmark's recorder allocated about 1 kB per request, which was nearly all of the memory reported for every router: " +
			"according to the ratios they hardly differed. Everything that the harness adds moves every ratio towards 1.",
		Advice: "read ratios on this workload as lower bounds of the difference, or give it more work per operation",
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, w := range in.Study.Workloads {
				for _, metric := range []string{"time", "bytes"} {
					if metric == "time" && w.Traffic != nil {
						continue // the check generator-headroom judges it
					}
					if f, ok := findNullShare(in, w.ID, metric); ok {
						out = append(out, f)
					}
				}
			}
			return out
		},
	}
}

// findNullShare returns a note about the contender with the smallest value. The harness has the
// largest share of that value. It returns false if the share is below minNotedShare.
func findNullShare(in Input, workload, metric string) (finding tare.Finding, ok bool) {
	null, cheapest := tare.Value{}, tare.Value{}
	for _, v := range in.Values {
		if v.Workload != workload || v.Metric != metric {
			continue
		}
		switch in.roleOf(v.Contender) {
		case tare.RoleNull:
			null = v
		case tare.RoleBaseline, tare.RoleContender:
			isCheapest := cheapest.Contender == "" || v.Value < cheapest.Value
			if !v.Struck && v.Value > 0 && isCheapest {
				cheapest = v
			}
		}
	}
	areKnown := null.Contender != "" && cheapest.Contender != ""
	if !areKnown || null.Value < minNotedShare*cheapest.Value {
		return tare.Finding{}, false
	}
	return tare.Finding{
		Workload: workload,
		Message: fmt.Sprintf("the harness itself takes %s of the %s %s of %s (%.0f %%)",
			formatNumber(null.Value), formatNumber(cheapest.Value), cheapest.Unit, cheapest.Contender, 100*null.Value/cheapest.Value),
	}, true
}
