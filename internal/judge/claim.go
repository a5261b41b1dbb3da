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

// This file judges the claims of a study, which are statements of publications. For example, a page
// states that a takes half the time of b. The measured ratio is 0.48 to 0.53, so the claim holds.

// These factors bound the outcomes that [Claims] describes.
const (
	holdsWithin  = 1.25 // a claim holds if the ratio is within this factor of the published one,
	effectWithin = 2    // and if its logarithm is within this factor of the published logarithm
	tieWithin    = 1.05 // two contenders tie if their ratio is within this factor of 1
	maxTieClaim  = 1.10 // a claim can tie if the published ratio is within this factor of 1
	sizeWithin   = 2    // the published size is refuted if the effect is smaller by more than this factor
)

// claimEdges returns the ratios, as logarithms, at which the outcome of a claim changes. It omits the
// ratio 1.
func claimEdges(c tare.Claim) []float64 {
	published := math.Log(c.Ratio())
	edges := []float64{
		published - math.Log(holdsWithin), published + math.Log(holdsWithin),
		published - math.Log(sizeWithin), published + math.Log(sizeWithin),
		-math.Log(tieWithin), math.Log(tieWithin),
		published / effectWithin, published * effectWithin,
	}
	if c.Target > 0 {
		edges = append(edges, math.Log(c.Target))
	}
	return edges
}

// Claims judges the study's claims by the measurements. notWeighed lists the contenders and
// workloads that the run omitted.
//
// A claim of a ratio gets the first of these outcomes that matches:
//
//	not measured       nothing comparable was measured, or it is void
//	void as published  the contender repeats a published mistake, and the
//	                   check that finds this mistake voids it
//	tie                the interval is inside ±5 % of 1, and less than 10 % was claimed
//	refuted            the interval is on the other side of 1, or inside ±5 %
//	                   of 1 although 10 % or more was claimed
//	holds              the interval is on the claimed side and inside the
//	                   published ratio times or divided by 1.25; the effect is
//	                   at most twice and at least half the published one
//	more than published
//	                   the interval is on the claimed side, and farther from 1
//	                   than the bounds of "holds"
//	direction holds    the interval is on the claimed side
//	not the published size
//	                   the side is open, and the interval is more than
//	                   1.25× away from the published ratio
//	inconclusive       no other outcome matches yet
//
// If a claim has a target, such as "twice as fast", it holds only if the entire interval reaches it.
//
// The claimed side of 1 is the Side of the claim, or else the side of its figures. An interval is on a
// side only if the ratio exceeds the noise floor. The noise floor is the difference of the control,
// which is the baseline measured a second time. A latency of too few requests leaves a claim
// inconclusive.
//
// Other kinds of claims:
//
//   - A count holds if the number is within the published number times or divided by 1.25. Otherwise
//     it is refuted.
//   - A trend claims that a ratio rises or falls along workloads. It holds if the change from the first
//     workload to the last is significant and in the claimed direction.
//   - A growth holds if the interval of the exponent is within 0.1 of the published exponent. It also
//     holds if that exponent with a fixed cost fits the times within 1.5×, over sizes that span 16× or
//     more. Otherwise it is refuted if the entire interval is farther off.
//   - A statement is judged by the check that it names.
//   - A share holds if the interval is at or above it, and is refuted if the interval is below.
//   - A cause holds if no other step of the decomposition can have more than 5 %. It is refuted if
//     another step has a share.
//   - Reported claims are not measured.
func Claims(d evidence.Evidence, comparisons []tare.Comparison, values []tare.Value, findings []tare.Finding, notWeighed []tare.NotWeighed) []tare.ClaimResult {
	j := &judge{evidence: d.Indexed(), comparisons: comparisons, values: values, findings: findings}
	var out []tare.ClaimResult
	for _, c := range d.Study.Claims {
		if c.StandIn != "" && !j.wasMeasured(c, notWeighed) {
			c.Contender = c.StandIn
		}
		r := newClaimResult(d.Study, c)
		j.judgeClaim(&r, c, notWeighed)
		isByStandIn := c.StandIn != "" && c.Contender == c.StandIn // also if the study itself names the stand-in
		if isByStandIn && r.Outcome != tare.NotMeasured {
			r.Why = "by our stand-in " + c.StandIn + ", the original was not measured: " + r.Why
		}
		out = append(out, r)
	}
	return out
}

func newClaimResult(s tare.Study, c tare.Claim) tare.ClaimResult {
	r := tare.ClaimResult{
		ID: c.ID, Kind: c.Kind, Source: c.Source, Place: c.Place, Shown: c.Shown, Statement: c.Statement,
		Contender: c.Contender, Workload: c.Workload, Metric: c.Metric,
	}
	for _, source := range s.Sources {
		if source.Name == c.Source {
			r.SourceURL = source.URL
		}
	}
	switch c.Kind {
	case tare.ClaimRatio:
		if !c.Directed() { // a directed claim has no figures
			r.Published, r.PublishedValue, r.PublishedBaseline, r.Unit = c.Ratio(), c.Value, c.Baseline, c.Unit
		}
	case tare.ClaimCount, tare.ClaimShare, tare.ClaimGrowth, tare.ClaimRate:
		r.Published = c.Value
	case tare.ClaimReported:
		r.Published, r.Unit = c.Value, c.Unit
	}
	return r
}

// wasMeasured reports whether the contender of c was measured on all workloads of c.
func (j *judge) wasMeasured(c tare.Claim, notWeighed []tare.NotWeighed) bool {
	contender, ok := j.evidence.Contender(c.Contender)
	isOmitted := slices.ContainsFunc(notWeighed, func(n tare.NotWeighed) bool { return n.Contender() == c.Contender })
	if !ok || contender.Absent() || isOmitted {
		return false
	}
	for _, w := range j.evidence.Study.Workloads {
		isOfClaim := w.ID == c.Workload || slices.Contains(c.Workloads, w.ID)
		isForContender := w.Asks(c.Contender) || c.Contender == j.evidence.Study.Baseline
		if isOfClaim && !isForContender {
			return false
		}
	}
	return true
}

func (j *judge) judgeClaim(r *tare.ClaimResult, c tare.Claim, notWeighed []tare.NotWeighed) {
	if c.Kind == tare.ClaimReported {
		setNotMeasured(r, c.Because)
		return
	}
	for _, n := range notWeighed {
		omitsContender := n.Contender() == c.Contender
		omitsWorkload := n.Workload() != "" && j.needsWorkload(c, n.Workload())
		if omitsContender || omitsWorkload {
			setNotMeasured(r, n.What+": "+n.Why)
			return
		}
	}
	contender, ok := j.evidence.Contender(c.Contender)
	if !ok {
		setNotMeasured(r, c.Contender+" was not measured")
		return
	}
	if contender.Absent() {
		setNotMeasured(r, contender.ID+" is "+contender.Error)
		return
	}
	if c.Kind == tare.ClaimStatement {
		j.judgeStatement(r, c)
		return
	}
	if contender.Role == tare.RoleTrap {
		j.judgeTrap(r, contender)
		return
	}
	claimJudges()[c.Kind](j, r, c)
	if contender.Role == tare.RoleApart && r.Outcome != tare.NotMeasured {
		r.Evidence += "; " + statusOnlyNote
	}
}

func (j *judge) needsWorkload(c tare.Claim, id string) bool {
	return id == c.Workload || id == c.Of.Workload || slices.Contains(c.Workloads, id) || j.isDecomposedOn(c, id)
}

// claimJudges returns the functions that judge claims, by kind. They do not check the fields of a
// claim, because [tare.Claim.Validate] does.
func claimJudges() map[tare.ClaimKind]func(*judge, *tare.ClaimResult, tare.Claim) {
	return map[tare.ClaimKind]func(*judge, *tare.ClaimResult, tare.Claim){
		tare.ClaimRatio:  (*judge).judgeRatio,
		tare.ClaimCount:  (*judge).judgeModuleCount,
		tare.ClaimTrend:  (*judge).judgeTrend,
		tare.ClaimGrowth: (*judge).judgeGrowth,
		tare.ClaimShare:  (*judge).judgeShare,
		tare.ClaimRate:   (*judge).judgeRate,
		tare.ClaimCause:  (*judge).judgeCause,
	}
}

// reportUnanswerable reports whether claim c cannot be judged, and writes the reason into r. It ignores
// findings if whyDifferentRelays has a reason, because judgeCustomRatio reports that one later.
func (j *judge) reportUnanswerable(r *tare.ClaimResult, c tare.Claim) bool {
	if why, ok := j.evidence.Measures(c.Workload, c.Metric); !ok {
		setNotMeasured(r, why)
		return true
	}
	isRelayed := c.Of != (tare.ClaimOf{}) && j.whyDifferentRelays(c) != ""
	findVoid := j.findRatioVoid
	if c.Of.Contender != "" { // the ratio is to this contender instead of the baseline
		findVoid = j.findVoid
	}
	if f, ok := findVoid(c.Contender, c.Workload, c.Metric); ok && !isRelayed {
		r.Evidence = "check " + f.Check
		setNotMeasured(r, "void by "+f.Check+": "+f.Message)
		return true
	}
	return false
}

func (j *judge) judgeRatio(r *tare.ClaimResult, c tare.Claim) {
	j.setRatioOutcome(r, c)
	if r.Outcome != tare.NotMeasured {
		r.Shares = findShares(j.evidence, c, j.values)
	}
}

func (j *judge) setRatioOutcome(r *tare.ClaimResult, c tare.Claim) {
	if j.reportUnanswerable(r, c) {
		return
	}
	if c.Of != (tare.ClaimOf{}) {
		j.judgeCustomRatio(r, c)
		return
	}
	comparison, ok := j.comparisonOf(c.Contender, c.Workload, c.Metric)
	if !ok {
		j.judgeWithoutRatio(r, c)
		return
	}
	r.Evidence = fmt.Sprintf("%s against %s, %s, %s", c.Contender, comparison.Against, c.Metric, format.Count(comparison.Rounds, "round"))
	j.decideRatio(r, c, comparison, tare.NoiseFloor(j.comparisons, c.Workload, c.Metric))
}

// decideRatio compares a claimed ratio with the measured interval. floor is the noise floor as a
// logarithm: a smaller difference counts as none.
func (j *judge) decideRatio(r *tare.ClaimResult, c tare.Claim, comparison tare.Comparison, floor float64) {
	if !comparison.Bounded() {
		r.Outcome = tare.ClaimOpen
		r.Measured = comparison.Ratio
		r.Why = fmt.Sprintf("no interval after %s; it takes %d", format.Count(comparison.Rounds, "round"), roundsForInterval(comparison, j.evidence.Looks()))
		return
	}
	r.Measured, r.Low, r.High = comparison.Ratio, comparison.Low, comparison.High
	if why, _ := j.whyTooFewRequests(c.Metric, c.Workload, c.Contender, comparison.Against); why != "" {
		ratio, span := formatRatio(comparison)
		r.Outcome = tare.ClaimOpen
		r.Why = fmt.Sprintf("published %s, measured %s× %s: %s is thin: %s", publishedRatio(c), ratio, span, c.Metric, why)
		return
	}
	r.Outcome, r.SizeRefuted = compareClaim(c, comparison, floor)
	r.Why = explainOutcome(c, comparison, floor, r.Outcome, r.SizeRefuted)
}

func setNotMeasured(r *tare.ClaimResult, why string) {
	r.Outcome, r.Why = tare.NotMeasured, why
	if r.Evidence == "" {
		r.Evidence = "none"
	}
}

// judgeTrap judges a claim whose contender is a trap: it repeats a mistake of the publication. If the
// check for this mistake voids the trap, the published figures are void, too.
func (j *judge) judgeTrap(r *tare.ClaimResult, contender tare.Contender) {
	voids := tare.VoidsMetric(j.findings, contender.ID, r.Workload, r.Metric)
	for _, f := range voids {
		if slices.Contains(contender.Expect.Void, f.Check) {
			r.Outcome = tare.VoidAsPublished
			r.Evidence = "check " + f.Check
			r.Why = "void by " + f.Check + ": " + f.Message
			return
		}
	}
	if len(voids) > 0 {
		r.Evidence = "check " + voids[0].Check
		setNotMeasured(r, "void by "+voids[0].Check+": "+voids[0].Message)
		return
	}
	setNotMeasured(r, contender.ID+" is a trap, and traps are not compared")
}

func (j *judge) judgeWithoutRatio(r *tare.ClaimResult, c tare.Claim) {
	subject, okSubject := claimValue(j.values, c, c.Contender)
	base, okBase := claimValue(j.values, c, j.evidence.Study.Baseline)
	switch {
	case !okSubject:
		setNotMeasured(r, fmt.Sprintf("%s has no %s on %s", c.Contender, tare.MetricFor(c.Metric).Noun, c.Workload))
	case !okBase:
		setNotMeasured(r, fmt.Sprintf("%s has no %s on %s", j.evidence.Study.Baseline, tare.MetricFor(c.Metric).Noun, c.Workload))
	default:
		j.judgeZero(r, c, subject, base)
	}
}

// judgeZero judges a claim of a ratio of which one value was measured as zero.
func (j *judge) judgeZero(r *tare.ClaimResult, c tare.Claim, subject, base tare.Value) {
	values := fmt.Sprintf("%s has %s, %s has %s", c.Contender, formatValue(subject.Value, subject.Unit), j.evidence.Study.Baseline, formatValue(base.Value, base.Unit))
	ratio, ok := zeroRatio(subject, base)
	if !ok {
		setNotMeasured(r, "no ratio: "+values)
		return
	}
	r.Evidence = fmt.Sprintf("%s and %s, %s, %s", c.Contender, j.evidence.Study.Baseline, c.Metric, format.Count(subject.Rounds, "round"))
	r.Why = values
	switch {
	case ratio == 1 && canTie(c):
		r.Outcome = tare.Tie
	case ratio != 1 && sideOf(ratio) == claimedSide(c): // the ratio is 0 or infinite, not the published one
		r.Outcome, r.SizeRefuted = tare.DirectionHolds, true
	default:
		r.Outcome = tare.Refuted
	}
}

// sideOfOne is a side of the ratio 1, as a word for sentences.
type sideOfOne string

const (
	belowOne sideOfOne = "below"
	aboveOne sideOfOne = "above"
	noSide   sideOfOne = "" // equality was claimed, or the interval is on no side for certain
)

func sideOf(ratio float64) sideOfOne {
	switch {
	case ratio < 1:
		return belowOne
	case ratio > 1:
		return aboveOne
	}
	return noSide
}

func claimedSide(c tare.Claim) sideOfOne {
	switch c.Side {
	case "lower":
		return belowOne
	case "higher":
		return aboveOne
	}
	return sideOf(c.Ratio())
}

// measuredSide returns the side of 1 on which the ratio is, or noSide if it is not significant. floor
// is the noise floor, a logarithm.
func measuredSide(c tare.Comparison, floor float64) sideOfOne {
	if c.Differs(floor) != tare.Significant {
		return noSide
	}
	return sideOf(c.High) // the interval excludes 1
}

// isTie reports whether the entire interval is within 5 % of 1.
func isTie(c tare.Comparison) bool { return 1/tieWithin <= c.Low && c.High <= tieWithin }

func publishedRatio(c tare.Claim) string {
	if c.Directed() {
		return c.Side + " without a figure"
	}
	return format.Plain(c.Ratio())
}

// canTie reports whether the claimed difference is so small that a measured tie does not refute it.
func canTie(c tare.Claim) bool { return math.Abs(math.Log(c.Ratio())) < math.Log(maxTieClaim) }

// compareClaim returns the outcome of a claim of a ratio, as [Claims] describes it. Each case assumes
// that no earlier one applies. sizeRefuted means that the interval excludes the published size.
func compareClaim(claim tare.Claim, c tare.Comparison, floor float64) (o tare.Outcome, sizeRefuted bool) {
	claimed, measured := claimedSide(claim), measuredSide(c, floor)
	switch {
	case claim.Directed(): // the claim has a side and no figures
		return compareSide(claimed, measured, c), false
	case isTie(c) && canTie(claim):
		return tare.Tie, false
	case isTie(c):
		return tare.Refuted, false
	case claimed == noSide:
		return compareEquality(c), false
	case measured == noSide:
		return compareOpenSide(claim, c)
	case measured != claimed:
		return tare.Refuted, false
	}
	return compareSize(claim, c)
}

// compareSide returns the outcome of a claim of a side without figures.
func compareSide(claimed, measured sideOfOne, c tare.Comparison) tare.Outcome {
	switch {
	case isTie(c):
		return tare.Refuted
	case measured == noSide:
		return tare.ClaimOpen
	case measured == claimed:
		return tare.Holds
	}
	return tare.Refuted
}

// compareEquality returns the outcome of a claim of equality if there is no tie.
func compareEquality(c tare.Comparison) tare.Outcome {
	if c.Low > tieWithin || c.High < 1/tieWithin {
		return tare.Refuted
	}
	return tare.ClaimOpen
}

// compareOpenSide returns the outcome of a claim if the interval is on no side for certain.
func compareOpenSide(claim tare.Claim, c tare.Comparison) (o tare.Outcome, sizeRefuted bool) {
	published := claim.Ratio()
	if c.High < published/holdsWithin || c.Low > published*holdsWithin {
		return tare.NotThatSize, true
	}
	return tare.ClaimOpen, false
}

// compareSize compares an effect on the claimed side with the published one. The size of an effect is
// the absolute value of the logarithm of its ratio.
func compareSize(claim tare.Claim, c tare.Comparison) (o tare.Outcome, sizeRefuted bool) {
	smallest, largest := effectBounds(c)
	published := math.Abs(math.Log(claim.Ratio()))
	hasSize := hasPublishedSize(claim)
	isNear := claim.Ratio()/holdsWithin <= c.Low && c.High <= claim.Ratio()*holdsWithin
	switch {
	case !hasSize && isNear:
		return tare.Holds, false
	case !hasSize:
		return tare.DirectionHolds, false
	case smallest > min(published*effectWithin, published+math.Log(holdsWithin)): // larger than any size that holds
		return tare.MoreThanPublished, false
	case isNear && largest >= published/effectWithin && !missesTarget(claim, c):
		return tare.Holds, false
	}
	sizeRefuted = largest < published-math.Log(sizeWithin)
	return tare.DirectionHolds, sizeRefuted
}

// effectBounds returns the bounds of the size of an effect on one side of 1.
func effectBounds(c tare.Comparison) (smallest, largest float64) {
	low, high := math.Abs(math.Log(c.Low)), math.Abs(math.Log(c.High))
	return min(low, high), max(low, high)
}

// hasPublishedSize reports whether the published figures are on the claimed side of 1. Otherwise they
// are no size of the claimed effect.
func hasPublishedSize(claim tare.Claim) bool {
	return (claim.Ratio() < 1) == (claimedSide(claim) == belowOne)
}

// missesTarget reports whether a part of the interval does not reach the claim's target. It returns
// false without a target.
func missesTarget(claim tare.Claim, c tare.Comparison) bool {
	if claim.Target < 1 {
		return claim.Target > 0 && c.High > claim.Target
	}
	return c.Low < claim.Target
}

// explainOutcome returns the reason for an outcome, e.g. "published 0.5×, measured 1.2× (1.1 to
// 1.3, 95 %, 12 rounds): not below 1 as claimed, but the other side".
func explainOutcome(claim tare.Claim, c tare.Comparison, floor float64, o tare.Outcome, sizeRefuted bool) string {
	published := claim.Ratio()
	ratio, span := formatRatio(c, 1, 1/tieWithin, tieWithin, published/holdsWithin, published*holdsWithin)
	s := fmt.Sprintf("published %s, measured %s× %s", publishedRatio(claim), ratio, span)
	asClaimed := string(claimedSide(claim)) + " 1 as claimed"
	switch o {
	case tare.Tie:
		return s + ": within 5 % of 1, and less than 10 % was claimed"
	case tare.Refuted:
		return s + ": " + explainRefuted(claim, c)
	case tare.Holds:
		if claim.Directed() {
			return s + ": " + asClaimed
		}
		return s + ": within 1.25× of the published ratio"
	case tare.MoreThanPublished:
		return s + ": " + asClaimed + ", and the difference is larger than published"
	case tare.DirectionHolds:
		if claim.Target > 0 && missesTarget(claim, c) {
			return s + ": " + describeMissedTarget(claim, c)
		}
		s += ": " + asClaimed
		if sizeRefuted {
			return s + ", but more than 2× away from the published ratio"
		}
		return s + describeSize(claim, c)
	}
	open := ": more rounds are needed"
	if c.Differs(floor) == tare.WithinNoise {
		open = ": within what the control shows here (±" + format.Percent(math.Expm1(floor)) + ")"
	}
	if o == tare.NotThatSize {
		open += "; the direction is open, but it is not the published size: all of the interval is more than 1.25× away from it"
	}
	return s + open
}

func explainRefuted(claim tare.Claim, c tare.Comparison) string {
	switch {
	case isTie(c) && claim.Directed():
		return "within 5 % of 1"
	case isTie(c):
		return "within 5 % of 1, where 10 % or more was claimed"
	case claimedSide(claim) == noSide:
		return "more than 5 % from 1, where equality was claimed"
	}
	return "not " + string(claimedSide(claim)) + " 1 as claimed, but the other side"
}

// describeSize returns e.g. ", by less than published".
func describeSize(claim tare.Claim, c tare.Comparison) string {
	smallest, largest := effectBounds(c)
	published, near := math.Abs(math.Log(claim.Ratio())), math.Log(holdsWithin)
	switch {
	case !hasPublishedSize(claim):
		return ", not within 1.25× of the published ratio"
	case smallest >= published-near && largest <= published+near:
		return ", by less than half of what was published" // otherwise the claim would hold
	case largest < published-near:
		return ", by less than published"
	case smallest >= published-near:
		return ", by about as much as published or more"
	case largest <= published+near:
		return ", by about as much as published or less"
	}
	return ", by less than published, as much or more"
}

// describeMissedTarget returns e.g. "faster as claimed, not twice".
func describeMissedTarget(claim tare.Claim, c tare.Comparison) string {
	m := tare.MetricFor(claim.Metric)
	than := cmp.Or(m.Slower, m.More)
	if claim.Target < 1 {
		than = cmp.Or(m.Faster, m.Less)
	}
	times := format.Significant(max(claim.Target, 1/claim.Target)) + " times"
	if times == "2 times" {
		times = "twice"
	}
	canReach := c.High >= claim.Target
	if claim.Target < 1 {
		canReach = c.Low <= claim.Target
	}
	if canReach {
		return than + " as claimed; whether " + times + " is open"
	}
	return than + " as claimed, not " + times
}
