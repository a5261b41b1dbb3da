package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// growthWithin is how far from the published exponent the whole interval may lie
// for the claim to hold. Where all of it lies farther away the claim is refuted.
const growthWithin = 0.1

// growth answers a claim of how time grows along workloads that differ in size
// alone, by the exponent that is fitted through them. Where the claim is that it does
// grow, and sizes suffice, a cost that is the same at each size is fitted too.
func (b *rulingData) growth(r *tare.ClaimResult, c tare.Claim) {
	if b.notAnswerableAlong(r, c) {
		return
	}
	all := Scaling(b.d)
	i := slices.IndexFunc(all, func(s tare.Scaling) bool { return s.Contender == c.Contender && slices.Equal(s.Workloads, c.Workloads) })
	if i < 0 {
		notMeasured(r, "no exponent is fitted over "+strings.Join(c.Workloads, ", ")+" for "+c.Contender)
		return
	}
	s := all[i]
	by := "size"
	if s.By != "" {
		by = string(s.By)
	}
	r.Measured, r.Outcome = s.Exponent, tare.ClaimOpen
	r.Evidence = fmt.Sprintf("%s, time by %s, over %s, %s", c.Contender, by, strings.Join(c.Workloads, ", "), formatRounds(s.Rounds))
	if at := stats.LookLevel(alpha, b.d.Looks()); s.Rounds < stats.MinRounds(at) {
		r.Why = fmt.Sprintf("no interval after %s; it takes %d", formatRounds(s.Rounds), stats.MinRounds(at))
		return
	}
	r.Low, r.High = s.Low, s.High
	r.Why = fmt.Sprintf("time grows as %s^%.2f (%.2f to %.2f, %s, %s)", by, s.Exponent, s.Low, s.High, formatLevel(s.Level), formatRounds(s.Rounds))
	if f, ok := b.beyond(s); ok && f.enough && c.Value > 0 {
		r.Measured, r.Low, r.High = f.value, f.low, f.high
		r.Why = fmt.Sprintf("beyond a fixed cost, %.0f %% of the time at the smallest size, time grows as %s^%.2f (%.2f to %.2f, %s, %s); with that cost in it as %s^%.2f",
			100*f.cost, by, f.value, f.low, f.high, formatLevel(s.Level), formatRounds(len(f.exponents)), by, s.Exponent)
	}
	low, high := c.Value-growthWithin, c.Value+growthWithin
	switch {
	case low <= r.Low && r.High <= high:
		r.Outcome = tare.Holds
		return
	case r.High < low || high < r.Low:
		r.Outcome = tare.Refuted
	}
	r.Why += fmt.Sprintf(", and was published as %s^%.3g", by, c.Value)
}
