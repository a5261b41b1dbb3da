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

// isDecomposedOn reports whether workload is that of the decomposition that answers c.
func (b *rulingData) isDecomposedOn(c tare.Claim, workload string) bool {
	return slices.ContainsFunc(b.d.Study.Decompose, func(d tare.Decompose) bool { return d.ID == c.Decomposition && d.Workload == workload })
}

// judgeCause answers a claim that all of a difference comes from some steps of its decomposition:
// the shares of the others decide it.
func (b *rulingData) judgeCause(r *tare.ClaimResult, c tare.Claim) {
	i := slices.IndexFunc(b.d.Study.Decompose, func(d tare.Decompose) bool { return d.ID == c.Decomposition })
	if i < 0 {
		setNotMeasured(r, fmt.Sprintf("the study has no decomposition %q", c.Decomposition))
		return
	}
	asked := b.d.Study.Decompose[i]
	if why, ok := b.d.Measures(asked.Workload, asked.Metric); !ok && asked.Metric != "" {
		setNotMeasured(r, why)
		return
	}
	told := b.decomposeOne(asked, Effects(b.d))
	r.Workload, r.Metric = told.Workload, told.Metric
	r.Evidence = fmt.Sprintf("decomposition %s, %s", told.ID, format.Count(told.Whole.Rounds, "round"))
	switch {
	case len(told.Steps) < len(asked.Steps):
		setNotMeasured(r, told.Sentence)
		return
	case told.Steps[0].ShareLow == 0 && told.Steps[0].ShareHigh == 0:
		r.Outcome, r.Why = tare.ClaimOpen, told.Sentence
		return
	}
	var others, shown, own []tare.Cause
	small := true
	for _, s := range told.Steps {
		if slices.Contains(c.Causes, s.To) {
			own = append(own, s)
			continue
		}
		others = append(others, s)
		if s.ShareLow > 0 || s.ShareHigh < 0 {
			shown = append(shown, s)
		}
		small = small && math.Max(math.Abs(s.ShareLow), math.Abs(s.ShareHigh)) <= tieWithin-1
	}
	claimed := ""
	if len(own) > 1 {
		claimed = b.describeJointShare(asked, told.Metric, c.Causes)
	}
	switch {
	case small:
		r.Outcome, r.Why = tare.Holds, "no other cause can have more than "+format.Percent(tieWithin-1)+" of the difference"
	case len(shown) > 0:
		r.Outcome, r.Why = tare.Refuted, claimed+"of the difference, "+listShares(shown)
	default:
		r.Outcome, r.Why = tare.ClaimOpen, claimed+"more rounds are needed: of the difference, "+listShares(others)
	}
	if len(own) > 0 && r.Outcome != tare.Holds {
		r.Why += "; of what was claimed, " + listShares(own)
	}
}

// describeJointShare returns the share of the difference that the steps to causes have together:
// "the steps claimed are together 82 % (75 to 90) of the difference; ". It returns "" if there is no
// interval.
func (b *rulingData) describeJointShare(asked tare.Decompose, metric string, causes []string) string {
	x := b.d.Index()
	m, _ := tare.MetricNamed(metric)
	var part, whole []float64
	for _, round := range x.Rounds() {
		from, ok := x.InRound(m, evidence.At(round, asked.Workload, asked.From))
		first, sum := from, 0.0
		for _, s := range asked.Steps {
			to, measured := x.InRound(m, evidence.At(round, asked.Workload, s.To))
			if slices.Contains(causes, s.To) {
				sum += to - from
			}
			from, ok = to, ok && measured
		}
		if ok {
			part, whole = append(part, sum), append(whole, from-first)
		}
	}
	share, low, high, ok := stats.Share(part, whole, stats.LookLevel(alpha, b.d.Looks()))
	if !ok {
		return ""
	}
	text, lo, hi := formatShares(share, low, high, 0)
	return fmt.Sprintf("the steps claimed are together %s %% (%s to %s) of the difference; ", text, lo, hi)
}
