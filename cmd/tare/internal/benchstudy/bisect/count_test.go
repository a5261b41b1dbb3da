package bisect

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
)

// counted is a result in which head executes so many instructions an operation, and base
// 10,000, in three counts each that differ by 2.
func counted(head float64) *tare.Result {
	r := &tare.Result{}
	for id, perOp := range map[string]float64{benchstudy.Base: 10000, benchstudy.Head: head} {
		r.Work = append(r.Work, tare.Work{Workload: "m.BenchmarkX", Contender: id, Metric: tare.MetricInstructions, PerOp: []float64{perOp - 2, perOp, perOp + 2}})
	}
	r.Comparisons = counts.CompareWork(r.Work, benchstudy.Base, counts.Alpha)
	return r
}

// One count of each commit finds where 1 % more work came in; a commit that cannot be
// counted is passed over, and one whose interval contains the edge is inconclusive.
func TestSearchByCount(t *testing.T) {
	q := Quantity{Benchmark: "m.BenchmarkX", Metric: tare.MetricInstructions, Sign: 1}
	if !q.IsDifference() { // the unit of the effect that tare bisect searches for, and of what it prints
		t.Error("the effect of a count is a difference of instructions")
	}
	const commits, first = 32, 11
	s := Search{Plan: Plan{ErrorBound: 0.05, Commits: commits, MaxRounds: 180, CountDifferences: q.IsDifference()}, Effect: 50}
	id := func(i int) string { return string(rune('A' + i)) }
	for i := range commits { // the newest first
		s.History = append(s.History, Commit{ID: id(i), Parents: []string{id(i + 1)}})
	}
	measured := 0
	measure := func(_ context.Context, commit string, _ int) (Batch, error) {
		measured++
		i := int(commit[0] - 'A')
		switch {
		case i == 15:
			return q.Batch(&tare.Result{}) // not counted
		case i <= first:
			return q.Batch(counted(10100))
		}
		return q.Batch(counted(10005))
	}
	if err := s.Run(t.Context(), measure, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if found := s.Suspects(); len(found) != 1 || found[0].ID != id(first) || measured > s.Plan.MaxComparisons() {
		t.Errorf("found %v after %d counts: %+v", found, measured, s.Tests)
	}
	for head, want := range map[float64]Verdict{10100: Bad, 10020: Good, 10050: Open, 10055: Open, 9000: Good} {
		b, err := q.Batch(counted(head))
		if err != nil {
			t.Fatal(err)
		}
		var one Test
		if one.judgeCount(b, 0.01, 50); one.Verdict != want || one.Low > one.Estimate || one.High < one.Estimate {
			t.Errorf("%g instructions: %s (%g to %g), want %s", head, one.Verdict, one.Low, one.High, want)
		}
	}
	for _, exact := range []float64{10000, 10100} { // no interval
		r := counted(exact)
		for i := range r.Work {
			r.Work[i].PerOp = slices.Repeat(r.Work[i].PerOp[1:2], 3)
		}
		b, err := q.Batch(r)
		if low, high := b.Interval(0.01); err != nil || low != high || math.Abs(low-(exact-10000)) > 1e-6 {
			t.Errorf("exactly %g: %g to %g, %v", exact, low, high, err)
		}
	}
	less := q
	less.Sign = -1
	b, err := less.Batch(counted(9900))
	if low, high := b.Interval(0.01); err != nil || b.Effects[0] != 100 || low >= 100 || high <= 100 {
		t.Errorf("100 less: %v, %g to %g, %v", b.Effects, low, high, err)
	}
	var skip *SkipError
	if _, err := q.Batch(&tare.Result{}); !errors.As(err, &skip) {
		t.Errorf("not counted: %v", err)
	}
	if base := q.BaseValue(counted(10100)); base != 10000 {
		t.Errorf("base takes %g", base)
	}
}

// A count gets the share of --error that the plan has for it, at one end of its interval. A stricter
// error makes it wider: what was bad may not be told any more.
func TestErrorOfCounts(t *testing.T) {
	const effect = 10000 + 2*11 // the edge is half of it
	verdict := func(bound float64, commits int) Test {
		q := Quantity{Benchmark: "m.BenchmarkX", Metric: tare.MetricInstructions, Sign: 1}
		s := Search{Plan: Plan{ErrorBound: bound, Commits: commits, MaxRounds: 180, CountDifferences: true}, History: []Commit{{ID: "A", Parents: []string{"B"}}}, Effect: effect - 10000, FixedEdge: true}
		if err := s.Run(t.Context(), func(context.Context, string, int) (Batch, error) { return q.Batch(counted(effect)) }, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		return s.Tests[0]
	}
	loose, strict, many := verdict(0.2, 1), verdict(0.001, 1), verdict(0.2, 1000)
	if loose.Verdict != Bad || strict.Verdict != Open {
		t.Errorf("at 20 %%: %+v; at 0.1 %%: %+v", loose, strict)
	}
	if width := func(t Test) float64 { return t.High - t.Low }; width(loose) >= width(many) || width(many) >= width(strict) {
		t.Errorf("widths %g, of many commits %g, at 0.1 %% %g", width(loose), width(many), width(strict))
	}
}
