package judge

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file puts a claim of a ratio into words, with the published and the measured figures in the
// same unit. For example: "published 2.02× (91,882 and 45,478 ns/op); here 1.69×".

// quotedClaim is a claim with its published and its measured ratio. If the published ratio is below
// 1, all ratios are inverted: 0.495 of the time becomes the factor 2.02.
type quotedClaim struct {
	claim     tare.Claim
	result    tare.ClaimResult
	published float64 // factor, 1 or more
	measured  float64 // factor, below 1 if the other side is ahead
	low, high float64 // interval of measured
}

// findClaim returns a claim with published figures and a measured interval. It returns false if there
// is none.
func (q *quoter) findClaim(id string) (quotedClaim, bool) {
	c := quotedClaim{}
	for _, x := range q.study.Claims {
		if x.ID == id {
			c.claim = x
		}
	}
	for _, x := range q.result.Claims {
		if x.ID == id {
			c.result = x
		}
	}
	r := c.result
	isMeasured := r.Kind == tare.ClaimRatio && r.Published > 0 && r.Low > 0 && r.High >= r.Low
	if c.claim.ID == "" || !isMeasured || r.Outcome == tare.VoidAsPublished || r.Outcome == tare.NotMeasured {
		return quotedClaim{}, false
	}
	c.published, c.measured, c.low, c.high = r.Published, r.Measured, r.Low, r.High
	if r.Published < 1 {
		c.published, c.measured, c.low, c.high = 1/r.Published, 1/r.Measured, 1/r.High, 1/r.Low
	}
	return c, true
}

// minPrintedWidth is the least width of a printed interval, as a share of the factor.
const minPrintedWidth = 5e-3

// describeClaim returns the published and the measured factor with their figures, and whether they
// agree. For example: "published 2.02× (91,882 and 45,478 ns/op); here 1.69× (1.64–1.75; 95,070 and
// 55,260 ns/op): the same is ahead, by less".
func (q *quoter) describeClaim(id string) (text string, ok bool) {
	c, ok := q.findClaim(id)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("published %s (%s); here %s: %s",
		formatFactor(c.published), c.formatPair(c.claim.Baseline, c.claim.Value), q.formatMeasured(c), c.describeAgreement()), true
}

// describeMeasured returns the measured factor of a claim, and whether there is a difference. For
// example: "1.02× (0.99–1.05; 70,385 and 70,152 requests/s), no difference shown".
func (q *quoter) describeMeasured(id string) (text string, ok bool) {
	c, ok := q.findClaim(id)
	if !ok {
		return "", false
	}
	text = q.formatMeasured(c)
	if side := c.describeSide(); side != sameSide {
		text += ", " + side
	}
	return text, true
}

// formatMeasured returns the measured factor with its interval and figures.
func (q *quoter) formatMeasured(c quotedClaim) string {
	measured, low, high := format.Estimate(c.measured, c.low, c.high, 1)
	here := measured + "×"
	var inside []string
	if c.low < c.high && c.high-c.low >= minPrintedWidth*c.measured {
		inside = append(inside, format.Interval(low, high))
	} else {
		here = formatFactor(c.measured)
	}
	if figures := q.formatClaimFigures(c); figures != "" {
		inside = append(inside, figures)
	}
	if len(inside) > 0 {
		here += " (" + strings.Join(inside, "; ") + ")"
	}
	return here
}

func (q *quoter) formatClaimFactor(id string) (text string, ok bool) {
	c, ok := q.findClaim(id)
	return format.Times(c.measured), ok
}

func formatFactor(x float64) string { return format.Digits(x, 3) + "×" }

// sameSide means that the same contender is ahead as was published.
const sameSide = "the same is ahead"

// describeSide returns which side is ahead, compared with the publication.
func (c quotedClaim) describeSide() string {
	switch c.result.Outcome {
	case tare.Holds, tare.MoreThanPublished, tare.DirectionHolds:
		return sameSide
	case tare.Tie:
		return "no difference above 5 %"
	case tare.Refuted:
		switch {
		case c.published == 1:
			return "not equal"
		case c.high < 1:
			return "the other is ahead"
		}
		return "no difference shown"
	}
	return "which is ahead is open"
}

// describeAgreement returns whether the measured factor is the published one.
func (c quotedClaim) describeAgreement() string {
	isInside := c.low <= c.published && c.published <= c.high || math.Abs(c.measured/c.published-1) < 0.01
	side := c.describeSide()
	switch {
	case c.result.Outcome == tare.Holds && isInside:
		return "confirmed"
	case c.result.Outcome == tare.Holds:
		return "confirmed within 1.25×"
	case side == sameSide && c.high < c.published:
		return side + ", by less"
	case side == sameSide && c.low > c.published:
		return side + ", by more"
	case side == sameSide:
		return side + ", by how much is open"
	case c.result.Outcome == tare.NotThatSize && c.high < c.published: // it is open which side is ahead
		return side + ", but by less"
	}
	return side
}

// formatClaimFigures returns the measured figures of both sides, or "" if one is missing.
func (q *quoter) formatClaimFigures(c quotedClaim) string {
	find := func(contender, workload, metric string) (float64, bool) {
		v, ok := q.result.Value(workload, contender, metric)
		if !ok || v.Struck || !(v.Value > 0) { // a check can strike a value
			return 0, false
		}
		if c.claim.Plus == "" {
			return v.Value, true
		}
		more, ok := q.result.Value(workload, contender, c.claim.Plus) // the claim is about a sum of two metrics
		return v.Value + more.Value, ok && !more.Struck
	}
	value, hasValue := find(c.result.Contender, c.claim.Workload, c.claim.Metric)
	baseline, hasBaseline := 0.0, false
	if other := c.claim.Of; other.Workload != "" { // the claim compares with another value than that of the baseline
		baseline, hasBaseline = find(cmp.Or(other.Contender, c.result.Contender), other.Workload, other.Metric)
	} else {
		baseline, hasBaseline = find(q.result.Baseline(), c.claim.Workload, c.claim.Metric)
	}
	if !hasValue || !hasBaseline {
		return ""
	}
	if m, ok := tare.MetricNamed(c.claim.Metric); ok && strings.HasPrefix(m.Unit, "ns") {
		unit := unitNanoseconds(c.claim.Unit)
		value, baseline = value/unit, baseline/unit
	}
	return c.formatPair(baseline, value)
}

// formatPair returns two figures in the unit of the claim. The first is that of the side whose
// published figure is larger. A time per request becomes a rate, as it was published.
func (c quotedClaim) formatPair(baseline, value float64) string {
	unit, baselineFirst := c.claim.Unit, c.claim.Baseline > c.claim.Value
	if timeUnit, isPerRequest := strings.CutSuffix(unit, "/request"); isPerRequest && c.claim.Metric == "time" {
		oneSecond := 1e9 / unitNanoseconds(timeUnit)
		baseline, value, unit = oneSecond/baseline, oneSecond/value, "requests/s"
		baselineFirst = !baselineFirst
	}
	if baselineFirst {
		return formatQuoted(baseline) + " and " + formatQuoted(value) + " " + unit
	}
	return formatQuoted(value) + " and " + formatQuoted(baseline) + " " + unit
}

// formatQuoted formats x with at most four significant digits, or as an integer from 1,000 on.
func formatQuoted(x float64) string {
	if x >= 1000 {
		return format.Grouped(x, 0)
	}
	text := format.Digits(x, 4)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// unitNanoseconds returns the length of the unit of time at the start of unit, in ns. It returns 1 if
// unit has none.
func unitNanoseconds(unit string) float64 {
	switch {
	case strings.HasPrefix(unit, "µs"):
		return 1e3
	case strings.HasPrefix(unit, "ms CPU/s"): // CPU time of 1,000 operations per second: 1 ms is 1 µs of each
		return 1e3
	case strings.HasPrefix(unit, "ms"):
		return 1e6
	case strings.HasPrefix(unit, "s"):
		return 1e9
	}
	return 1
}
