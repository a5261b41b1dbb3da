package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// judgeOwnRatio answers a claim of a contender's figure over another one than the baseline's
// on the same workload: over a figure of its own, of another workload or in another
// metric, or over another contender's. The ratio is taken in each round. Its floor is how
// far the control's differs from the baseline's.
func (b *rulingData) judgeOwnRatio(r *tare.ClaimResult, c tare.Claim) {
	other := cmp.Or(c.Of.Contender, c.Contender)
	if why, ok := b.d.Measures(c.Of.Workload, c.Of.Metric); !ok {
		setNotMeasured(r, why)
		return
	}
	if why := b.whyAbsent(other, c.Of.Workload, c.Of.Metric); why != "" {
		setNotMeasured(r, why)
		return
	}
	of := b.ownRatiosByRound(c, c.Contender, other)
	if len(of) == 0 {
		setNotMeasured(r, fmt.Sprintf("%s has %s on %s and %s %s on %s in no round", c.Contender, tare.MetricFor(c.Metric).Noun, c.Workload, other, tare.MetricFor(c.Of.Metric).Noun, c.Of.Workload))
		return
	}
	rounds := slices.Sorted(maps.Keys(of))
	var effects []float64
	for _, round := range rounds {
		effects = append(effects, of[round])
	}
	what := func(metric string) string {
		if c.Plus != "" {
			metric += " and " + c.Plus + " together"
		}
		return metric
	}
	r.Evidence = fmt.Sprintf("%s, %s on %s over %s on %s, %s", c.Contender, what(c.Metric), c.Workload, what(c.Of.Metric), c.Of.Workload, format.Count(len(effects), "round"))
	if c.Of.Contender != "" {
		r.Evidence = fmt.Sprintf("%s against %s, %s, %s", c.Contender, other, what(c.Metric), format.Count(len(effects), "round"))
	}
	at := stats.LookLevel(alpha, b.d.Looks())
	row := tare.Comparison{
		Workload: c.Workload, Contender: c.Contender, Metric: c.Metric, Against: other,
		Ratio: math.Exp(stats.HodgesLehmann(effects)), Level: 1 - alpha, Rounds: len(effects),
	}
	if lo, hi, ok := stats.Interval(effects, at); ok {
		row.Low, row.High, row.Exact = math.Exp(lo), math.Exp(hi), lo == hi
	}
	if why := b.whyRelayed(c); why != "" {
		r.Measured, r.Low, r.High = row.Ratio, row.Low, row.High
		r.Outcome, r.Why = tare.VoidAsPublished, why
		return
	}
	width, _ := stats.HalfWidth(b.ownFloor(c, rounds), at)
	b.decideRatio(r, c, row, width)
}

// ownFloor returns the differences of the control's ratio from the baseline's, as logarithms, for
// those of rounds that have both.
func (b *rulingData) ownFloor(c tare.Claim, rounds []int) (floor []float64) {
	base := b.d.Study.Baseline
	same := c
	if c.Of.Contender != "" { // both sides are of one workload: the control over the baseline there
		same.Of.Workload, same.Of.Metric = c.Workload, c.Metric
		for _, x := range b.ownRatiosByRound(same, tare.ControlID, base) {
			floor = append(floor, x)
		}
		return floor
	}
	own, control := b.ownRatiosByRound(c, base, base), b.ownRatiosByRound(c, tare.ControlID, tare.ControlID)
	for _, round := range rounds {
		x, ok1 := own[round]
		y, ok2 := control[round]
		if ok1 && ok2 {
			floor = append(floor, y-x)
		}
	}
	return floor
}

// whyRelayed returns the sentence that a ratio is made by the delay and the bandwidth that the
// study chose for a relay, and therefore says nothing, or "" if it is not.
func (b *rulingData) whyRelayed(c tare.Claim) string {
	relayed := func(id string) (tare.Traffic, bool) {
		w, ok := b.d.Workload(id)
		if !ok || w.Traffic == nil {
			return tare.Traffic{}, false
		}
		return *w.Traffic, w.Traffic.Delay > 0 || w.Traffic.Bandwidth > 0
	}
	own, is := relayed(c.Workload)
	of, isOf := relayed(c.Of.Workload)
	if !is && !isOf || own.Delay == of.Delay && own.Bandwidth == of.Bandwidth {
		return ""
	}
	return fmt.Sprintf("could not fail: the delay and the bandwidth that %s is measured with are chosen here, and they make the ratio", c.Workload)
}

// ownRatiosByRound returns the logarithms of the claim's ratio, own's figure over other's, by round.
func (b *rulingData) ownRatiosByRound(c tare.Claim, own, other string) map[int]float64 {
	x := b.d.Index()
	out := map[int]float64{}
	for _, r := range x.Rounds() {
		a, ok1 := sumInRound(x, evidence.At(r, c.Workload, own), c.Metric, c.Plus)
		o, ok2 := sumInRound(x, evidence.At(r, c.Of.Workload, other), c.Of.Metric, c.Plus)
		if ok1 && ok2 && a > 0 && o > 0 {
			out[r] = math.Log(a / o)
		}
	}
	return out
}

// sumInRound returns the sum of the metrics in one cell. It returns false if one of them was not
// measured. An empty name adds nothing.
func sumInRound(x *evidence.Index, at evidence.Cell, metrics ...string) (sum float64, ok bool) {
	for _, name := range metrics {
		if name == "" {
			continue
		}
		m, known := tare.MetricNamed(name)
		value, measured := x.InRound(m, at)
		if !known || !measured {
			return 0, false
		}
		sum += value
	}
	return sum, true
}
