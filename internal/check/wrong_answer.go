package check

import (
	"cmp"
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

func wrongAnswer() Check {
	return Check{
		ID:       "wrong-answer",
		Severity: tare.Void,
		Summary: "An answer differs from the reference. Every case is requested before timing and a sample again in each round; " +
			"the lab compares the answers, not the contender. Requests that must be refused are tested by negative-probe. " +
			"If a contender returns only a status, only the status is compared.",
		Why: "A JSON stream that was never flushed was published as 1.55 times as fast as encoding/json; what it wrote was not valid JSON. " +
			"Work that is not done is always fast.",
		Advice:             "compare the contender's output for the case shown with the reference, and fix the contender",
		adviceIsForAuthors: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			sums := map[subject]*tare.Conformance{} // of the tests before and during timing
			var order []subject
			for _, c := range in.Conformance {
				k := subject{c.Contender, c.Workload}
				switch sum := sums[k]; {
				case c.Probe: // negative-probe reports it
				case sum == nil:
					sums[k], order = &c, append(order, k)
				default:
					sum.Cases += c.Cases
					sum.Wrong += c.Wrong
					sum.First = cmp.Or(sum.First, c.First)
				}
			}
			for _, k := range order {
				c := sums[k]
				if c.Wrong == 0 {
					continue
				}
				message := fmt.Sprintf("%d of %s wrong", c.Wrong, countAnswers(c.Cases))
				if c.First != "" {
					message += "; the first: " + c.First
				}
				out = append(out, tare.Finding{Contender: c.Contender, Workload: c.Workload, Message: message})
			}
			return out
		},
	}
}

func countAnswers(n int) string {
	if n == 1 {
		return "1 answer is"
	}
	return format.Count(n, "answer") + " are"
}
