package judge

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// ownRatio answers a claim of a contender's figure over another figure of its own: of
// another workload, or in another metric. The ratio is taken in each round. Its floor is
// how far the control's differs from the baseline's.
func (b *rulingData) ownRatio(r *tare.ClaimResult, c tare.Claim) {
	if why, ok := b.d.Measures(c.Of.Workload, c.Of.Metric); !ok {
		notMeasured(r, why)
		return
	}
	if f, ok := b.void(c.Contender, c.Of.Workload, c.Of.Metric, true); ok {
		r.Evidence = "check " + f.Check
		notMeasured(r, fmt.Sprintf("%s: void by the check %s: %s", c.Of.Workload, f.Check, f.Message))
		return
	}
	of := b.ownRatios(c, c.Contender)
	if len(of) == 0 {
		notMeasured(r, fmt.Sprintf("%s has %s on %s and %s on %s in no round", c.Contender, tare.MetricFor(c.Metric).Noun, c.Workload, tare.MetricFor(c.Of.Metric).Noun, c.Of.Workload))
		return
	}
	rounds := slices.Sorted(maps.Keys(of))
	var effects []float64
	for _, round := range rounds {
		effects = append(effects, of[round])
	}
	r.Evidence = fmt.Sprintf("%s, %s on %s over %s on %s, %s", c.Contender, c.Metric, c.Workload, c.Of.Metric, c.Of.Workload, formatRounds(len(effects)))
	at := stats.LookLevel(alpha, b.d.Looks())
	row := tare.Comparison{
		Workload: c.Workload, Contender: c.Contender, Metric: c.Metric, Against: c.Contender,
		Ratio: math.Exp(stats.HodgesLehmann(effects)), Level: 1 - alpha, Rounds: len(effects),
	}
	if lo, hi, ok := stats.Interval(effects, at); ok {
		row.Low, row.High, row.Exact = math.Exp(lo), math.Exp(hi), lo == hi
	}
	var floor []float64
	base, control := b.ownRatios(c, b.d.Study.Baseline), b.ownRatios(c, tare.ControlID)
	for _, round := range rounds {
		if x, ok := base[round]; ok {
			if y, ok := control[round]; ok {
				floor = append(floor, y-x)
			}
		}
	}
	width, _ := stats.HalfWidth(floor, at)
	b.decideRatio(r, c, row, width)
}

// limitIsClaimed reports whether a void says nothing against a claim about a contender
// alone: behind a relay the network is the limit for every server, the null server too.
// That voids a comparison of servers, and it is what such a claim is about.
func (b *rulingData) limitIsClaimed(c tare.Claim, f tare.Finding) bool {
	w, ok := b.d.Workload(c.Workload)
	relayed := ok && w.Traffic != nil && (w.Traffic.Delay > 0 || w.Traffic.Bandwidth > 0)
	return c.Of != (tare.ClaimOf{}) && relayed && f.Check == headroom
}

// headroom is the check for load generators, or networks, that are the limit.
const headroom = "generator-headroom"

// ownRatios are the logarithms of the claim's ratio for contender, by round.
func (b *rulingData) ownRatios(c tare.Claim, contender string) map[int]float64 {
	x := b.d.Index()
	of, ok1 := tare.MetricNamed(c.Of.Metric)
	m, ok2 := tare.MetricNamed(c.Metric)
	out := map[int]float64{}
	if !ok1 || !ok2 {
		return out
	}
	for _, r := range x.Rounds() {
		own, ok1 := x.InRound(m, evidence.At(r, c.Workload, contender))
		other, ok2 := x.InRound(of, evidence.At(r, c.Of.Workload, contender))
		if ok1 && ok2 && own > 0 && other > 0 {
			out[r] = math.Log(own / other)
		}
	}
	return out
}
