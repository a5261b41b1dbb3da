package judge

import (
	"fmt"
	"math"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file judges published claims of a trend. For example, a page states that a router gets
// slower, compared with the baseline, the more routes there are.

// judgeTrend judges a claim that the ratio to the baseline rises or falls along a list of workloads.
// In each round it fits a straight line to the logarithms of the ratios, over the positions in the
// list. The change of the line from the first workload to the last decides.
func (j *judge) judgeTrend(r *tare.ClaimResult, c tare.Claim) {
	if j.reportUnanswerableAlong(r, c) {
		return
	}
	changes := j.ratioChangesByRound(c, c.Contender)
	if len(changes) == 0 {
		setNotMeasured(r, fmt.Sprintf("%s and %s have no ratio of %s on each of %s in any round",
			c.Contender, j.evidence.Study.Baseline, tare.MetricFor(c.Metric).Noun, strings.Join(c.Workloads, ", ")))
		return
	}
	r.Evidence = fmt.Sprintf("%s against %s, %s, over %s, %s", c.Contender, j.evidence.Study.Baseline, c.Metric, strings.Join(c.Workloads, ", "), format.Count(len(changes), "round"))
	r.Measured, r.Outcome = math.Exp(stats.HodgesLehmann(changes)), tare.ClaimOpen
	level := stats.LookLevel(alpha, j.evidence.Looks())
	lo, hi, ok := stats.Interval(changes, level)
	if !ok {
		r.Why = fmt.Sprintf("no interval after %s; it takes %d", format.Count(len(changes), "round"), stats.MinRounds(level))
		return
	}
	row := tare.Comparison{Ratio: r.Measured, Low: math.Exp(lo), High: math.Exp(hi), Level: 1 - alpha, Rounds: len(changes), Exact: lo == hi}
	r.Low, r.High = row.Low, row.High
	ratio, span := formatRatio(row, 1, 1/tieWithin, tieWithin)
	r.Why = fmt.Sprintf("from %s to %s the ratio moves by a factor of %s %s", c.Workloads[0], c.Workloads[len(c.Workloads)-1], ratio, span)
	for _, w := range c.Workloads {
		if why, _ := j.whyTooFewRequests(c.Metric, w, c.Contender, j.evidence.Study.Baseline); why != "" {
			r.Why += fmt.Sprintf(": %s is thin on %s: %s", c.Metric, w, why)
			return
		}
	}
	floor, _ := stats.HalfWidth(j.ratioChangesByRound(c, tare.ControlID), level)
	outcome, why := trendOutcome(c, row, floor)
	r.Outcome, r.Why = outcome, r.Why+": "+why
}

// ratioChangesByRound returns, for each round with all workloads, the change of the line that
// judgeTrend describes. It is a logarithm. If a value of a trial is zero in any round, the result is
// nil: omitting only that round would select by outcome.
func (j *judge) ratioChangesByRound(c tare.Claim, contender string) []float64 {
	var positions []float64
	for i := range c.Workloads {
		positions = append(positions, float64(i))
	}
	var changes []float64
	for _, r := range j.evidence.Index().Rounds() {
		ratios, hasZero := j.ratiosAlong(c, contender, r)
		if hasZero {
			return nil
		}
		if len(ratios) == len(positions) {
			slope := leastSquares(positions, ratios)
			changes = append(changes, slope*float64(len(positions)-1))
		}
	}
	return changes
}

// ratiosAlong returns the logarithms of the ratios to the baseline in one round, on the workloads of c
// that have one. hasZero is true if a value of a trial is zero.
func (j *judge) ratiosAlong(c tare.Claim, contender string, round int) (ratios []float64, hasZero bool) {
	x := j.evidence.Index()
	m, _ := tare.MetricNamed(c.Metric)
	for _, w := range c.Workloads {
		key, baseKey := evidence.At(round, w, contender), evidence.At(round, w, j.evidence.Study.Baseline)
		_, isMeasured := x.InRound(m, key)
		_, isBaseMeasured := x.InRound(m, baseKey)
		if !isMeasured || !isBaseMeasured {
			continue
		}
		effect, ok := effectInRound(x, j.evidence, m, key, baseKey)
		switch {
		case ok:
			ratios = append(ratios, effect)
		case !m.PerSlice:
			return nil, true
		}
	}
	return ratios, false
}

// reportUnanswerableAlong reports whether a claim about several workloads cannot be judged on one of
// them, and writes the reason into r.
func (j *judge) reportUnanswerableAlong(r *tare.ClaimResult, c tare.Claim) bool {
	for _, w := range c.Workloads {
		if why, ok := j.evidence.Measures(w, c.Metric); !ok {
			setNotMeasured(r, why)
			return true
		}
		if f, ok := j.findRatioVoid(c.Contender, w, c.Metric); ok {
			r.Evidence = "check " + f.Check
			setNotMeasured(r, fmt.Sprintf("%s: void by %s: %s", w, f.Check, f.Message))
			return true
		}
	}
	return false
}

// trendOutcome compares a claimed trend with row. The ratio of row is the factor by which the ratio to
// the baseline changes from the first workload to the last. floor is the trend that the control shows
// by chance, a logarithm: a smaller trend counts as none.
func trendOutcome(c tare.Claim, row tare.Comparison, floor float64) (o tare.Outcome, why string) {
	claimed := "rises"
	if c.Side == "lower" {
		claimed = "falls"
	}
	isTie := 1/tieWithin <= row.Low && row.High <= tieWithin
	isFall, isFallClaimed := row.High < 1, c.Side == "lower"
	switch {
	case isTie:
		return tare.Refuted, "it stays within 5 %, where it was claimed that it " + claimed
	case row.Differs(floor) == tare.WithinNoise:
		return tare.ClaimOpen, "within what the control shows here (±" + format.Percent(math.Expm1(floor)) + ")"
	case row.Differs(floor) == tare.NotShown:
		return tare.ClaimOpen, "more rounds are needed"
	case isFall == isFallClaimed:
		return tare.Holds, "it " + claimed + " as claimed"
	}
	return tare.Refuted, "it was claimed that it " + claimed
}
