package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file judges published claims about causes of a difference. A decomposition splits the
// difference between two contenders into steps. Each step has one cause and a share of the
// difference.

func (j *judge) isDecomposedOn(c tare.Claim, workload string) bool {
	return slices.ContainsFunc(j.evidence.Study.Decompose, func(d tare.Decompose) bool { return d.ID == c.Decomposition && d.Workload == workload })
}

// judgeCause judges a claim that all of a difference comes from the steps to c.Causes. The other
// steps decide: one with a share refutes the claim. It holds if none can exceed 5 % (tieWithin).
func (j *judge) judgeCause(r *tare.ClaimResult, c tare.Claim) {
	i := slices.IndexFunc(j.evidence.Study.Decompose, func(d tare.Decompose) bool { return d.ID == c.Decomposition })
	if i < 0 {
		setNotMeasured(r, fmt.Sprintf("the study has no decomposition %q", c.Decomposition))
		return
	}
	planned := j.evidence.Study.Decompose[i]
	if why, ok := j.evidence.Measures(planned.Workload, planned.Metric); !ok && planned.Metric != "" {
		setNotMeasured(r, why)
		return
	}
	result := j.decomposeOne(planned, Effects(j.evidence))
	r.Workload, r.Metric = result.Workload, result.Metric
	r.Evidence = fmt.Sprintf("decomposition %s, %s", result.ID, format.Count(result.Whole.Rounds, "round"))
	switch {
	case len(result.Steps) < len(planned.Steps):
		setNotMeasured(r, result.Sentence)
		return
	case result.Steps[0].ShareLow == 0 && result.Steps[0].ShareHigh == 0: // no shares were computed
		r.Outcome, r.Why = tare.ClaimOpen, result.Sentence
		return
	}
	j.decideCause(r, c, planned, result)
}

// decideCause sets the outcome by the shares of result.
func (j *judge) decideCause(r *tare.ClaimResult, c tare.Claim, planned tare.Decompose, result tare.Decomposition) {
	var claimed, others, proven []tare.Cause // proven: others whose share is not zero
	largestOther := 0.0                      // largest share in the intervals of others
	for _, s := range result.Steps {
		if slices.Contains(c.Causes, s.To) {
			claimed = append(claimed, s)
			continue
		}
		others = append(others, s)
		if isProven := s.ShareLow > 0 || s.ShareHigh < 0; isProven {
			proven = append(proven, s)
		}
		largestOther = max(largestOther, math.Abs(s.ShareLow), math.Abs(s.ShareHigh))
	}
	jointShare := ""
	if len(claimed) > 1 {
		jointShare = j.describeJointShare(planned, result.Metric, c.Causes)
	}
	switch {
	case largestOther <= tieWithin-1:
		r.Outcome, r.Why = tare.Holds, "no other cause can have more than "+format.Percent(tieWithin-1)+" of the difference"
	case len(proven) > 0:
		r.Outcome, r.Why = tare.Refuted, jointShare+"of the difference, "+listShares(proven)
	default:
		r.Outcome, r.Why = tare.ClaimOpen, jointShare+"more rounds are needed: of the difference, "+listShares(others)
	}
	if len(claimed) > 0 && r.Outcome != tare.Holds {
		r.Why += "; of what was claimed, " + listShares(claimed)
	}
}

// describeJointShare returns e.g. "the steps claimed are together 82 % (75 to 90) of the difference; ",
// or "" without an interval.
func (j *judge) describeJointShare(planned tare.Decompose, metric string, causes []string) string {
	x := j.evidence.Index()
	m, _ := tare.MetricNamed(metric)
	var parts, totals []float64 // by round: differences of the steps to causes, and of the entire chain
	for _, round := range x.Rounds() {
		from, ok := x.InRound(m, evidence.At(round, planned.Workload, planned.From))
		first, sum := from, 0.0
		for _, s := range planned.Steps {
			to, isMeasured := x.InRound(m, evidence.At(round, planned.Workload, s.To))
			if slices.Contains(causes, s.To) {
				sum += to - from
			}
			from, ok = to, ok && isMeasured
		}
		if ok {
			parts, totals = append(parts, sum), append(totals, from-first)
		}
	}
	share, low, high, ok := stats.Share(parts, totals, stats.LookLevel(alpha, j.evidence.Looks()))
	if !ok {
		return ""
	}
	text, lo, hi := formatShares(share, low, high, 0)
	return fmt.Sprintf("the steps claimed are together %s %% (%s to %s) of the difference; ", text, lo, hi)
}
