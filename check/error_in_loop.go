package check

import (
	"fmt"

	"github.com/tarebench/tare"
)

func errorInLoop() Check {
	return Check{
		ID:       "error-in-loop",
		Severity: tare.Void,
		Summary:  "An operation returned an error while it was timed. One is enough.",
		Why: "A struct copier's published figure, exactly 64 bytes and one allocation whatever it copied, was the cost of its error " +
			"\"type not registered\", which the benchmark loop never looked at. A failed operation is not a fast one.",
		Advice: "run the contender on the workload by itself and look at the error; a benchmark loop must stop at one",
		Run: func(in Input) []tare.Finding {
			type tally struct{ errors, ops int64 }
			sums := map[[2]string]tally{}
			var order [][2]string
			for _, s := range in.Slices {
				k := [2]string{s.Contender, s.Workload}
				t, ok := sums[k]
				if !ok {
					order = append(order, k)
				}
				sums[k] = tally{t.errors + s.Errors, t.ops + s.Ops}
			}
			var out []tare.Finding
			for _, k := range order {
				t := sums[k]
				if t.errors == 0 {
					continue
				}
				message := fmt.Sprintf("%d of %d timed operations returned an error", t.errors, t.ops)
				if first := firstError(in.Trials, k[0]); first != "" {
					message += "; the first: " + first
				}
				out = append(out, tare.Finding{Contender: k[0], Workload: k[1], Message: message})
			}
			return out
		},
	}
}

// firstError is the first text of an error that contender's operations
// returned, on whatever workload.
func firstError(trials []tare.Trial, contender string) string {
	for _, t := range trials {
		if t.Contender == contender && t.Evidence.FirstError != "" {
			return t.Evidence.FirstError
		}
	}
	return ""
}
