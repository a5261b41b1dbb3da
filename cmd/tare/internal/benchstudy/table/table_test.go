package table_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/table"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/report"
)

// result has four benchmarks in ten rounds: one slower, one the same, one void,
// and one whose difference the control shows too.
func result() *tare.Result {
	const slower, same, void, shaky = "example.com/m.BenchmarkSlower/n=1", "example.com/m.BenchmarkSame", "example.com/m/sub.BenchmarkVoid", "example.com/m.BenchmarkShaky"
	r := &tare.Result{
		Study: "bench example.com/m",
		Design: tare.Design{
			Metrics: []string{"time", "allocs"}, Plan: tare.Plan{Isolation: tare.Lockstep},
			Contenders: []tare.Contender{{ID: benchstudy.Base, Role: tare.RoleBaseline, Name: "example.com/m", Version: "v1.0.0 (0123abcd)", Build: tare.Build{Go: "go1.26.8"}}, {ID: tare.ControlID}, {ID: benchstudy.Head, Name: "example.com/m", Version: "worktree", Build: tare.Build{Go: "go1.26.8"}}},
			Workloads:  []tare.Workload{{ID: slower}, {ID: same}, {ID: void}, {ID: shaky}},
		},
		Run: tare.Run{Seconds: 12, Seed: "7", Stopped: "planned"},
		Measured: tare.Measured{
			RoundsDone: 10,
			Comparisons: []tare.Comparison{
				{Workload: slower, Metric: "time", Contender: benchstudy.Head, Ratio: 1.1, Low: 1.08, High: 1.12},
				{Workload: slower, Metric: "time", Contender: tare.ControlID, Ratio: 1, Low: 0.98, High: 1.02},
				{Workload: same, Metric: "time", Contender: benchstudy.Head, Ratio: 1.01, Low: 0.99, High: 1.02},
				{Workload: shaky, Metric: "time", Contender: benchstudy.Head, Ratio: 1.1, Low: 1.01, High: 1.2},
				{Workload: shaky, Metric: "time", Contender: tare.ControlID, Ratio: 1.1, Low: 0.9, High: 1.3},
			},
		},
		Judged: tare.Judged{Findings: []tare.Finding{{Check: "error-in-loop", Severity: tare.Void, Contender: benchstudy.Head, Workload: void, Message: "it failed", Advice: "look"}}},
		Record: tare.Record{NotWeighed: []tare.NotWeighed{{What: "example.com/m.BenchmarkGone", Why: "it is in base only"}}},
	}
	for i := range 7 {
		r.NotWeighed = append(r.NotWeighed, tare.NotWeighed{What: fmt.Sprintf("workload example.com/m.BenchmarkLate/%d", i), Why: "--max 1m holds 4"})
	}
	for round := range 10 {
		for _, id := range []string{benchstudy.Base, benchstudy.Head} {
			s := map[string]tare.Sample{}
			for _, w := range r.Workloads {
				s[w.ID] = tare.Sample{"time_ns_per_op": 1000 + float64(round), "allocs_per_op": 2}
			}
			if id == benchstudy.Head {
				s[slower] = tare.Sample{"time_ns_per_op": 1100 + float64(round), "allocs_per_op": 3}
			}
			s[slower][tare.KeyReported+"MB/s"] = 100
			r.Trials = append(r.Trials, tare.Trial{Round: round + 1, Tau: 1, Contender: id, Samples: s})
		}
	}
	return r
}

const want = `bench example.com/m
  base  v1.0.0 (0123abcd), go1.26.8
  head  worktree, go1.26.8

time                     base      head  head/base                                             benchstat
BenchmarkSlower/n=1  1.004 µs  1.105 µs      1.100  [1.080, 1.120]  slower                     +9.96% (p=0.000 n=10)
BenchmarkSame        1.004 µs  1.004 µs      1.010  [0.990, 1.020]  not significant             ~ (p=1.000 n=10)
sub.BenchmarkVoid    1.004 µs  1.004 µs          –                  void: error-in-loop        ~ (p=1.000 n=10)
BenchmarkShaky       1.004 µs  1.004 µs      1.100  [1.010, 1.200]  within the control's ±20.2 %  ~ (p=1.000 n=10)

allocs               base  head  head/base                                benchstat
BenchmarkSlower/n=1     2     3      1.500  exactly  1 more               +50.00% (p=0.000 n=10)
BenchmarkSame           2     2          1  exactly  the same             ~ (p=1.000 n=10)
sub.BenchmarkVoid       2     2          –           void: error-in-loop  ~ (p=1.000 n=10)
BenchmarkShaky          2     2          1  exactly  the same             ~ (p=1.000 n=10)

MB/s                 base  head  head/base              benchstat
BenchmarkSlower/n=1   100   100      1.000  not judged  ~ (p=1.000 n=10)

10 rounds in 12 s, seed 7, lockstep, stopped: planned
base against itself, over the same rounds: time within ±20.2 % at worst; what is shown of time holds for all rows together
void error-in-loop, head sub.BenchmarkVoid: it failed; look

not measured
  BenchmarkGone: it is in base only
  BenchmarkLate/0, BenchmarkLate/1, BenchmarkLate/2, BenchmarkLate/3, 3 more: --max 1m holds 4
`

func TestText(t *testing.T) {
	var b strings.Builder
	assert.NoError(t, "write text", table.WriteText(&b, result(), report.Style{}))
	squeeze := func(s string) string {
		var lines []string
		for line := range strings.Lines(s) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return strings.Join(lines, "\n")
	}
	if got := b.String(); squeeze(got) != squeeze(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(b.String()) {
		if strings.HasSuffix(strings.TrimRight(line, "\n"), " ") {
			t.Errorf("space at the end of %q", line)
		}
	}
}

// The table begins with the headline and its figures, if there are any.
func TestTextBeginsWithHeadline(t *testing.T) {
	for figures, want := range map[string]string{"Time, head ÷ base: A 2.00×.": "1 changed.\nTime, head ÷ base: A 2.00×.\n  base  ", "": "1 changed.\n  base  "} {
		r := result()
		r.Answer, r.Figures = "1 changed.", figures
		var b strings.Builder
		assert.NoError(t, "write text", table.WriteText(&b, r, report.Style{}))
		if !strings.HasPrefix(b.String(), r.Study+"\n"+want) {
			t.Errorf("begins %.80q, want %q", b.String(), want)
		}
	}
}

// What several machines measured stands beneath the tables of the first, or says in
// each row who measured it.
func TestTextOfMachines(t *testing.T) {
	text := func(r *tare.Result) string {
		var b strings.Builder
		assert.NoError(t, "write text", table.WriteText(&b, r, report.Style{}))
		return b.String()
	}
	const slower = "example.com/m.BenchmarkSlower/n=1"
	r := result()
	for _, name := range []string{"x", "y"} {
		r.Machines = append(r.Machines, tare.OnMachine{Name: name, Machine: tare.Machine{OS: "linux", Arch: "amd64"}, Comparisons: r.Comparisons})
	}
	r.OverMachines = []tare.OverMachines{{Workload: slower, Contender: benchstudy.Head, Metric: "time", Against: benchstudy.Base, Kind: "linux/amd64", More: []string{"x", "y"}, P: 0.5, Sentence: "More: holds on 2 of 2 machines."}}
	got := text(r)
	for _, want := range []string{"ratio of time", "on x", "1.100× [1.080, 1.120]", "\nBenchmarkSlower/n=1: More: holds on 2 of 2 machines.\n", "the tables above are of x"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	r.OverMachines, r.Machines[0].Part, r.Machines[1].Part = nil, []string{slower}, []string{"example.com/m.BenchmarkSame"}
	got = text(r)
	for line := range strings.Lines(got) {
		row := strings.TrimSpace(line)
		if strings.HasPrefix(row, "BenchmarkSlower") && strings.Contains(row, "slower") && !strings.HasSuffix(row, "  x") || strings.HasPrefix(row, "BenchmarkSame ") && !strings.HasSuffix(row, "  y") {
			t.Errorf("it does not say who measured it: %s", row)
		}
	}
	if !strings.Contains(got, "measured on") || strings.Contains(got, "over machines") {
		t.Errorf("it is divided:\n%s", got)
	}
}

// Counts that vary and have no ratio, because the base is zero, are compared as counts.
func TestCountsFromZero(t *testing.T) {
	for name, c := range map[string]struct {
		base, head []float64 // in turn, by round
		want       string
	}{
		"more":     {[]float64{0}, []float64{1, 2}, "BenchmarkSame 0 1.500 – in every round more"},
		"less":     {[]float64{1, 2}, []float64{0}, "BenchmarkSame 1.500 0 – in every round less"},
		"overlaps": {[]float64{0, 3}, []float64{0, 1}, "BenchmarkSame 1.500 0.5000 – not significant"},
		"exact":    {[]float64{0}, []float64{1}, "BenchmarkSame 0 1 – exactly 1 more"},
	} {
		r := result()
		for _, trial := range r.Trials {
			counts := map[string][]float64{benchstudy.Base: c.base, benchstudy.Head: c.head}[trial.Contender]
			trial.Samples["example.com/m.BenchmarkSame"]["allocs_per_op"] = counts[trial.Round%len(counts)]
		}
		var b strings.Builder
		assert.NoError(t, "write text", table.WriteText(&b, r, report.Style{}))
		if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, c.want) {
			t.Errorf("%s: no %q in\n%s", name, c.want, b.String())
		}
	}
}

// A row says that base runs the tests of head, and what is about no benchmark has a
// line.
func TestTextOfHeadTests(t *testing.T) {
	r := result()
	of := benchstudy.HeadTests()
	r.Findings = append(r.Findings,
		tare.Finding{Check: of.ID, Severity: of.Severity, Workload: "example.com/m.BenchmarkSame", Message: "base runs it with the tests of head: a_test.go"},
		tare.Finding{Check: of.ID, Severity: of.Severity, Workload: "example.com/m/sub.BenchmarkVoid", Message: "base runs it with the tests of head: b_test.go"},
		tare.Finding{Check: of.ID, Severity: of.Severity, Message: "base keeps its own b_test.go"})
	var b strings.Builder
	assert.NoError(t, "write text", table.WriteText(&b, r, report.Style{}))
	for _, want := range []string{"not significant, head's tests", "void: error-in-loop, head's tests", "head's tests: base runs 2 benchmarks with the test files", "note head-tests: base keeps its own b_test.go"} {
		if strings.Count(b.String(), want) != 1 {
			t.Errorf("%q is there %d times in\n%s", want, strings.Count(b.String(), want), b.String())
		}
	}
}

// Counted benchmarks have a table of their own, with a word for each verdict.
func TestTextOfCounts(t *testing.T) {
	r := result()
	r.Metrics = append(r.Metrics, tare.MetricInstructions)
	counted := func(name string, base, head, low, high float64) tare.Comparison {
		return tare.Comparison{Workload: "example.com/m.Benchmark" + name, Metric: tare.MetricInstructions, Contender: benchstudy.Head, Against: benchstudy.Base,
			AgainstValue: base, Value: head, Ratio: head / base, Low: low, High: high}
	}
	exact := counted("Shaky", 100, 101, 1.01, 1.01)
	exact.Exact = true
	r.Comparisons = append(r.Comparisons, counted("Slower/n=1", 1000, 1100, 1.09, 1.11), counted("Same", 1000, 900, 0.89, 0.91), counted("Untimed", 1000, 1001, 0.998, 1.003), exact)
	same, untimed := benchstudy.SameCode(), benchstudy.NotTimed()
	r.Findings = append(r.Findings,
		tare.Finding{Check: same.ID, Severity: same.Severity, Workload: "example.com/m.BenchmarkSame"},
		tare.Finding{Check: untimed.ID, Severity: untimed.Severity, Workload: "example.com/m.BenchmarkUntimed"})
	var b strings.Builder
	assert.NoError(t, "write text", table.WriteText(&b, r, report.Style{}))
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"instructions base head head/base", "more work", "less work, same code", "no difference, not timed", "1.010 exactly 1 more"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is there %d times in\n%s", want, strings.Count(text, want), b.String())
		}
	}
}
