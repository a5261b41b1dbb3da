package judge

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
)

// This file finds latencies that rest on too few requests. For example, with 1,000 requests the
// p99.9 is the latency of one request.

// A latency quantile such as p99 depends on the few requests above it. A verdict on a quantile needs
// at least these numbers of requests above it.
const (
	minRequestsAbove        = 100 // in all rounds together
	minRequestsAboveInRound = 20  // in each round
)

// whyTooFewRequests returns why a latency cannot be judged: a contender has too few requests. rounds
// is the number of rounds that would have enough, or 0 if more rounds do not help. why is "" if there
// are enough, and for metrics that are no latencies.
func (j *judge) whyTooFewRequests(metric, workload string, contenders ...string) (why string, rounds int) {
	m, _ := tare.MetricNamed(metric)
	above := 1 - m.Quantile // share of the requests above the quantile
	switch {
	case !m.IsLatency():
		return "", 0
	case above == 0:
		return "it is the latency of a single request", 0
	}
	x := j.evidence.Index()
	minInRound, minInAll := math.Round(minRequestsAboveInRound/above), math.Round(minRequestsAbove/above)
	for _, id := range contenders {
		var requests float64
		n, least := 0, math.Inf(1) // number of rounds, and requests in the smallest one
		for _, r := range x.Rounds() {
			if s := x.Sample(evidence.At(r, workload, id)); s[m.Key] > 0 {
				n++
				requests += s[tare.KeyRequests]
				least = min(least, s[tare.KeyRequests])
			}
		}
		switch {
		case n == 0: // reported elsewhere
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
