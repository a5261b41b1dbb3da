package check

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// carryOver finds contenders whose cost depends on what ran before. In a round the contenders take
// turns. One turn is a slice, some milliseconds. The contender whose turn it is has the token.
func carryOver() Check {
	return Check{
		ID:       "carry-over",
		Severity: tare.Warn,
		Summary: "The cost of a slice must not depend on which contender had the token before, nor on the position in the order. " +
			"Per round, the median cost of the slices after one predecessor (or at one position) is compared with that of the contender's other slices; over rounds, the interval of that contrast " +
			"at 0.1 %, shared among all contrasts of the workload (Bonferroni), must reach within ±3 %. The check warns if it does not. So many contrasts need some 15 to 20 rounds.",
		Why: "Contenders that run one after the other, or always in the same order, leave each other cold caches and unfinished garbage collection: the contender that always follows the heaviest one pays for it, " +
			"in every round, and repetition does not average it out. Balanced orders cancel the effect between contenders, but a cost that large is part of every value.",
		Advice: "measure with longer slices (--slice) or complete trials (--isolation=trial) and compare",
		Run: func(in Input) []tare.Finding {
			if !in.Final || in.Plan.Isolation == tare.TrialWise {
				return nil
			}
			var out []tare.Finding
			for _, w := range in.Study.Workloads {
				out = append(out, findCarryOver(in, w.ID)...)
			}
			return out
		},
	}
}

// position is the place of a slice in its round: either its predecessor or its index.
type position struct {
	predecessor string // the contender before the slice
	index       int    // from 1; 0 if after is set
}

func (p position) String() string {
	if p.predecessor != "" {
		return "right after " + p.predecessor
	}
	return fmt.Sprintf("at position %d", p.index)
}

// visit is one slice, whose cost is compared with that of the contender's other slices.
type visit struct {
	positions []position // the slice's predecessor, and its index
	logCost   float64    // ln(ns per operation)
}

func findCarryOver(in Input, workload string) []tare.Finding {
	contrasts := map[string]map[position][]float64{} // by contender
	tests := 0
	for id, rounds := range groupVisits(in, workload) {
		contrasts[id] = positionContrasts(rounds)
		tests += len(contrasts[id])
	}
	var out []tare.Finding
	for _, c := range in.Contenders {
		if f, ok := worstPosition(contrasts[c.ID], strictLevel/float64(max(1, tests))); ok {
			f.Contender, f.Workload = c.ID, workload
			out = append(out, f)
		}
	}
	return out
}

// groupVisits returns the visits of every contender on workload, by contender and round. It omits a
// slice without another contender before it.
func groupVisits(in Input, workload string) map[string]map[int][]visit {
	visits := map[string]map[int][]visit{}
	for _, s := range in.Slices {
		if s.Workload != workload || !isTimed(s) {
			continue
		}
		if role := in.roleOf(s.Contender); role == tare.RoleNull || role == tare.RoleTrap {
			continue
		}
		isFirst := s.After == ""
		if isFirst || s.After == s.Contender {
			continue
		}
		if visits[s.Contender] == nil {
			visits[s.Contender] = map[int][]visit{}
		}
		visits[s.Contender][s.Round] = append(visits[s.Contender][s.Round], visit{
			positions: []position{{predecessor: s.After}, {index: s.Position + 1}},
			logCost:   math.Log(float64(s.WallNS) / float64(s.Ops)),
		})
	}
	return visits
}

// positionContrasts compares the slices at a position with the other slices of the same round. It
// returns the differences of their median logCost, by position, one per round.
func positionContrasts(rounds map[int][]visit) map[position][]float64 {
	contrasts := map[position][]float64{}
	for _, r := range slices.Sorted(maps.Keys(rounds)) {
		costs := map[position][]float64{}
		for _, v := range rounds[r] {
			for _, p := range v.positions {
				costs[p] = append(costs[p], v.logCost)
			}
		}
		for p, costsAt := range costs {
			var otherCosts []float64
			for _, v := range rounds[r] {
				if !slices.Contains(v.positions, p) {
					otherCosts = append(otherCosts, v.logCost)
				}
			}
			if len(otherCosts) > 0 {
				contrasts[p] = append(contrasts[p], stats.Median(costsAt)-stats.Median(otherCosts))
			}
		}
	}
	return contrasts
}

// worstPosition returns the finding about the position with the largest contrast. It considers only
// contrasts whose entire interval is beyond the tolerance.
func worstPosition(contrasts map[position][]float64, level float64) (finding tare.Finding, ok bool) {
	positions := slices.SortedFunc(maps.Keys(contrasts), func(a, b position) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.predecessor, b.predecessor))
	})
	worst := 0.0 // absolute contrast so far
	for _, p := range positions {
		perRound := contrasts[p]
		lo, hi, ok := stats.Interval(perRound, level)
		isTolerable := lo <= math.Log1p(tolerance) && hi >= -math.Log1p(tolerance)
		if !ok || isTolerable {
			continue
		}
		contrast := stats.HodgesLehmann(perRound)
		if math.Abs(contrast) <= worst {
			continue
		}
		worst = math.Abs(contrast)
		finding.Message = fmt.Sprintf("a slice costs %.3g× what others cost %s (%.3g to %.3g, %s)",
			math.Exp(contrast), p, math.Exp(lo), math.Exp(hi), format.Count(len(perRound), "round"))
	}
	return finding, worst > 0
}
