package check

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load/hist"
)

// timeoutsMissing is the share of the timeouts that may be missing from the
// latencies: requests that were under way when measuring ended.
const timeoutsMissing = 0.10

func timeoutsCounted() Check {
	return Check{
		ID:       "timeouts-counted",
		Severity: tare.Void,
		Summary: "A request that was given up took at least as long as one waited for it. Where requests timed out, the latencies of that trial must hold all that were answered and all that were not, " +
			"and in a closed loop as many of the longest, above half of the greatest, as there were timeouts. There is no chance in that: one trial in which more than 10 % of the timeouts are missing is enough. It needs the trial's histogram.",
		Why: "The service with the best mean latency of seven, 86 and 91 ms, had 390 requests without any answer within two seconds. " +
			"The tool counted them as errors and left them out of the latencies; the slower a server is, the better it then looks.",
		Advice: "use a load generator that records a timeout at the timeout, and read the error count beside every latency",
		suspects: func(in Input, contender string) (out []suspicion) {
			for _, w := range in.trafficked() {
				for _, t := range in.Trials {
					if _, ok := latencies(t, w); ok && t.Contender == contender {
						out = append(out, absent())
					}
				}
			}
			return out
		},
		Run: func(in Input) []tare.Finding {
			return findEach(in.measured(), in.trafficked(), func(c tare.Contender, w tare.Workload) string {
				for _, t := range in.Trials {
					if said := dropped(t, w); t.Contender == c.ID && said != "" {
						return fmt.Sprintf("in %s %s", when(t), said)
					}
				}
				return ""
			})
		},
	}
}

// latencies are those of a trial in which requests timed out; false: none did, or
// the histogram is not there.
func latencies(t tare.Trial, w tare.Workload) (*hist.Hist, bool) {
	s := t.Samples[w.ID]
	_, ok := s[tare.KeyRequests]
	h, err := hist.Decode(t.Histograms[w.ID])
	return h, counts(t) && ok && s[tare.KeyTimeouts] > 0 && err == nil
}

// dropped says how many timeouts are missing from the latencies of a trial.
func dropped(t tare.Trial, w tare.Workload) string {
	h, ok := latencies(t, w)
	if !ok {
		return ""
	}
	timeouts, requests := t.Samples[w.ID][tare.KeyTimeouts], t.Samples[w.ID][tare.KeyRequests]
	missing := requests + timeouts - float64(h.Count())
	if missing > timeoutsMissing*timeouts {
		return fmt.Sprintf("%s of %s are not among the latencies: %d were recorded for %s answers", number(missing), format.Count(int(timeouts), "timeout"), h.Count(), number(requests))
	}
	longest := h.Above(h.Max() / 2)
	if w.Traffic.Rate == 0 && float64(longest) < (1-timeoutsMissing)*timeouts {
		return fmt.Sprintf("there were %s, and only %s of the latencies are above half of the longest", format.Count(int(timeouts), "timeout"), number(float64(longest)))
	}
	return ""
}
