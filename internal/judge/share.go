package judge

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file judges published claims of a saved share, such as "saves half of the time". The
// measured share is 1 − ratio to the baseline.

// judgeShare judges a claim that a contender saves at least the share c.Value of the baseline's
// cost.
func (j *judge) judgeShare(r *tare.ClaimResult, c tare.Claim) {
	if j.reportUnanswerable(r, c) {
		return
	}
	x, ok := j.comparisonOf(c.Contender, c.Workload, c.Metric)
	if !ok {
		setNotMeasured(r, fmt.Sprintf("%s and %s have no ratio of %s on %s", c.Contender, j.evidence.Study.Baseline, tare.MetricFor(c.Metric).Noun, c.Workload))
		return
	}
	r.Evidence = fmt.Sprintf("%s against %s, %s, %s", c.Contender, x.Against, c.Metric, format.Count(x.Rounds, "round"))
	r.Measured, r.Outcome = 1-x.Ratio, tare.ClaimOpen
	if !x.Bounded() {
		r.Why = fmt.Sprintf("no interval after %s; it takes %d", format.Count(x.Rounds, "round"), roundsForInterval(x, j.evidence.Looks()))
		return
	}
	r.Low, r.High = 1-x.High, 1-x.Low
	share, lo, hi := formatShares(r.Measured, r.Low, r.High, c.Value)
	r.Why = fmt.Sprintf("claimed %s %% or more, measured %s %% (%s to %s %%, %s, %s) of what %s takes",
		format.Significant(100*c.Value), share, lo, hi, formatLevel(x.Level), format.Count(x.Rounds, "round"), x.Against)
	if why, _ := j.whyTooFewRequests(c.Metric, c.Workload, c.Contender, x.Against); why != "" {
		r.Why += fmt.Sprintf(": %s is thin: %s", c.Metric, why)
		return
	}
	claimedLog := math.Log1p(-c.Value) // logarithm of the ratio that saves exactly this share
	switch {
	case math.Log(x.High) <= claimedLog:
		r.Outcome = tare.Holds
	case math.Log(x.Low) > claimedLog:
		r.Outcome = tare.Refuted
	default:
		r.Why += ": more rounds are needed"
	}
}
