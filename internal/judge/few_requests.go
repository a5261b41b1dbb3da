package judge

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
)

// Least number of measured requests above a latency quantile that decides a verdict. With fewer, the
// quantile is the latency of a handful of requests.
const (
	minRequestsAbove        = 100 // in all rounds together
	minRequestsAboveInRound = 20  // in each round
)

// whyTooFewRequests returns why a latency on workload has too few requests of one of the contenders,
// and the number of rounds that would have enough; 0 means that more rounds do not help. why is "" if
// there are enough requests, and for metrics that are not latencies.
func (j *judge) whyTooFewRequests(metric, workload string, contenders ...string) (why string, rounds int) {
	m, _ := tare.MetricNamed(metric)
	if !m.IsLatency() {
		return "", 0
	}
	return countRequests(j.evidence.Index(), m, workload, contenders...)
}

// countRequests does the work of whyTooFewRequests for latency m.
func countRequests(x *evidence.Index, m tare.Metric, workload string, contenders ...string) (why string, rounds int) {
	above := 1 - m.Quantile // share of the requests that are above the quantile
	if above == 0 {
		return "it is the latency of a single request", 0
	}
	minInRound, minInAll := math.Round(minRequestsAboveInRound/above), math.Round(minRequestsAbove/above)
	for _, id := range contenders {
		var requests float64
		n, least := 0, math.Inf(1)
		for _, r := range x.Rounds() {
			if s := x.Sample(evidence.At(r, workload, id)); s[m.Key] > 0 {
				n++
				requests += s[tare.KeyRequests]
				least = min(least, s[tare.KeyRequests])
			}
		}
		switch {
		case n == 0: // not measured: that is reported elsewhere
		case least < minInRound:
			return fmt.Sprintf("%s has %s requests in one of the rounds, and it takes %s; longer segments would have them",
				id, formatRate(least), formatRate(minInRound)), 0
		case requests < minInAll:
			return fmt.Sprintf("%s has %s requests after %s, and it takes %s", id, formatRate(requests), format.Count(n, "round"), formatRate(minInAll)),
				int(math.Ceil(minInAll / requests * float64(n)))
		}
	}
	return "", 0
}
