package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file judges published claims of a rate, such as "the standard library is fast enough up to
// 10,000 requests a second".

// judgeRate judges a claim that the baseline is fast enough up to c.Value operations a second. It
// holds if the baseline then takes at most 1 % of a core more than the contender, on each workload
// of the claim.
func (j *judge) judgeRate(r *tare.ClaimResult, c tare.Claim) {
	var points []tare.BreakEvenPoint
	for _, result := range BreakEven(j.evidence, j.findings) {
		if result.Contender == c.Contender {
			points = slices.DeleteFunc(result.Points, func(p tare.BreakEvenPoint) bool { return !slices.Contains(c.Workloads, p.Workload) })
		}
	}
	if len(points) < len(c.Workloads) {
		setNotMeasured(r, fmt.Sprintf("the break-even of %s has %d of the %d workloads", c.Contender, len(points), len(c.Workloads)))
		return
	}
	// On the worst workload, the baseline may take the most more.
	worst := slices.MaxFunc(points, func(p, q tare.BreakEvenPoint) int { return cmp.Compare(p.MoreHigh, q.MoreHigh) })
	r.Evidence = fmt.Sprintf("break-even of %s against %s, %s", c.Contender, j.evidence.Study.Baseline, format.Count(worst.Rounds, "round"))
	r.Measured, r.Low, r.High = worst.OnePercent, worst.OnePercentLow, worst.OnePercentHigh
	if !(worst.MoreHigh > 0) {
		r.Outcome, r.Why = tare.Holds, fmt.Sprintf("%s takes more than %s on none of the workloads", j.evidence.Study.Baseline, c.Contender)
		return
	}
	lowestRate := onePercentRate(worst.MoreHigh)
	r.Why = fmt.Sprintf("published %s a second; %s takes 1 %% of a core more at %s a second at the earliest, on %s", formatRate(c.Value), j.evidence.Study.Baseline, formatRate(lowestRate), worst.Workload)
	switch {
	case lowestRate >= c.Value:
		r.Outcome = tare.Holds
	case worst.MoreLow > 0 && onePercentRate(worst.MoreLow) < c.Value:
		r.Outcome = tare.Refuted
	default:
		r.Outcome = tare.ClaimOpen
		r.Why += ": more rounds are needed"
	}
}
