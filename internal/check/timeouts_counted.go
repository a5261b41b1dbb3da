package check

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load/hist"
)

// maxTimeoutsMissing is the share of the timeouts that may be missing from the latencies. Their
// requests were in flight when measuring ended.
const maxTimeoutsMissing = 0.10

// timeoutsCounted checks that timeouts are among the recorded latencies. For example, a load
// generator counts 1000 answers and 50 timeouts, but only 1000 latencies. The 50 slowest requests
// are missing.
func timeoutsCounted() Check {
	return Check{
		ID:       "timeouts-counted",
		Severity: tare.Void,
		Summary: "A request that timed out took at least as long as the timeout. If requests timed out, the latencies of that trial must contain the answered and the unanswered requests, " +
			"and in a closed loop at least as many latencies above half of the greatest one as there were timeouts. One trial in which more than 10 % of the timeouts are missing is enough, because chance cannot remove them. The check needs the trial's histogram.",
		Why: "The service with the best mean latencies of seven, 86 and 91 ms, had 390 requests without any answer within two seconds. " +
			"The tool counted them as errors and not among the latencies: the slower a server is, the better it looks.",
		Advice:      "use a load generator that records a timeout at the timeout, and read the error count next to every latency",
		voidReasons: timeoutReasons,
		Run: func(in Input) []tare.Finding {
			return findEach(in.measuredContenders(), in.trafficWorkloads(), func(c tare.Contender, w tare.Workload) string {
				for _, t := range in.Trials {
					if why := whyMissing(t, w); t.Contender == c.ID && why != "" {
						return fmt.Sprintf("in %s %s", roundIDOf(t), why)
					}
				}
				return ""
			})
		},
	}
}

// timeoutReasons is called if the check found nothing. It returns a reason for each trial with
// timeouts. The reason is disproved, because a missing timeout would have been found.
func timeoutReasons(in Input, contender string) (reasons []voidReason) {
	for _, w := range in.trafficWorkloads() {
		for _, t := range in.Trials {
			if _, hasTimeouts := timeoutLatencies(t, w); hasTimeouts && t.Contender == contender {
				reasons = append(reasons, disprovedByRecords())
			}
		}
	}
	return reasons
}

// timeoutLatencies returns the latencies of a trial with timeouts. It returns false if no request
// timed out, if the trial does not count, or if it has no histogram.
func timeoutLatencies(t tare.Trial, w tare.Workload) (h *hist.Hist, ok bool) {
	s := t.Samples[w.ID]
	_, hasRequests := s[tare.KeyRequests]
	hasTimeouts := hasRequests && s[tare.KeyTimeouts] > 0
	h, err := hist.Decode(t.Histograms[w.ID])
	return h, isCounted(t) && hasTimeouts && err == nil
}

// whyMissing returns a clause saying that timeouts are missing from the latencies of t, or "".
func whyMissing(t tare.Trial, w tare.Workload) string {
	h, ok := timeoutLatencies(t, w)
	if !ok {
		return ""
	}
	timeouts, requests := t.Samples[w.ID][tare.KeyTimeouts], t.Samples[w.ID][tare.KeyRequests]
	missing := requests + timeouts - float64(h.Count())
	if missing > maxTimeoutsMissing*timeouts {
		return fmt.Sprintf("%s of %s are not among the latencies: %d were recorded for %s answers", formatNumber(missing), format.Count(int(timeouts), "timeout"), h.Count(), formatNumber(requests))
	}
	// In a closed loop a client waits for each answer. A timeout is then among the longest
	// latencies.
	longest := h.Above(h.Max() / 2)
	isClosedLoop := w.Traffic.Rate == 0
	if isClosedLoop && float64(longest) < (1-maxTimeoutsMissing)*timeouts {
		return fmt.Sprintf("there were %s, and only %s of the latencies are above half of the longest", format.Count(int(timeouts), "timeout"), formatNumber(float64(longest)))
	}
	return ""
}
