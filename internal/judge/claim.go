package judge

import (
	"cmp"
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
	sizeWithin  = 2    // of the published ratio; below it the size is refuted
	effectTimes = 2    // the logarithm of a ratio that holds is at most this many times the published one, and at least the same part of it
)

// claimEdges returns the logarithms of the ratios at which the outcome flips, 1
// itself aside.
func claimEdges(c tare.Claim) []float64 {
	published := math.Log(c.Ratio())
	edges := []float64{
		published - math.Log(holdsWithin), published + math.Log(holdsWithin),
		published - math.Log(sizeWithin), published + math.Log(sizeWithin),
		-math.Log(tieWithin), math.Log(tieWithin),
		published / effectTimes, published * effectTimes,
	}
	if c.Target > 0 {
		edges = append(edges, math.Log(c.Target))
	}
	return edges
}

// Claims answers the study's claims. The first outcome that matches wins, in
// this order:
//
//	not measured       the contender or workload was not measured, could not be
//	                   built, or is void, or the metric says nothing about
//	                   the workload
//	void as published  the contender is a trap, and the check that was expected
//	                   to void it did: the original measured something else; or
//	                   the statement is about a criterion that everything meets;
//	                   or the ratio is made by the study's own relay
//	tie                the interval is inside ±5 % of 1, and less than 10 % was claimed
//	refuted            the interval is wholly on the other side of 1, or inside
//	                   ±5 % of 1 where 10 % or more was claimed
//	holds              the interval is on the claimed side, inside the published
//	                   ratio times or divided by 1.25, and the effect is about
//	                   as large: at most twice the published one, at least half
//	more than published
//	                   the interval is on the claimed side, and all of it is
//	                   farther from 1 than those bounds
//	direction holds    the interval is wholly on the claimed side
//	not the published size
//	                   the direction is open, and all of the interval is more
//	                   than 1.25× away from the published ratio
//	inconclusive       none of these yet
//
// If the publication named a target that was reached, a claim holds only if the entire interval
// reaches it.
//
// The claimed side is the claim's own, or else that of its figures. A claim of exact equality
// (equal figures, no side) is refuted by an interval wholly outside ±5 %. A side is only stated if
// the ratio exceeds the noise that the control shows. A latency with too few requests leaves a
// claim open.
//
// These are the outcomes of claims of a ratio. A count holds within the published number times or
// divided by 1.25 and is refuted otherwise. A trend has no size, so that it holds if a ratio's
// direction would, and its 1 is a ratio that stays the same along the workloads. A growth holds if
// the entire interval of the exponent is within 0.1 of the published one, or if a fixed cost and a
// cost in proportion to size^exponent are within 1.5× of the time at each size, and these span 16×
// or more; it is refuted if all of the exponent's interval is outside. Statements are judged by the
// check they name. A share holds if the entire interval is at or above it and is refuted if all of
// it is below. A cause is refuted if another step of the decomposition has a share, and holds if
// none can have more than 5 %. Reported claims are not measured.
func Claims(d evidence.Evidence, comparisons []tare.Comparison, values []tare.Value, findings []tare.Finding, notWeighed []tare.NotWeighed) []tare.ClaimResult {
	b := &rulingData{d: d.Indexed(), comparisons: comparisons, findings: findings}
	var out []tare.ClaimResult
	for _, c := range d.Study.Claims {
		r := tare.ClaimResult{
			ID: c.ID, Kind: c.Kind, Source: c.Source, Place: c.Place, Shown: c.Shown, Statement: c.Statement,
			Contender: c.Contender, Workload: c.Workload, Metric: c.Metric,
		}
		for _, s := range d.Study.Sources {
			if s.Name == c.Source {
				r.SourceURL = s.URL
			}
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
		if c.StandIn != "" && !b.wasMeasured(c, notWeighed) {
			c.Contender, r.Contender = c.StandIn, c.StandIn
		}
		b.judgeClaim(&r, c, values, notWeighed)
		if c.StandIn != "" && c.Contender == c.StandIn && r.Outcome != tare.NotMeasured {
			r.Why = "by our stand-in " + c.StandIn + ", the original was not measured: " + r.Why
		}
		out = append(out, r)
	}
	return out
}

// wasMeasured reports whether the contender of a claim was measured on the workloads of the claim.
func (b *rulingData) wasMeasured(c tare.Claim, notWeighed []tare.NotWeighed) bool {
	who, ok := b.d.Contender(c.Contender)
	if !ok || who.Absent() || slices.ContainsFunc(notWeighed, func(n tare.NotWeighed) bool { return n.Contender() == c.Contender }) {
		return false
	}
	return !slices.ContainsFunc(b.d.Study.Workloads, func(w tare.Workload) bool {
		return (w.ID == c.Workload || slices.Contains(c.Workloads, w.ID)) && !w.Asks(c.Contender) && c.Contender != b.d.Study.Baseline
	})
}

func (b *rulingData) judgeClaim(r *tare.ClaimResult, c tare.Claim, values []tare.Value, notWeighed []tare.NotWeighed) {
	if c.Kind == tare.ClaimReported {
		setNotMeasured(r, c.Because)
		return
	}
	for _, n := range notWeighed {
		work := n.Workload()
		if n.Contender() == c.Contender || work != "" && (work == c.Workload || work == c.Of.Workload || slices.Contains(c.Workloads, work) || b.isDecomposedOn(c, work)) {
			setNotMeasured(r, n.What+": "+n.Why)
			return
		}
	}
	who, ok := b.d.Contender(c.Contender)
	if !ok {
		setNotMeasured(r, c.Contender+" was not measured")
		return
	}
	if who.Absent() {
		setNotMeasured(r, who.ID+" is "+who.Error)
		return
	}
	if c.Kind == tare.ClaimStatement {
		b.judgeStatement(r, c)
		return
	}
	if who.Role == tare.RoleTrap {
		b.judgeTrap(r, who)
		return
	}
	claimJudges()[c.Kind](b, r, c, values)
	if who.Role == tare.RoleApart && r.Outcome != tare.NotMeasured {
		r.Evidence += "; " + apartNote
	}
}

// claimJudges returns what answers a claim of each kind, for contenders that were
// measured. [tare.Claim.Validate] checks the fields that a kind needs.
func claimJudges() map[tare.ClaimKind]func(*rulingData, *tare.ClaimResult, tare.Claim, []tare.Value) {
	without := func(judge func(*rulingData, *tare.ClaimResult, tare.Claim)) func(*rulingData, *tare.ClaimResult, tare.Claim, []tare.Value) {
		return func(b *rulingData, r *tare.ClaimResult, c tare.Claim, _ []tare.Value) { judge(b, r, c) }
	}
	return map[tare.ClaimKind]func(*rulingData, *tare.ClaimResult, tare.Claim, []tare.Value){
		tare.ClaimRatio:  (*rulingData).judgeRatio,
		tare.ClaimCount:  without((*rulingData).judgeModuleCount),
		tare.ClaimTrend:  without((*rulingData).judgeTrend),
		tare.ClaimGrowth: without((*rulingData).judgeGrowth),
		tare.ClaimShare:  without((*rulingData).judgeShare),
		tare.ClaimRate:   without((*rulingData).judgeRate),
		tare.ClaimCause:  without((*rulingData).judgeCause),
	}
}

// reportUnanswerable reports whether a claim of a comparison cannot be judged because it
// was not measured, or is void, and writes the reason into r.
func (b *rulingData) reportUnanswerable(r *tare.ClaimResult, c tare.Claim) bool {
	if why, ok := b.d.Measures(c.Workload, c.Metric); !ok {
		setNotMeasured(r, why)
		return true
	}
	if f, ok := b.findVoid(c.Contender, c.Workload, c.Metric, c.Of.Contender == ""); ok && (c.Of == (tare.ClaimOf{}) || b.whyRelayed(c) == "") {
		r.Evidence = "check " + f.Check
		setNotMeasured(r, "void by "+f.Check+": "+f.Message)
		return true
	}
	return false
}

// judgeRatio answers a claim of a ratio, and sets the shares of its figures.
func (b *rulingData) judgeRatio(r *tare.ClaimResult, c tare.Claim, values []tare.Value) {
	b.answerRatio(r, c, values)
	if r.Outcome != tare.NotMeasured {
		r.Shares = findShares(b.d, c, values)
	}
}

func (b *rulingData) answerRatio(r *tare.ClaimResult, c tare.Claim, values []tare.Value) {
	if b.reportUnanswerable(r, c) {
		return
	}
	if c.Of != (tare.ClaimOf{}) {
		b.judgeOwnRatio(r, c)
		return
	}
	comparison, ok := b.comparisonOf(c.Contender, c.Workload, c.Metric)
	if !ok {
		b.judgeWithoutRatio(r, c, values)
		return
	}
	r.Evidence = fmt.Sprintf("%s against %s, %s, %s", c.Contender, comparison.Against, c.Metric, format.Count(comparison.Rounds, "round"))
	b.decideRatio(r, c, comparison, tare.NoiseFloor(b.comparisons, c.Workload, c.Metric))
}

// decideRatio compares a claimed ratio with the interval of a measured one. control
// is the half-width below which no difference is claimed.
func (b *rulingData) decideRatio(r *tare.ClaimResult, c tare.Claim, comparison tare.Comparison, control float64) {
	if !comparison.Bounded() {
		r.Outcome = tare.ClaimOpen
		r.Measured = comparison.Ratio
		r.Why = fmt.Sprintf("no interval after %s; it takes %d", format.Count(comparison.Rounds, "round"), roundsForInterval(comparison, b.d.Looks()))
		return
	}
	r.Measured, r.Low, r.High = comparison.Ratio, comparison.Low, comparison.High
	if why, _ := b.whyTooFewRequests(c.Metric, c.Workload, c.Contender, comparison.Against); why != "" {
		ratio, span := formatRatio(comparison)
		r.Outcome = tare.ClaimOpen
		r.Why = fmt.Sprintf("published %s, measured %s× %s: %s is thin: %s", publishedRatio(c), ratio, span, c.Metric, why)
		return
	}
	r.Outcome, r.SizeRefuted = compareClaim(c, comparison, control)
	r.Why = explainOutcome(c, comparison, control, r.Outcome, r.SizeRefuted)
}

func setNotMeasured(r *tare.ClaimResult, why string) {
	r.Outcome, r.Why = tare.NotMeasured, why
	if r.Evidence == "" {
		r.Evidence = "none"
	}
}

// judgeTrap answers a claim whose contender reproduces a published mistake.
func (b *rulingData) judgeTrap(r *tare.ClaimResult, who tare.Contender) {
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
		setNotMeasured(r, "void by "+fs[0].Check+": "+fs[0].Message)
		return
	}
	setNotMeasured(r, who.ID+" is a trap, and traps are not compared")
}

// judgeWithoutRatio answers a claim for which there is no ratio.
func (b *rulingData) judgeWithoutRatio(r *tare.ClaimResult, c tare.Claim, values []tare.Value) {
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
		setNotMeasured(r, fmt.Sprintf("%s has no %s on %s", c.Contender, tare.MetricFor(c.Metric).Noun, c.Workload))
	case !okBase:
		setNotMeasured(r, fmt.Sprintf("%s has no %s on %s", b.d.Study.Baseline, tare.MetricFor(c.Metric).Noun, c.Workload))
	default:
		b.judgeZero(r, c, own, base)
	}
}

// judgeZero answers a claim if a side is zero.
func (b *rulingData) judgeZero(r *tare.ClaimResult, c tare.Claim, own, base tare.Value) {
	has := fmt.Sprintf("%s has %s, %s has %s", c.Contender, formatValue(own.Value, own.Unit), b.d.Study.Baseline, formatValue(base.Value, base.Unit))
	ratio, ok := zeroRatio(own, base)
	if !ok {
		setNotMeasured(r, "no ratio: "+has)
		return
	}
	r.Evidence = fmt.Sprintf("%s and %s, %s, %s", c.Contender, b.d.Study.Baseline, c.Metric, format.Count(own.Rounds, "round"))
	r.Why = has
	switch {
	case ratio == 1 && canTie(c):
		r.Outcome = tare.Tie
	case ratio < 1 && claimedSide(c) < 0, ratio > 1 && claimedSide(c) > 0:
		r.Outcome, r.SizeRefuted = tare.DirectionHolds, true
	default:
		r.Outcome = tare.Refuted
	}
}

// claimedSide returns the claimed side of 1: −1 below, 1 above, 0 neither.
func claimedSide(c tare.Claim) int {
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

// publishedRatio returns the published ratio in words.
func publishedRatio(c tare.Claim) string {
	if c.Directed() {
		return c.Side + " without a figure"
	}
	return formatSignificant(c.Ratio()) + "×"
}

// canTie reports whether the claimed effect is small enough to tie.
func canTie(c tare.Claim) bool {
	return math.Abs(math.Log(c.Ratio())) < math.Log(littleBelow)
}

// compareClaim compares a claim with an interval.
func compareClaim(claim tare.Claim, c tare.Comparison, control float64) (o tare.Outcome, sizeRefuted bool) {
	published := claim.Ratio()
	inside := 1/tieWithin <= c.Low && c.High <= tieWithin
	measured := 0 // side of 1 the interval is wholly on
	if c.Differs(control) == tare.Significant {
		measured = 1
		if c.High < 1 {
			measured = -1
		}
	}
	claimed := claimedSide(claim)
	switch {
	case claim.Directed() && measured == 0 && !inside:
		return tare.ClaimOpen, false
	case claim.Directed() && !inside && measured == claimed:
		return tare.Holds, false
	case claim.Directed():
		return tare.Refuted, false
	case inside && canTie(claim):
		return tare.Tie, false
	case inside:
		return tare.Refuted, false
	case claimed == 0 && (c.Low > tieWithin || c.High < 1/tieWithin):
		return tare.Refuted, false
	case claimed == 0:
		return tare.ClaimOpen, false
	case measured == 0 && (c.High < published/holdsWithin || c.Low > published*holdsWithin):
		return tare.NotThatSize, true
	case measured == 0:
		return tare.ClaimOpen, false
	case measured != claimed:
		return tare.Refuted, false
	}
	return compareSize(claim, c)
}

// compareSize compares the size of an effect on the claimed side with the published one. If the
// sentence contradicts its figures they state no size.
func compareSize(claim tare.Claim, c tare.Comparison) (o tare.Outcome, sizeRefuted bool) {
	near, far := math.Abs(math.Log(c.High)), math.Abs(math.Log(c.Low)) // bounds of the effect
	if near > far {
		near, far = far, near
	}
	said := math.Abs(math.Log(claim.Ratio()))
	agrees := (claim.Ratio() < 1) == (claimedSide(claim) < 0)
	within := claim.Ratio()/holdsWithin <= c.Low && c.High <= claim.Ratio()*holdsWithin
	switch {
	case !agrees && within:
		return tare.Holds, false
	case !agrees:
		return tare.DirectionHolds, false
	case near > min(said*effectTimes, said+math.Log(holdsWithin)):
		return tare.MoreThanPublished, false
	case within && far >= said/effectTimes && !missesTarget(claim, c):
		return tare.Holds, false
	}
	return tare.DirectionHolds, far < said-math.Log(sizeWithin)
}

// missesTarget reports whether some of the interval does not reach the claim's target.
func missesTarget(claim tare.Claim, c tare.Comparison) bool {
	if claim.Target < 1 {
		return claim.Target > 0 && c.High > claim.Target
	}
	return c.Low < claim.Target
}

// explainOutcome returns the reason for an outcome, with the numbers.
func explainOutcome(claim tare.Claim, c tare.Comparison, control float64, o tare.Outcome, sizeRefuted bool) string {
	published := claim.Ratio()
	ratio, span := formatRatio(c, 1, 1/tieWithin, tieWithin, published/holdsWithin, published*holdsWithin)
	s := fmt.Sprintf("published %s, measured %s× %s", publishedRatio(claim), ratio, span)
	sideWord := map[int]string{-1: "below", 1: "above"}[claimedSide(claim)]
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
		if claimedSide(claim) == 0 {
			return s + ": more than 5 % from 1, where equality was claimed"
		}
		return s + ": not " + sideWord + " 1 as claimed, but the other side"
	case tare.Holds:
		if claim.Directed() {
			return s + ": " + sideWord + " 1 as claimed"
		}
		return s + ": within 1.25× of the published ratio"
	case tare.MoreThanPublished:
		return s + ": " + sideWord + " 1 as claimed, and the difference is larger than published"
	case tare.DirectionHolds:
		if claim.Target > 0 && missesTarget(claim, c) {
			return s + ": " + describeMissedTarget(claim, c)
		}
		s += ": " + sideWord + " 1 as claimed"
		switch {
		case sizeRefuted:
			return s + ", but more than 2× away from the published ratio"
		case published/holdsWithin <= c.Low && c.High <= published*holdsWithin:
			return s + ", by less than half of what was published"
		}
		return s + ", not within 1.25× of the published ratio"
	}
	open := ": more rounds are needed"
	if c.Differs(control) == tare.WithinNoise {
		open = ": within what the control shows here (±" + format.Percent(math.Expm1(control)) + ")"
	}
	if o == tare.NotThatSize {
		open += "; the direction is open, but it is not the published size: all of the interval is more than 1.25× away from it"
	}
	return s + open
}

// describeMissedTarget returns the sentence that the target of a claim is not reached: "faster as
// claimed, not twice".
func describeMissedTarget(claim tare.Claim, c tare.Comparison) string {
	m := tare.MetricFor(claim.Metric)
	than := cmp.Or(m.Slower, m.More)
	if claim.Target < 1 {
		than = cmp.Or(m.Faster, m.Less)
	}
	times := formatSignificant(max(claim.Target, 1/claim.Target)) + " times"
	if times == "2 times" {
		times = "twice"
	}
	if claim.Target < 1 && c.Low <= claim.Target || claim.Target > 1 && c.High >= claim.Target {
		return than + " as claimed; whether " + times + " is open"
	}
	return than + " as claimed, not " + times
}
