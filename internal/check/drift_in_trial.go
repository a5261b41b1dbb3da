package check

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This check compares the beginning of a trial, one process of a contender, with its end. A trial
// runs its operations in slices, timed runs of some milliseconds. A drift is the logarithm of the
// change of the cost.

const (
	maxParts = 16   // the slices of a trial are summed to at most this many parts
	minParts = 4    // a trial with fewer slices shows no slope
	maxDrift = 0.10 // tolerated change of cost from the first part to the last
)

func driftInTrial() Check {
	return Check{
		ID:       "drift-in-trial",
		Severity: tare.Void,
		Summary: "The cost of an operation must not rise or fall while a trial runs. The slices of a trial are summed to at most 16 parts, and the slope of the logarithm of their costs is the median of the slopes " +
			"of all pairs of parts (Theil–Sen). A contender is void on a workload if the 99.9 % interval of that slope over rounds is entirely beyond 10 % from the first part to the last. " +
			"The same must hold for the difference between its drift and that of the null contender in the same round (or that of the baseline, if the null contender's drift is unknown): a drift that all share is that of the machine, and is one warning. " +
			"A few slow slices at the start do not move the median. The check needs 11 rounds. The null contender and the control are exempt.",
		Why: "For each new user, a service searched all users for the same e-mail address, while the benchmark made their number grow: " +
			"the cost per operation depended on the number of operations in a run.",
		Advice:             "find out what grows while the operation is repeated (a list, a cache, a heap), and make the state the same for every operation",
		adviceIsForAuthors: true,
		voidReasons: func(in Input, contender string) (out []voidReason) {
			drifts := in.driftsByRound()
			for _, w := range in.Study.Workloads {
				out = append(out, driftReason(drifts[subject{contender, w.ID}], drifts[in.driftReference(drifts, contender, w.ID)]))
			}
			return out
		},
		onlyAtEnd: true,
		Run:       findDrifts,
	}
}

func findDrifts(in Input) []tare.Finding {
	drifts := in.driftsByRound()
	var out []tare.Finding
	var alike []string // drift as their reference does
	for _, c := range in.measuredContenders() {
		for _, w := range in.Study.Workloads {
			reason := driftReason(drifts[subject{c.ID, w.ID}], drifts[in.driftReference(drifts, c.ID, w.ID)])
			hasDrift := reason[0] // condition on the contender's own drift
			drift, ok := estimateOver(hasDrift.x)
			switch {
			case !ok || hasDrift.prove() != proved:
				// The cost does not drift, or not for certain.
			case reason.prove() != proved: // the reference drifts, too
				alike = append(alike, c.ID+" on "+w.ID)
			default:
				out = append(out, tare.Finding{
					Contender: c.ID, Workload: w.ID,
					Message: fmt.Sprintf("an operation at the end of a trial costs %.3g× what it costs at the start (%.3g to %.3g, %s)",
						math.Exp(drift.mid), math.Exp(drift.lo), math.Exp(drift.hi), format.Count(drift.rounds, "round")),
				})
			}
		}
	}
	if len(alike) > 0 {
		out = append(out, machineDrift(alike))
	}
	return out
}

// machineDrift returns the one warning that the machine changes its speed. places are the contenders
// and workloads that show it, e.g. "a on small".
func machineDrift(places []string) tare.Finding {
	const maxShown = 3
	names := strings.Join(places[:min(len(places), maxShown)], ", ")
	if more := len(places) - maxShown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return tare.Finding{
		Severity: tare.Warn,
		Message:  fmt.Sprintf("the machine changes its speed while a trial runs: the costs of %s drift, and those of the null contender or the baseline drift alike", names),
		Advice:   "find out what slows the machine (heat, a quota, another load); ratios of contenders that take turns remain valid, but absolute values are those of a changing machine",
	}
}

// driftReason returns the condition that a contender's drifts, by round, are too large. With enough
// rounds, a second condition is that their differences from the reference are too large.
func driftReason(byRound, reference map[int]float64) voidReason {
	var drifts, differences []float64
	for _, round := range slices.Sorted(maps.Keys(byRound)) {
		drifts = append(drifts, byRound[round])
		if r, ok := reference[round]; ok {
			differences = append(differences, byRound[round]-r)
		}
	}
	limit := math.Log1p(maxDrift)
	s := voidReason{outsideRange(drifts, -limit, limit)}
	if len(differences) >= stats.MinRounds(strictLevel) {
		s = append(s, outsideRange(differences, -limit, limit))
	}
	return s
}

// driftReference returns the contender whose drift is taken for that of the machine: the null
// contender, which does no work. If its drift is unknown, it is the baseline.
func (in Input) driftReference(drifts map[subject]map[int]float64, contender, workload string) subject {
	null := subject{in.withRole(tare.RoleNull), workload}
	if len(drifts[null]) > 0 || contender == in.Study.Baseline {
		return null
	}
	return subject{in.Study.Baseline, workload}
}

func (in Input) driftsByRound() map[subject]map[int]float64 {
	trials := map[subjectRound][]tare.Slice{}
	for _, s := range in.Slices {
		if isTimed(s) {
			k := usualRound(s.Round, s.Workload, s.Contender)
			trials[k] = append(trials[k], s)
		}
	}
	drifts := map[subject]map[int]float64{}
	for k, ss := range trials {
		if d, ok := computeDrift(ss); ok {
			c := subject{k.contender, k.workload}
			if drifts[c] == nil {
				drifts[c] = map[int]float64{}
			}
			drifts[c][k.round] = d
		}
	}
	return drifts
}

// computeDrift returns ln(cost at the end of a trial / cost at its start) of an operation. Both are
// from a straight line through the costs. It returns false with fewer than minParts slices.
func computeDrift(ss []tare.Slice) (drift float64, ok bool) {
	slices.SortFunc(ss, func(a, b tare.Slice) int { return cmp.Compare(a.Index, b.Index) })
	n := min(maxParts, len(ss))
	if n < minParts {
		return 0, false
	}
	costs := make([]float64, n)
	for i := range costs {
		var ns, ops int64
		for _, s := range ss[i*len(ss)/n : (i+1)*len(ss)/n] {
			ns += s.WallNS
			ops += s.Ops
		}
		costs[i] = math.Log(float64(ns) / float64(ops))
	}
	return theilSen(costs) * float64(n-1), true
}

// theilSen returns the slope of y over 0, 1, 2, …: the median of the slopes of all pairs. Outliers
// that are at most 29 % of the values cannot move it arbitrarily far. If y is in random order, the
// distribution of the slope is symmetric about 0.
//
// Sources: H. Theil, "A rank-invariant method of linear and polynomial regression analysis", Proc.
// Kon. Ned. Akad. Wet. A 53 (1950) 386–392, 521–525, 1397–1412; P. K. Sen, "Estimates of the
// regression coefficient based on Kendall's tau", J. Amer. Statist. Assoc. 63 (1968) 1379–1389.
func theilSen(y []float64) float64 {
	var slopes []float64
	for j := range y {
		for i := range j {
			slopes = append(slopes, (y[j]-y[i])/float64(j-i))
		}
	}
	return stats.Median(slopes)
}
