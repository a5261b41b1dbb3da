package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// setRanks sets ranks and letters of the primary metric, in place. Baseline and contenders that no
// finding voids are ranked among each other, one workload at a time: a pair differs significantly
// if Holm over all pairs says so and the difference exceeds what the control shows. Latencies with
// too few requests are not ranked.
func setRanks(d evidence.Evidence, effects []tare.Effects, cs []tare.Comparison, findings []tare.Finding) {
	b := &rulingData{d: d.Indexed()}
	for _, w := range d.Study.Workloads {
		var rows []int
		for i := range cs {
			c := &cs[i]
			if c.Workload != w.ID || c.Metric != d.Primary() {
				continue
			}
			c.RankLow, c.RankHigh, c.Letters = 0, 0, ""
			who, _ := d.Contender(c.Contender)
			ranked := who.Role == tare.RoleBaseline || who.Role == tare.RoleContender
			if why, _ := b.whyTooFewRequests(c.Metric, w.ID, c.Contender); why != "" {
				ranked = false
			}
			if ranked && len(tare.VoidsMetric(findings, c.Contender, w.ID, c.Metric)) == 0 {
				rows = append(rows, i)
			}
		}
		if len(rows) > 1 {
			rankRows(d, effects, cs, rows)
		}
	}
}

// rankRows ranks the contenders of rows, all of one workload.
func rankRows(d evidence.Evidence, effects []tare.Effects, cs []tare.Comparison, rows []int) {
	workload, metric := cs[rows[0]].Workload, cs[rows[0]].Metric
	floor := tare.NoiseFloor(cs, workload, metric)
	type pair struct{ i, j int }
	var all []pair
	var p, estimate []float64
	for i := range rows {
		for j := i + 1; j < len(rows); j++ {
			e, _ := tare.EffectsOf(effects, workload, metric, cs[rows[i]].Contender, cs[rows[j]].Contender)
			all = append(all, pair{i, j})
			p = append(p, stats.SignedRankP(e.Effects))
			estimate = append(estimate, stats.HodgesLehmann(e.Effects))
		}
	}
	rounds := 0
	for _, row := range rows {
		rounds = max(rounds, cs[row].Rounds)
	}
	if !canRank(rounds, len(all), d.Looks()) {
		return
	}
	better := -1 // sign of ln(i/j) if i is better
	if m, _ := tare.MetricNamed(metric); m.Direction == tare.HigherIsBetter {
		better = 1
	}
	proven := map[pair]int{}
	for k, differs := range stats.HolmLooks(p, alpha, d.Looks()) {
		if !differs || !(math.Abs(estimate[k]) > floor) {
			continue
		}
		side := 1
		if (estimate[k] < 0) == (better < 0) {
			side = -1
		}
		proven[all[k]] = side
		proven[pair{all[k].j, all[k].i}] = -side
	}
	low, high := stats.Ranks(len(rows), func(i, j int) int { return proven[pair{i, j}] })
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return -better * cmp.Compare(cs[rows[i]].Ratio, cs[rows[j]].Ratio)
	})
	letters := stats.Letters(len(rows), func(i, j int) bool { return proven[pair{i, j}] != 0 }, order)
	for i, row := range rows {
		cs[row].RankLow, cs[row].RankHigh, cs[row].Letters = low[i], high[i], letters[i]
	}
}

// canRank reports whether Holm over pairs could find any significant difference after rounds: the
// p-value of a signed-rank test of n rounds is at least 2^(1-n).
func canRank(rounds, pairs, looks int) bool {
	surest := make([]float64, pairs)
	for i := range surest {
		surest[i] = math.Pow(2, float64(1-rounds))
	}
	return slices.Contains(stats.HolmLooks(surest, alpha, looks), true)
}
