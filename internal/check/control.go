package check

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This check compares the baseline with the control, a second copy of the same program. If they
// differ, something other than the code makes the difference. The workload is then void.

// controlLevel is the error level of the warning, over all workloads together.
const controlLevel = 0.05

func control() Check {
	return Check{
		ID:       "control",
		Severity: tare.Void, voidsWorkload: true,
		Summary: "The baseline is entered a second time, as the control, and must not differ from itself on the primary metric. The check judges once, when the study has stopped, by " +
			"a signed-rank test over rounds: it warns at 5 % (Holm over workloads), and voids the workload at 0.1 %. " +
			"With fewer than 11 rounds the test cannot reach 0.1 %, which is noted.",
		Why: "Identical code that was measured in the usual way, one run after the other, was \"significantly different\" in more than a third of the attempts on a shared machine. " +
			"Everything that makes the baseline differ from itself is also part of every other difference.",
		Advice:    "measure again on a quieter machine or with a larger budget; if the difference remains, something treats the two processes differently",
		onlyAtEnd: true,
		Run: func(in Input) []tare.Finding {
			twins := in.compareTwins()
			var ps []float64
			minRounds := math.MaxInt // of the workload with the fewest rounds
			for _, t := range twins {
				ps, minRounds = append(ps, t.p), min(minRounds, t.rounds)
			}
			var out []tare.Finding
			for i, adjusted := range stats.Holm(ps) {
				t := twins[i]
				message := fmt.Sprintf("the baseline entered twice differs from itself: %.4g× (%s, p = %.2g)", t.ratio, format.Count(t.rounds, "round"), t.p)
				switch {
				case t.p <= strictLevel:
					out = append(out, tare.Finding{Workload: t.workload, Message: message})
				case adjusted <= controlLevel:
					out = append(out, tare.Finding{Workload: t.workload, Severity: tare.Warn, Message: message})
				}
			}
			if minRounds < stats.MinRounds(strictLevel) {
				out = append(out, tare.Finding{
					Severity: tare.Note, Advice: "give it a larger budget",
					Message: fmt.Sprintf("after %s the control cannot void a workload; that takes %d", format.Count(minRounds, "round"), stats.MinRounds(strictLevel)),
				})
			}
			return out
		},
	}
}

// twin is the ratio of the control to the baseline on one workload.
type twin struct {
	workload string
	ratio, p float64 // p is not adjusted for several workloads
	rounds   int
}

func (in Input) compareTwins() []twin {
	var twins []twin
	for _, e := range in.Effects {
		if e.Metric != in.Primary() || !isBetween(e, tare.ControlID, in.Study.Baseline) {
			continue
		}
		x := e.Effects
		if e.A != tare.ControlID {
			x = negate(x)
		}
		twins = append(twins, twin{workload: e.Workload, ratio: math.Exp(stats.HodgesLehmann(x)), p: stats.SignedRankP(x), rounds: len(x)})
	}
	return twins
}

func isBetween(e tare.Effects, a, b string) bool {
	return e.A == a && e.B == b || e.A == b && e.B == a
}

// negate exchanges the sides of effects, which are logarithms of ratios.
func negate(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}
