package bisect

import (
	"context"
	"errors"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
)

// counted is a result in which head executes so many instructions an operation, and base
// 10,000, both known to ±20.
func counted(head float64) *tare.Result {
	r := &tare.Result{}
	r.Comparisons = []tare.Comparison{{
		Workload: "m.BenchmarkX", Contender: benchstudy.Head, Against: benchstudy.Base, Metric: tare.MetricInstructions,
		Value: head, AgainstValue: 10000, Ratio: head / 10000, Low: head/10000 - 0.002, High: head/10000 + 0.002,
	}}
	return r
}

// One count of each commit finds where 1 % more work came in; a commit that cannot be
// counted is passed over, and one whose interval contains the edge is inconclusive.
func TestSearchByCount(t *testing.T) {
	q := Quantity{Benchmark: "m.BenchmarkX", Metric: tare.MetricInstructions, Sign: 1}
	const commits, first = 32, 11
	s := Search{Plan: Plan{Error: 0.05, Commits: commits, Rounds: 180, Counts: true}, Effect: 50}
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
	if found := s.Found(); len(found) != 1 || found[0].ID != id(first) || measured > s.Plan.Most() {
		t.Errorf("found %v after %d counts: %+v", found, measured, s.Tests)
	}
	for head, want := range map[float64]Verdict{10100: Bad, 10020: Good, 10050: Open, 10060: Open, 9000: Good} {
		b, err := q.Batch(counted(head))
		if err != nil {
			t.Fatal(err)
		}
		var one Test
		if one.judgeCount(b, 50); one.Verdict != want {
			t.Errorf("%g instructions: %s, want %s", head, one.Verdict, want)
		}
	}
	var skip *SkipError
	if _, err := q.Batch(&tare.Result{}); !errors.As(err, &skip) {
		t.Errorf("not counted: %v", err)
	}
	if base := q.Base(counted(10100)); base != 10000 {
		t.Errorf("base takes %g", base)
	}
}
