package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/stats"
)

func TestUndecided(t *testing.T) {
	r := &tare.Result{Design: tare.Design{Workloads: []tare.Workload{{ID: "a"}, {ID: "b"}, {ID: "c"}}}, Judged: tare.Judged{Verdicts: []tare.Verdict{
		{Contender: HeadID, Workload: "b", Criterion: "x", Verdict: tare.Inconclusive},
		{Contender: HeadID, Workload: "a", Criterion: "x", Verdict: tare.Met},
		{Contender: "other", Workload: "c", Criterion: "x", Verdict: tare.Inconclusive},
	}}}
	if got := UndecidedWorkloads(r); !slices.Equal(got, []string{"b"}) {
		t.Errorf("%q", got)
	}
}

// What was measured again is one row with all rounds, and pays for all looks.
func TestMeasuredAgain(t *testing.T) {
	both := Measured{Results: []*tare.Result{
		result(bench{id: "m.BenchmarkA", effects: restless(0.2)}, bench{id: "m.BenchmarkB", effects: steady(1)}),
		result(bench{id: "m.BenchmarkA", effects: steady(1.5)}),
	}}
	rep := Judge(project.Default("."), both, nil, at("2026-06-01"), "")
	if len(rep.Rows) != 4 {
		t.Fatalf("%d rows: %+v", len(rep.Rows), rep.Rows)
	}
	r := row(t, rep, "m.BenchmarkA", "time")
	want := math.Exp(stats.HodgesLehmann(slices.Concat(restless(0.2), steady(1.5))))
	if r.Rounds != 2*rounds || math.Abs(r.Ratio-want) > 1e-9 || row(t, rep, "m.BenchmarkB", "time").Rounds != rounds {
		t.Errorf("%+v, want a ratio of %v", r, want)
	}
	both.Results[1].Findings = []tare.Finding{{Check: "error-in-loop", Severity: tare.Void, Contender: HeadID, Workload: "m.BenchmarkA", Message: "it failed"}}
	if rep := Judge(project.Default("."), both, nil, at("2026-06-01"), ""); row(t, rep, "m.BenchmarkA", "time").Outcome != Void {
		t.Errorf("%+v", rep.Rows)
	}
}

// The law: a table in which what is undecided is measured again is wrong no more
// often than one that is measured once.
func TestMeasuringAgainKeepsTheErrorRate(t *testing.T) {
	const tables, benchmarks, looks, alpha, margin = 400, 4, 4, 0.05, 0.05
	rng := rand.New(rand.NewPCG(9, 10))
	wrong := 0
	effects := func() []float64 {
		e := make([]float64, 18)
		for i := range e {
			e[i] = math.Log(1+margin) + 0.08*rng.NormFloat64()
		}
		return e
	}
	for range tables {
		var family []member
		for range benchmarks {
			one := func() member {
				return member{row: &Row{result: &tare.Result{}}, Question: judge.Question{Effects: effects(), Looks: looks, Edges: []float64{math.Log1p(margin)}}}
			}
			m := one()
			m.row.Rounds, m.row.Ratio = 18, math.Exp(stats.HodgesLehmann(m.Effects))
			if low, high, ok := stats.Interval(m.Effects, stats.LookLevel(alpha/benchmarks, looks)); ok && low <= math.Log(1+margin) && math.Log(1+margin) < high {
				m = m.poolRounds(one())
			}
			family = append(family, m)
		}
		judgeMembers(family, alpha)
		if slices.ContainsFunc(family, func(m member) bool { return m.row.Outcome == Worse || m.row.Outcome == Better }) {
			wrong++
		}
	}
	// At the margin only one end can be wrong; three standard errors above that.
	if limit := alpha + 3*math.Sqrt(alpha*(1-alpha)/tables); float64(wrong) > limit*tables {
		t.Errorf("%d of %d tables are wrong", wrong, tables)
	}
}
