package gate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/report"
)

// countedSides are counts of benchmarks that were not timed: their ratios with the ends of
// their intervals, by name.
func countedSides(rows map[string][3]float64, untimed ...string) Measured {
	r := &tare.Result{Study: "bench"}
	for name, x := range rows {
		r.Comparisons = append(r.Comparisons, tare.Comparison{
			Workload: "m.Benchmark" + name, Contender: HeadID, Against: BaseID, Metric: tare.MetricInstructions, Unit: "instructions/op",
			Ratio: x[0], Low: x[1], High: x[2], Level: 0.99, Rounds: 2, AgainstValue: 1000, Value: 1000 * x[0],
		})
	}
	for _, name := range untimed {
		r.Findings = append(r.Findings, tare.Finding{Check: checkNotTimed, Severity: tare.Note, Workload: "m.Benchmark" + name})
	}
	return Measured{Results: []*tare.Result{r}, Base: "b", Head: "h"}
}

// cause is the line of the cause that explain adds.
const cause = "+50 instructions/op: m.route (route.go:12); called 1 → 3× by m.Serve (serve.go:7)"

// explain adds the function that makes More execute more instructions.
func explain(m Measured) Measured {
	m.Results[0].Explanations = []tare.Explanation{{Workload: "m.BenchmarkMore", Work: []tare.Origin{
		{Function: "m.route", File: "route.go", Line: 12, From: 10, To: 60, Callers: []tare.Caller{{Function: "m.Serve", File: "serve.go", Line: 7, From: 1, To: 3}}},
	}}}
	return m
}

// More work beyond the limit is worse whatever the clock could see; within it is not; an
// interval around it cannot be told. A benchmark that was not timed has a row that says so,
// with a limit and without.
func TestLimitOfWork(t *testing.T) {
	rows := map[string][3]float64{
		"More": {1.061, 1.058, 1.064}, "Within": {1.01, 1.008, 1.012}, "Around": {1.021, 1.017, 1.025}, "Less": {0.9, 0.89, 0.91}, "Same": {1.0001, 0.998, 1.002},
	}
	p := project.Default(".")
	p.Gate.Instructions = 0.02
	rep := Judge(p, explain(countedSides(rows, "Same")), nil, time.Time{}, "")
	for _, r := range rep.Rows {
		want := map[string]Outcome{"m.BenchmarkMore": Worse, "m.BenchmarkWithin": NoWorse, "m.BenchmarkAround": Open, "m.BenchmarkLess": Better, "m.BenchmarkSame": NoWorse}[r.Benchmark]
		if r.Outcome != want || r.Untimed != (r.Benchmark == "m.BenchmarkSame") {
			t.Errorf("%s: %s, untimed %v; want %s", r.Benchmark, r.Outcome, r.Untimed, want)
		}
	}
	if len(rep.Rows) != 5 || !rep.Blocked || !strings.Contains(rep.Sentence, "1 does more work (instructions) by more than its margin") {
		t.Errorf("%d rows, blocked %v: %s", len(rep.Rows), rep.Blocked, rep.Sentence)
	}
	var text strings.Builder
	if err := WriteText(&text, rep, report.Style{}, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"more work (instructions) by > 2 %      m.BenchmarkMore    instructions", "same code and same count: it was not timed",
		"cannot be told whether it is worse by more than 2 %: +2.1 % work (instructions) (+1.7 % to +2.5 %, 99 %, 2 counts); its counts vary too much",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	var markdown strings.Builder
	if err := WriteMarkdown(&markdown, rep); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), cause) || !strings.Contains(markdown.String(), cause) {
		t.Errorf("the cause %q is missing in\n%s\nor\n%s", cause, text.String(), markdown.String())
	}
	p.Gate.Instructions = 0
	rep = Judge(p, explain(countedSides(rows, "Same")), nil, time.Time{}, "")
	if len(rep.Rows) != 1 || rep.Blocked || rep.Outcome != NoWorse || len(rep.Remarks) != 1 || !strings.Contains(rep.Remarks[0].Text, "does +6.1 % more work (instructions) (and 2 more), first of all "+cause+"; gate: {instructions: 2%}") {
		t.Errorf("without a limit: %+v, %+v", rep.Rows, rep.Remarks)
	}
}

// What could not be counted is remarked once for each reason, and blocks nothing.
func TestUncountedWork(t *testing.T) {
	m := countedSides(nil)
	for _, f := range []tare.Finding{
		{Workload: "m.BenchmarkA", Message: "there was no time for it"}, {Workload: "m.BenchmarkB", Message: "there was no time for it"}, {Message: "no counter"},
	} {
		f.Check = checkNotCounted
		m.Results[0].Findings = append(m.Results[0].Findings, f)
	}
	m.Results = append(m.Results, m.Results[0]) // measured again
	p := project.Default(".")
	p.Gate.Instructions = 0.02
	rep := Judge(p, m, nil, time.Time{}, "")
	var got []string
	for _, r := range rep.Remarks {
		got = append(got, r.Text)
	}
	if want := "the instructions of m.BenchmarkA (and 1 more) are not counted: there was no time for it|no counter"; strings.Join(got, "|") != want || rep.Blocked {
		t.Errorf("blocked %v: %q", rep.Blocked, got)
	}
}

// A margin of its own for a benchmark counts instead of the limit of all.
func TestMarginOfWork(t *testing.T) {
	p, err := project.Parse("tare.yaml", []byte("gate:\n  instructions: 2%\n  margins: [{benchmark: More, metric: instructions, margin: 10%}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	rep := Judge(p, countedSides(map[string][3]float64{"More": {1.061, 1.058, 1.064}}), nil, time.Time{}, "")
	if rep.Blocked || rep.Rows[0].Outcome != NoWorse {
		t.Errorf("%+v", rep.Rows)
	}
}

// Benchmarks that were not timed are no members of the family: the intervals of the others are as
// wide as without them.
func TestUntimedAreNoMembers(t *testing.T) {
	p := project.Default(".")
	p.Gate.Instructions = 0.02
	timed := bench{id: encode, effects: restless(0.2)}
	before := row(t, judged(p, timed, bench{id: decode, effects: steady(1)}), encode, "time")
	var names []string
	rows := map[string][3]float64{}
	for i := range 50 {
		name := fmt.Sprint(i)
		names, rows[name] = append(names, name), [3]float64{1, 0.999, 1.001}
	}
	counted := countedSides(rows, names...).Results[0]
	r := result(timed, bench{id: decode, effects: steady(1)})
	r.Comparisons, r.Findings = append(r.Comparisons, counted.Comparisons...), append(r.Findings, counted.Findings...)
	rep := Judge(p, Measured{Results: []*tare.Result{r}}, nil, time.Time{}, "")
	after := row(t, rep, encode, "time")
	if after.Low != before.Low || after.High != before.High || after.Level != before.Level || after.Outcome != before.Outcome {
		t.Errorf("with fifty more: %s %g to %g at %g; without: %s %g to %g at %g", after.Outcome, after.Low, after.High, after.Level, before.Outcome, before.Low, before.High, before.Level)
	}
	untimed := 0
	for _, r := range rep.Rows {
		if r.Untimed && r.Outcome == NoWorse {
			untimed++
		}
	}
	if untimed != 50 {
		t.Errorf("%d of 50 rows say that they were not timed", untimed)
	}
}
