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

// sliceInvariance compares ratios in slices of the usual length with ratios in longer slices. A
// slice is one timed turn of a contender, usually some milliseconds.
func sliceInvariance() Check {
	return Check{
		ID:       "slice-invariance",
		Severity: tare.Warn,
		Summary: "The ratio to the baseline must not depend on how long a slice is. Now and then an extra round runs with slices eight times as long; the ratios of sums of these rounds are compared " +
			"with those of the other rounds. The check warns if the shift is beyond ±3 % with its entire 99.9 % interval (exact rank-sum test). It needs at least three long rounds; with three, it takes about 21 other rounds to reach that level.",
		Why: "A lean encoder took 0.886 of the time of json.Marshal in slices of 1 ms and 0.738 in slices of 150 ms: after the end of its slice, garbage collection continued, " +
			"and the other contender paid for it. The control cannot show this, because it is the same code on both sides.",
		Advice:    "measure with slices eight times as long (--slice) and trust those ratios",
		onlyAtEnd: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			sums := timesPerOp(in.Slices)
			for _, w := range in.Study.Workloads {
				for _, c := range in.Contenders {
					if c.Role != tare.RoleContender && c.Role != tare.RoleApart {
						continue
					}
					short, long, lengthFactor := ratiosByLength(sums, w.ID, c.ID, in.Study.Baseline)
					if len(long) < stats.LongRounds {
						continue
					}
					shift, lo, hi, ok := estimateShift(short, long, strictLevel)
					isBeyond := lo > math.Log1p(tolerance) || hi < -math.Log1p(tolerance)
					if !ok || !isBeyond {
						continue
					}
					shortLog := stats.Median(short)
					out = append(out, tare.Finding{
						Contender: c.ID, Workload: w.ID,
						Message: fmt.Sprintf("the ratio to %s is %.3f in slices of the plan's length (%s) and %.3f in slices %d times as long (%s)",
							in.Study.Baseline, math.Exp(shortLog), format.Count(len(short), "round"), math.Exp(shortLog+shift), lengthFactor, format.Count(len(long), "round")),
					})
				}
			}
			return out
		},
	}
}

// usualRound names a contender on a workload in a round whose slices have the planned length.
func usualRound(round int, workload, contender string) subjectRound {
	return subjectRound{subject{contender, workload}, roundID{round, 1}}
}

// timesPerOp returns the wall time per operation in ns. It omits rounds without operations or time.
func timesPerOp(timed []tare.Slice) map[subjectRound]float64 {
	type sum struct{ ns, ops int64 }
	sums := map[subjectRound]sum{}
	for _, s := range timed {
		k := subjectRoundOf(s)
		sums[k] = sum{ns: sums[k].ns + s.WallNS, ops: sums[k].ops + s.Ops}
	}
	out := map[subjectRound]float64{}
	for k, t := range sums {
		if t.ops > 0 && t.ns > 0 {
			out[k] = float64(t.ns) / float64(t.ops)
		}
	}
	return out
}

// ratiosByLength returns ln(contender/baseline) of each round: short with slices of the planned
// length, long with slices that are lengthFactor times as long.
func ratiosByLength(sums map[subjectRound]float64, workload, contender, baseline string) (short, long []float64, lengthFactor int) {
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b subjectRound) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.lengthFactor, b.lengthFactor))
	})
	for _, k := range keys {
		if k.workload != workload || k.contender != contender {
			continue
		}
		base, ok := sums[subjectRound{subject{baseline, workload}, k.roundID}]
		if !ok {
			continue
		}
		ratio := math.Log(sums[k] / base)
		if k.lengthFactor == 1 {
			short = append(short, ratio)
		} else {
			long, lengthFactor = append(long, ratio), k.lengthFactor
		}
	}
	return short, long, lengthFactor
}
