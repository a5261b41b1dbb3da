package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// sumsDisagree compares the two estimates of a ratio: the middle of its blocks, and the ratio of
// sums. A block is a few consecutive timed runs.
func sumsDisagree() Check {
	return Check{
		ID:       "sums-disagree",
		Severity: tare.Warn,
		Summary: "The estimate of a ratio and the ratio of sums must agree. The estimate of a round is the middle of its blocks, which a single unusual block does not move; the ratio of sums counts every nanosecond. " +
			"On the primary metric the check warns if the 99.9 % interval of their difference over rounds is entirely beyond the half-width of the interval that is printed.",
		Why: "The middle of the blocks shows the cost of an operation if costs scatter evenly. If one side has rare and expensive blocks, such as a collection in every tenth, " +
			"the middle does not contain their cost and the sum does: both values are correct, and answer different questions.",
		Advice:    "read the ratio of sums (sums_ratio in the result) if throughput matters, and find out what happens in the rare blocks",
		onlyAtEnd: true,
		Run:       findDisagreements,
	}
}

func findDisagreements(in Input) []tare.Finding {
	var out []tare.Finding
	for _, c := range in.Comparisons {
		if c.Metric != in.Primary() || c.Contender == c.Against || !c.Bounded() {
			continue
		}
		logs := in.sumsOverEstimates(c)
		halfWidth := c.HalfWidth()
		lo, hi, ok := stats.Interval(logs, strictLevel)
		isBeyond := lo > halfWidth || hi < -halfWidth
		if !ok || !isBeyond {
			continue
		}
		out = append(out, tare.Finding{
			Contender: c.Contender, Workload: c.Workload,
			Message: fmt.Sprintf("the ratio to %s is %.4g by the middle of the blocks and %.4g by sums, which differ by more than the half-width (±%s, %s)",
				c.Against, c.Ratio, c.SumsRatio, format.Percent(math.Expm1(halfWidth)), format.Count(len(logs), "round")),
		})
	}
	return out
}

// sumsOverEstimates returns ln(ratio of sums / middle of the blocks) of each round, or nil if they
// are unknown.
func (in Input) sumsOverEstimates(c tare.Comparison) []float64 {
	i := slices.IndexFunc(in.Effects, func(e tare.Effects) bool {
		return e.Workload == c.Workload && e.Metric == c.Metric && isBetween(e, c.Contender, c.Against)
	})
	if i < 0 || len(in.Effects[i].Sums) != len(in.Effects[i].Effects) {
		return nil
	}
	e := in.Effects[i]
	logs := make([]float64, len(e.Sums))
	for r := range logs {
		logs[r] = e.Sums[r] - e.Effects[r]
	}
	if e.A != c.Contender {
		return negate(logs)
	}
	return logs
}
