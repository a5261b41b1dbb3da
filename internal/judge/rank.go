package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// This file ranks contenders. For example, three contenders get the letters a, ab and b: the first
// differs significantly from the third, but not from the second. Their ranks are 1 to 2, 1 to 3 and
// 2 to 3.

// setRanks sets the ranks and letters of comparisons cs by the primary metric, in place. It ranks
// the baseline and all valid contenders of each workload. A rank is a range: contenders that do not
// differ significantly can have each other's rank. They share a letter.
//
// A difference is significant by Holm's procedure over all pairs. It must also exceed the noise
// floor, which is the difference between two copies of the baseline.
func setRanks(d evidence.Evidence, effects []tare.Effects, cs []tare.Comparison, findings []tare.Finding) {
	j := &judge{evidence: d.Indexed()}
	for _, w := range d.Study.Workloads {
		var rows []*tare.Comparison
		for i := range cs {
			c := &cs[i]
			if c.Workload != w.ID || c.Metric != d.Primary() {
				continue
			}
			c.RankLow, c.RankHigh, c.Letters = 0, 0, ""
			contender, _ := d.Contender(c.Contender)
			isRanked := contender.Role == tare.RoleBaseline || contender.Role == tare.RoleContender
			if why, _ := j.whyTooFewRequests(c.Metric, w.ID, c.Contender); why != "" {
				isRanked = false
			}
			if isRanked && len(tare.VoidsMetric(findings, c.Contender, w.ID, c.Metric)) == 0 {
				rows = append(rows, c)
			}
		}
		if len(rows) > 1 {
			rankRows(d, effects, rows, tare.NoiseFloor(cs, w.ID, d.Primary()))
		}
	}
}

// pair is a pair of contenders of one workload, by their indexes in rows.
type pair struct{ i, j int }

// rankRows ranks the contenders of one workload. rows are their comparisons with the baseline. floor is
// the noise floor, a logarithm.
func rankRows(d evidence.Evidence, effects []tare.Effects, rows []*tare.Comparison, floor float64) {
	rounds, pairs := 0, len(rows)*(len(rows)-1)/2
	for _, row := range rows {
		rounds = max(rounds, row.Rounds)
	}
	if !canRank(rounds, pairs, d.Looks()) {
		return
	}
	m, _ := tare.MetricNamed(rows[0].Metric)
	higherIsBetter := m.Direction == tare.HigherIsBetter
	order := orderPairs(d, effects, rows, floor, higherIsBetter)
	low, high := stats.Ranks(len(rows), func(i, j int) int { return order[pair{i, j}] })
	bestFirst := make([]int, len(rows))
	for i := range bestFirst {
		bestFirst[i] = i
	}
	slices.SortStableFunc(bestFirst, func(i, j int) int {
		if higherIsBetter {
			i, j = j, i
		}
		return cmp.Compare(rows[i].Ratio, rows[j].Ratio)
	})
	letters := stats.Letters(len(rows), func(i, j int) bool { return order[pair{i, j}] != 0 }, bestFirst)
	for i, row := range rows {
		row.RankLow, row.RankHigh, row.Letters = low[i], high[i], letters[i]
	}
}

// orderPairs compares the contenders of one workload in pairs (i, j). It returns -1 if i is
// significantly better, and 1 if j is. Other pairs are absent.
func orderPairs(d evidence.Evidence, effects []tare.Effects, rows []*tare.Comparison, floor float64, higherIsBetter bool) map[pair]int {
	var pairs []pair
	var p, logRatios []float64 // by pair: p-value, and estimate of ln(i/j)
	for i := range rows {
		for j := i + 1; j < len(rows); j++ {
			e, _ := tare.EffectsOf(effects, rows[i].Workload, rows[i].Metric, rows[i].Contender, rows[j].Contender)
			pairs = append(pairs, pair{i, j})
			p = append(p, stats.SignedRankP(e.Effects))
			logRatios = append(logRatios, stats.HodgesLehmann(e.Effects))
		}
	}
	order := map[pair]int{}
	for k, isSignificant := range stats.HolmLooks(p, alpha, d.Looks()) {
		exceedsFloor := math.Abs(logRatios[k]) > floor
		if !isSignificant || !exceedsFloor {
			continue
		}
		sign := 1
		isLower := logRatios[k] < 0
		if isFirstBetter := isLower != higherIsBetter; isFirstBetter {
			sign = -1
		}
		i, j := pairs[k].i, pairs[k].j
		order[pair{i, j}], order[pair{j, i}] = sign, -sign
	}
	return order
}

// canRank reports whether any difference could be significant by Holm's procedure. The least p-value
// of a signed-rank test over n rounds is 2^(1-n). looks is how often the study may test.
func canRank(rounds, pairs, looks int) bool {
	smallestP := slices.Repeat([]float64{math.Pow(2, float64(1-rounds))}, pairs)
	return slices.Contains(stats.HolmLooks(smallestP, alpha, looks), true)
}
