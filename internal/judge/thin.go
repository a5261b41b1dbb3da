package judge

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
)

// A latency quantile enters a verdict only if this many measured requests are above it: with fewer
// it is the latency of a handful of requests.
const (
	minAbove        = 100 // over the study
	minAboveInRound = 20  // in each round
)

// countRequests returns why a latency on workload rests on too few requests of one
// of the contenders, and how many rounds would give enough (0: no number of them).
// why is empty if there are enough, and for metrics that are no latencies.
func (b *rulingData) whyTooFewRequests(metric, workload string, contenders ...string) (why string, rounds int) {
	m, _ := tare.MetricNamed(metric)
	if !m.IsLatency() {
		return "", 0
	}
	return countRequests(b.d.Index(), m, workload, contenders...)
}

func countRequests(x *evidence.Index, m tare.Metric, workload string, contenders ...string) (why string, rounds int) {
	above := 1 - m.Quantile
	if above == 0 {
		return "it is the latency of a single request", 0
	}
	inRound, inAll := math.Round(minAboveInRound/above), math.Round(minAbove/above)
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
		case n == 0:
		case least < inRound:
			return fmt.Sprintf("%s has %s requests in one of the rounds, and it takes %s; longer segments would have them",
				id, formatRate(least), formatRate(inRound)), 0
		case requests < inAll:
			return fmt.Sprintf("%s has %s requests after %s, and it takes %s", id, formatRate(requests), format.Count(n, "round"), formatRate(inAll)),
				int(math.Ceil(inAll / requests * float64(n)))
		}
	}
	return "", 0
}
