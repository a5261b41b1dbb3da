package benchstudy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
)

// Finish completes the result of a comparison, and removes values that are not measured for
// benchmarks. It also removes the null contender, which measures the cost of measuring in other
// studies.
func (b *Bench) Finish(r *tare.Result) {
	var skipped []tare.NotWeighed
	for _, entry := range b.skipped {
		skipped = append(skipped, tare.NotWeighed{What: entry.ID, Why: entry.String()})
	}
	r.NotWeighed = append(skipped, r.NotWeighed...)
	r.Findings = append(r.Findings, b.findings...)
	isNull := func(id string) bool { return id == tare.NullID }
	r.Contenders = slices.DeleteFunc(r.Contenders, func(c tare.Contender) bool { return isNull(c.ID) })
	r.Plan.Contenders = slices.DeleteFunc(r.Plan.Contenders, isNull)
	for i := range r.Plan.Slices {
		s := &r.Plan.Slices[i]
		s.Contenders = slices.DeleteFunc(s.Contenders, isNull)
		delete(s.Until, tare.NullID)
		delete(s.Ops, tare.NullID)
		delete(s.Lead, tare.NullID)
		delete(s.Cycles, tare.NullID)
	}
	r.Rounds = slices.DeleteFunc(r.Rounds, func(e tare.Effects) bool { return isNull(e.A) || isNull(e.B) })
	r.Values = slices.DeleteFunc(r.Values, func(v tare.Value) bool { return isNull(v.Contender) })
	r.Comparisons = slices.DeleteFunc(r.Comparisons, func(c tare.Comparison) bool { return isNull(c.Contender) || isNull(c.Against) })
	r.Conformance = slices.DeleteFunc(r.Conformance, func(c tare.Conformance) bool { return c.Cases == 0 || isNull(c.Contender) })
	r.Trials = slices.DeleteFunc(r.Trials, func(t tare.Trial) bool { return isNull(t.Contender) })
	for i := range r.Trials {
		r.Trials[i].Answers = nil
		for _, s := range r.Trials[i].Samples {
			delete(s, "cpu_ns_per_op")
			delete(s, "size_bytes_per_op")
		}
	}
	if counted := b.counted; counted != nil {
		counted.counter.AddToResult(r, counted.work, counted.rows)
		if counted.counter.HasFunctions() {
			counted.addFunctions(r)
		}
	}
	setAnswer(r)
}

// SkipTimes skips all benchmarks if err says that the budget has no time for a round. The counts of
// instructions are the result then. It returns false if there are none.
func (b *Bench) SkipTimes(err error) bool {
	var short *plan.BudgetError
	hasCounts := b.counted != nil && len(b.counted.rows) > 0
	if !hasCounts || !errors.As(err, &short) {
		return false
	}
	for _, w := range b.Study.Workloads {
		why := fmt.Sprintf("left out: a budget of %v has no time for its rounds; --budget %v does", short.Budget, short.Least)
		b.addSkipped(suite.Skipped{ID: w.ID, OutOfTime: true, Why: why})
	}
	b.Study.Workloads = nil
	return true
}

// UntimedResult returns the result of a comparison that timed no benchmark. Its lists are not nil,
// because a document must have [] in place of null.
func (b *Bench) UntimedResult() *tare.Result {
	r := &tare.Result{Schema: tare.ResultSchema, Study: b.Study.ID, Question: b.Study.Question, Kind: b.Study.Kind}
	r.Metrics, r.Stopped = b.Study.Metrics, lab.Decided
	r.Rounds, r.Values, r.Comparisons, r.Trials = []tare.Effects{}, []tare.Value{}, []tare.Comparison{}, []tare.Trial{}
	r.Verdicts, r.Claims, r.Conformance, r.Workloads = []tare.Verdict{}, []tare.ClaimResult{}, []tare.Conformance{}, []tare.Workload{}
	for _, id := range []string{Base, Head} {
		s := b.Sources.Suites[id]
		c := tare.Contender{ID: id, Kind: string(b.Study.Kind), Role: tare.RoleContender, Name: b.Sources.Module, Version: b.Sources.Titles[id]}
		c.Go = s.Go
		r.Contenders = append(r.Contenders, c)
	}
	b.Finish(r)
	return r
}

// ReportedUnits returns the sorted units of the metrics that a benchmark reported with
// b.ReportMetric.
func ReportedUnits(r *tare.Result, workload string) []string {
	units := map[string]bool{}
	for _, t := range r.Trials {
		for key := range t.Samples[workload] {
			if unit, ok := strings.CutPrefix(key, tare.KeyReported); ok {
				units[unit] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(units))
}
