package check

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

func carryOver() Check {
	return Check{
		ID:       "carry-over",
		Severity: tare.Warn,
		Summary: "What a slice costs must not depend on which contender held the token before, nor on the position in the order. " +
			"Per round, the median cost of the slices after one predecessor (or at one position) is compared with that of the contender's other slices; over rounds, the interval of that contrast " +
			"at 0.1 %, shared among all contrasts of the workload (Bonferroni), must reach within ±3 %. It warns where it does not. That many contrasts need some 15 to 20 rounds.",
		Why: "Contenders run one after the other, or round and round in one fixed order, hand each other their cold caches and unfinished garbage collection: the one that always follows the heaviest pays for it, " +
			"in every round, and repetition does not average it out. Balanced orders cancel it between contenders, but a cost that large is part of every figure.",
		Advice: "measure with longer slices (--slice) or whole trials (--isolation=trial) and compare",
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

// position is the contender before a slice, or the index of the slice. Only one of them is set.
type position struct {
	after    string
	position int // from 1; 0 if after is set
}

func (p position) String() string {
	if p.after != "" {
		return "right after " + p.after
	}
	return fmt.Sprintf("at position %d", p.position)
}

// findCarryOver finds the contenders whose cost depends on the position, each with its worst one.
func findCarryOver(in Input, workload string) []tare.Finding {
	type visit struct {
		at  [2]position
		log float64 // of the cost per operation
	}
	rounds := map[string]map[int][]visit{} // contender → round → its slices
	for _, s := range in.Slices {
		if s.Workload != workload || s.Tau > 1 || s.Ops <= 0 || s.WallNS <= 0 {
			continue
		}
		switch in.roleOf(s.Contender) {
		case tare.RoleNull, tare.RoleTrap:
			continue
		}
		if s.After == "" || s.After == s.Contender {
			continue // caches of no contender, or of the same one
		}
		if rounds[s.Contender] == nil {
			rounds[s.Contender] = map[int][]visit{}
		}
		rounds[s.Contender][s.Round] = append(rounds[s.Contender][s.Round], visit{
			[2]position{{after: s.After}, {position: s.Position + 1}}, math.Log(float64(s.WallNS) / float64(s.Ops)),
		})
	}
	contrasts := map[string]map[position][]float64{}
	tests := 0
	for id, byRound := range rounds {
		contrasts[id] = map[position][]float64{}
		for _, r := range slices.Sorted(maps.Keys(byRound)) {
			here := map[position][]float64{}
			for _, v := range byRound[r] {
				here[v.at[0]] = append(here[v.at[0]], v.log)
				here[v.at[1]] = append(here[v.at[1]], v.log)
			}
			for p, costs := range here {
				var rest []float64
				for _, v := range byRound[r] {
					if v.at[0] != p && v.at[1] != p {
						rest = append(rest, v.log)
					}
				}
				if len(rest) > 0 {
					contrasts[id][p] = append(contrasts[id][p], median(costs)-median(rest))
				}
			}
		}
		tests += len(contrasts[id])
	}
	var out []tare.Finding
	for _, c := range in.Contenders {
		if f, ok := worstPosition(contrasts[c.ID], strict/float64(max(1, tests))); ok {
			f.Contender, f.Workload = c.ID, workload
			out = append(out, f)
		}
	}
	return out
}

// worstPosition returns the finding about the position with the largest contrast among those with
// an interval entirely beyond the tolerance.
func worstPosition(contrasts map[position][]float64, level float64) (tare.Finding, bool) {
	places := slices.SortedFunc(maps.Keys(contrasts), func(a, b position) int {
		if a.position != b.position {
			return a.position - b.position
		}
		if a.after < b.after {
			return -1
		}
		return 1
	})
	worst := 0.0
	var f tare.Finding
	for _, p := range places {
		x := contrasts[p]
		lo, hi, ok := stats.Interval(x, level)
		if !ok || lo <= math.Log1p(tolerance) && hi >= -math.Log1p(tolerance) {
			continue
		}
		by := stats.HodgesLehmann(x)
		if math.Abs(by) <= worst {
			continue
		}
		worst = math.Abs(by)
		f.Message = fmt.Sprintf("a slice costs %.3g× what others cost %s (%.3g to %.3g, %s)",
			math.Exp(by), p, math.Exp(lo), math.Exp(hi), format.Count(len(x), "round"))
	}
	return f, worst > 0
}

func median(x []float64) float64 { return stats.Median(x) }
