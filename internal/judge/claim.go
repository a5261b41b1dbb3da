package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
)

// Bounds of the outcomes of a claim.
const (
	holdsWithin = 1.25 // of the published ratio, either way
	tieWithin   = 1.05 // of 1, either way
	littleBelow = 1.10 // a published effect below this can tie
	sizeWithin  = 2    // of the published ratio; beyond it the size is refuted
)

// claimEdges are the logarithms of the ratios at which the outcome flips, 1
// itself aside.
func claimEdges(c tare.Claim) []float64 {
	published := math.Log(c.Ratio())
	return []float64{
		published - math.Log(holdsWithin), published + math.Log(holdsWithin),
		published - math.Log(sizeWithin), published + math.Log(sizeWithin),
		-math.Log(tieWithin), math.Log(tieWithin),
	}
}

// Claims answers the study's claims. The first outcome that matches wins, in
// this order:
//
//	not measured       the contender or workload was not measured, could not be
//	                   built, or is void, or the metric says nothing about
//	                   the workload
//	void as published  the contender is a trap, and the check that was expected
//	                   to void it did: the original measured something else; or
//	                   the statement is about a criterion that everything meets
//	tie                the interval is inside ±5 % of 1, and less than 10 % was claimed
//	refuted            the interval is wholly on the other side of 1, or inside
//	                   ±5 % of 1 where 10 % or more was claimed
//	holds              the interval is on the claimed side, inside the published
//	                   ratio times or divided by 1.25
//	direction holds    the interval is wholly on the claimed side
//	inconclusive       none of these yet
//
// The claimed side is the claim's own, or else that of its figures. A claim of
// exact equality (equal figures, no side) is refuted by an interval wholly
// outside ±5 %. A side is only said where the ratio lies beyond what the
// control shows. A latency that rests on too few requests leaves a claim open.
//
// These are the outcomes of claims of a ratio. A count holds within the
// published number times or divided by 1.25 and is refuted otherwise. A trend
// has no size, so that it holds where a ratio's direction would, and its 1 is a
// ratio that stays as it is along the workloads. A growth holds where the
// whole interval of the exponent lies within 0.1 of the published one, and is
// refuted where all of it lies outside. Statements are answered by
// the check they name. A share holds where the whole interval is at or above
// it and is refuted where all of it lies below. A cause is refuted where another
// step of the decomposition has a share of its own, and holds where none can have
// more than 5 %. What is only reported is not measured.
func Claims(d evidence.Evidence, comparisons []tare.Comparison, values []tare.Value, findings []tare.Finding, notWeighed []tare.NotWeighed) []tare.ClaimResult {
	b := &rulingData{d: d.Indexed(), comparisons: comparisons, findings: findings}
	var out []tare.ClaimResult
	for _, c := range d.Study.Claims {
		r := tare.ClaimResult{
			ID: c.ID, Kind: c.Kind, Source: c.Source, Statement: c.Statement,
			Contender: c.Contender, Workload: c.Workload, Metric: c.Metric,
		}
		switch c.Kind {
		case tare.ClaimRatio:
			if !c.Directed() {
				r.Published, r.PublishedValue, r.PublishedBaseline, r.Unit = c.Ratio(), c.Value, c.Baseline, c.Unit
			}
		case tare.ClaimCount, tare.ClaimShare, tare.ClaimGrowth, tare.ClaimRate:
			r.Published = c.Value
		case tare.ClaimReported:
			r.Published, r.Unit = c.Value, c.Unit
		}
		b.claim(&r, c, values, notWeighed)
		out = append(out, r)
	}
	return out
}

func (b *rulingData) claim(r *tare.ClaimResult, c tare.Claim, values []tare.Value, notWeighed []tare.NotWeighed) {
	if c.Kind == tare.ClaimReported {
		notMeasured(r, c.Because)
		return
	}
	for _, n := range notWeighed {
		work := n.Workload()
		if n.Contender() == c.Contender || work != "" && (work == c.Workload || work == c.Of.Workload || slices.Contains(c.Workloads, work) || b.toldOn(c, work)) {
			notMeasured(r, n.What+": "+n.Why)
			return
		}
	}
	who, ok := b.d.Contender(c.Contender)
	if !ok {
		notMeasured(r, c.Contender+" was not measured")
		return
	}
	if who.Absent() {
		notMeasured(r, who.ID+" is "+who.Error)
		return
	}
	if c.Kind == tare.ClaimStatement {
		b.statement(r, c)
		return
	}
	if who.Role == tare.RoleTrap {
		b.trapClaim(r, who)
		return
	}
	claimJudges()[c.Kind](b, r, c, values)
	if who.Role == tare.RoleApart && r.Outcome != tare.NotMeasured {
		r.Evidence += "; " + apart
	}
}

// claimJudges returns what answers a claim of each kind, for contenders that were
// measured. [tare.Claim.Validate] checks the fields that a kind needs.
func claimJudges() map[tare.ClaimKind]func(*rulingData, *tare.ClaimResult, tare.Claim, []tare.Value) {
	without := func(judge func(*rulingData, *tare.ClaimResult, tare.Claim)) func(*rulingData, *tare.ClaimResult, tare.Claim, []tare.Value) {
		return func(b *rulingData, r *tare.ClaimResult, c tare.Claim, _ []tare.Value) { judge(b, r, c) }
	}
	return map[tare.ClaimKind]func(*rulingData, *tare.ClaimResult, tare.Claim, []tare.Value){
		tare.ClaimRatio:  (*rulingData).ratioClaim,
		tare.ClaimCount:  without((*rulingData).count),
		tare.ClaimTrend:  without((*rulingData).trend),
		tare.ClaimGrowth: without((*rulingData).growth),
		tare.ClaimShare:  without((*rulingData).shareClaim),
		tare.ClaimRate:   without((*rulingData).rateClaim),
		tare.ClaimCause:  without((*rulingData).causeClaim),
	}
}

// notAnswerable reports whether a claim of a comparison cannot be judged because it
// was not measured, or is void, and writes the reason into r.
func (b *rulingData) notAnswerable(r *tare.ClaimResult, c tare.Claim) bool {
	if why, ok := b.d.Measures(c.Workload, c.Metric); !ok {
		notMeasured(r, why)
		return true
	}
	if f, ok := b.void(c.Contender, c.Workload, c.Metric, true); ok && !b.limitIsClaimed(c, f) {
		r.Evidence = "check " + f.Check
		notMeasured(r, "void by "+f.Check+": "+f.Message)
		return true
	}
	return false
}

// ratioClaim answers a claim of a ratio, and what its figures are parts of.
func (b *rulingData) ratioClaim(r *tare.ClaimResult, c tare.Claim, values []tare.Value) {
	b.answerRatio(r, c, values)
	if r.Outcome != tare.NotMeasured {
		r.Shares = shares(b.d, c, values)
	}
}

func (b *rulingData) answerRatio(r *tare.ClaimResult, c tare.Claim, values []tare.Value) {
	if b.notAnswerable(r, c) {
		return
	}
	if c.Of != (tare.ClaimOf{}) {
		b.ownRatio(r, c)
		return
	}
	comparison, ok := b.comparison(c.Contender, c.Workload, c.Metric)
	if !ok {
		b.claimWithout(r, c, values)
		return
	}
	r.Evidence = fmt.Sprintf("%s against %s, %s, %s", c.Contender, comparison.Against, c.Metric, formatRounds(comparison.Rounds))
	b.decideRatio(r, c, comparison, tare.NoiseFloor(b.comparisons, c.Workload, c.Metric))
}

// decideRatio compares a claimed ratio with the interval of a measured one. control
// is the half-width below which no difference is claimed.
func (b *rulingData) decideRatio(r *tare.ClaimResult, c tare.Claim, comparison tare.Comparison, control float64) {
	if !comparison.Bounded() {
		r.Outcome = tare.ClaimOpen
		r.Measured = comparison.Ratio
		r.Why = fmt.Sprintf("no interval after %s; it takes %d", formatRounds(comparison.Rounds), roundsForInterval(comparison, b.d.Looks()))
		return
	}
	r.Measured, r.Low, r.High = comparison.Ratio, comparison.Low, comparison.High
	if why, _ := b.tooFewRequests(c.Metric, c.Workload, c.Contender, comparison.Against); why != "" {
		ratio, span := spanned(comparison)
		r.Outcome = tare.ClaimOpen
		r.Why = fmt.Sprintf("published %s, measured %s× %s: %s is thin: %s", publishedRatio(c), ratio, span, c.Metric, why)
		return
	}
	r.Outcome, r.SizeRefuted = outcome(c, comparison, control)
	r.Why = because(c, comparison, control, r.Outcome, r.SizeRefuted)
}

func notMeasured(r *tare.ClaimResult, why string) {
	r.Outcome, r.Why = tare.NotMeasured, why
	if r.Evidence == "" {
		r.Evidence = "none"
	}
}

// trapClaim answers a claim whose contender reproduces a published mistake.
func (b *rulingData) trapClaim(r *tare.ClaimResult, who tare.Contender) {
	for _, f := range tare.VoidsMetric(b.findings, who.ID, r.Workload, r.Metric) {
		if slices.Contains(who.Expect.Void, f.Check) {
			r.Outcome = tare.VoidAsPublished
			r.Evidence = "check " + f.Check
			r.Why = "void by " + f.Check + ": " + f.Message
			return
		}
	}
	if fs := tare.VoidsMetric(b.findings, who.ID, r.Workload, r.Metric); len(fs) > 0 {
		r.Evidence = "check " + fs[0].Check
		notMeasured(r, "void by "+fs[0].Check+": "+fs[0].Message)
		return
	}
	notMeasured(r, who.ID+" is a trap, and traps are not compared")
}

// claimWithout answers a claim for which there is no ratio.
func (b *rulingData) claimWithout(r *tare.ClaimResult, c tare.Claim, values []tare.Value) {
	find := func(id string) (tare.Value, bool) {
		i := slices.IndexFunc(values, func(v tare.Value) bool {
			return v.Contender == id && v.Workload == c.Workload && v.Metric == c.Metric
		})
		if i < 0 {
			return tare.Value{}, false
		}
		return values[i], true
	}
	own, okOwn := find(c.Contender)
	base, okBase := find(b.d.Study.Baseline)
	switch {
	case !okOwn:
		notMeasured(r, fmt.Sprintf("%s has no %s on %s", c.Contender, tare.MetricFor(c.Metric).Noun, c.Workload))
	case !okBase:
		notMeasured(r, fmt.Sprintf("%s has no %s on %s", b.d.Study.Baseline, tare.MetricFor(c.Metric).Noun, c.Workload))
	default:
		b.zeroClaim(r, c, own, base)
	}
}

// zeroClaim answers a claim where a side is zero.
func (b *rulingData) zeroClaim(r *tare.ClaimResult, c tare.Claim, own, base tare.Value) {
	has := fmt.Sprintf("%s has %s, %s has %s", c.Contender, formatValue(own.Value, own.Unit), b.d.Study.Baseline, formatValue(base.Value, base.Unit))
	ratio, ok := zeroRatio(own, base)
	if !ok {
		notMeasured(r, "no ratio: "+has)
		return
	}
	r.Evidence = fmt.Sprintf("%s and %s, %s, %s", c.Contender, b.d.Study.Baseline, c.Metric, formatRounds(own.Rounds))
	r.Why = has
	switch {
	case ratio == 1 && little(c):
		r.Outcome = tare.Tie
	case ratio < 1 && side(c) < 0, ratio > 1 && side(c) > 0:
		r.Outcome, r.SizeRefuted = tare.DirectionHolds, true
	default:
		r.Outcome = tare.Refuted
	}
}

// side is the claimed side of 1: −1 below, 1 above, 0 neither.
func side(c tare.Claim) int {
	switch {
	case c.Side == "lower":
		return -1
	case c.Side == "higher":
		return 1
	case c.Ratio() < 1:
		return -1
	case c.Ratio() > 1:
		return 1
	}
	return 0
}

// publishedRatio is what was published of a ratio, in words.
func publishedRatio(c tare.Claim) string {
	if c.Directed() {
		return c.Side + " without a figure"
	}
	return significant(c.Ratio()) + "×"
}

// little reports whether the claimed effect is small enough to tie.
func little(c tare.Claim) bool {
	return math.Abs(math.Log(c.Ratio())) < math.Log(littleBelow)
}

// outcome holds a claim against an interval.
func outcome(claim tare.Claim, c tare.Comparison, control float64) (o tare.Outcome, sizeRefuted bool) {
	published := claim.Ratio()
	inside := 1/tieWithin <= c.Low && c.High <= tieWithin
	measured := 0 // side of 1 the interval is wholly on
	if c.Differs(control) == tare.Significant {
		measured = 1
		if c.High < 1 {
			measured = -1
		}
	}
	claimed := side(claim)
	switch {
	case claim.Directed() && measured == 0 && !inside:
		return tare.ClaimOpen, false
	case claim.Directed() && !inside && measured == claimed:
		return tare.Holds, false
	case claim.Directed():
		return tare.Refuted, false
	case inside && little(claim):
		return tare.Tie, false
	case inside:
		return tare.Refuted, false
	case claimed == 0 && (c.Low > tieWithin || c.High < 1/tieWithin):
		return tare.Refuted, false
	case claimed == 0:
		return tare.ClaimOpen, false
	case measured == 0:
		return tare.ClaimOpen, c.High < published/holdsWithin || c.Low > published*holdsWithin
	case measured != claimed:
		return tare.Refuted, false
	case published/holdsWithin <= c.Low && c.High <= published*holdsWithin:
		return tare.Holds, false
	}
	return tare.DirectionHolds, c.High < published/sizeWithin || c.Low > published*sizeWithin
}

// because is the reason for an outcome, from the numbers.
func because(claim tare.Claim, c tare.Comparison, control float64, o tare.Outcome, sizeRefuted bool) string {
	published := claim.Ratio()
	ratio, span := spanned(c, 1, 1/tieWithin, tieWithin, published/holdsWithin, published*holdsWithin)
	s := fmt.Sprintf("published %s, measured %s× %s", publishedRatio(claim), ratio, span)
	sideWord := map[int]string{-1: "below", 1: "above"}[side(claim)]
	switch o {
	case tare.Tie:
		return s + ": within 5 % of 1, and less than 10 % was claimed"
	case tare.Refuted:
		if 1/tieWithin <= c.Low && c.High <= tieWithin {
			if claim.Directed() {
				return s + ": within 5 % of 1"
			}
			return s + ": within 5 % of 1, where 10 % or more was claimed"
		}
		if side(claim) == 0 {
			return s + ": more than 5 % from 1, where equality was claimed"
		}
		return s + ": not " + sideWord + " 1 as claimed, but the other side"
	case tare.Holds:
		if claim.Directed() {
			return s + ": " + sideWord + " 1 as claimed"
		}
		return s + ": within 1.25× of the published ratio"
	case tare.DirectionHolds:
		if sizeRefuted {
			return s + ": " + sideWord + " 1 as claimed, but more than 2× away from the published ratio"
		}
		return s + ": " + sideWord + " 1 as claimed, not within 1.25× of the published ratio"
	}
	open := ": more rounds are needed"
	if c.Differs(control) == tare.WithinNoise {
		open = ": within what the control shows here (±" + format.Percent(math.Expm1(control)) + ")"
	}
	if sizeRefuted {
		open += "; the direction is open, but it is not the published size: all of the interval is more than 1.25× away from it"
	}
	return s + open
}
