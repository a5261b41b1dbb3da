package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/judge"
)

// bench is a scripted benchmark: what its rounds showed.
type bench struct {
	id         string
	effects    []float64 // ln(head/base)
	base, head []float64 // allocations per round; none: 1 on both sides
	control    float64   // half width of its interval; zero: 0.001
	void       string
	flipped    bool // the pair is stored the other way round
}

const rounds = 27

// steady is the same ratio in every round but for a little noise.
func steady(ratio float64) []float64 {
	out := make([]float64, rounds)
	for i := range out {
		out[i] = math.Log(ratio) + 0.001*math.Sin(float64(7*i))
	}
	return out
}

// restless swings by the given share.
func restless(by float64) []float64 {
	out := make([]float64, rounds)
	for i := range out {
		out[i] = by * math.Sin(float64(7*i))
	}
	return out
}

func same(n float64) []float64 {
	out := make([]float64, rounds)
	for i := range out {
		out[i] = n
	}
	return out
}

// result is what a lab would have made of some benchmarks.
func result(benches ...bench) *tare.Result {
	r := &tare.Result{
		Schema: tare.ResultSchema,
		Design: tare.Design{
			Metrics: []string{"time", "bytes", "allocs"},
			Plan:    tare.Plan{Looks: []int{8, 12, 18, 27}},
		},
		Measured: tare.Measured{RoundsDone: rounds}, Run: tare.Run{Seconds: 30},
	}
	for i := range rounds {
		for _, id := range []string{BaseID, HeadID} {
			r.Trials = append(r.Trials, tare.Trial{Round: i + 1, Tau: 1, Contender: id, Samples: map[string]tare.Sample{}})
		}
	}
	for _, b := range benches {
		r.Workloads = append(r.Workloads, tare.Workload{ID: b.id})
		e := tare.Effects{Workload: b.id, Metric: "time", A: HeadID, B: BaseID, Effects: b.effects}
		if b.flipped {
			e.A, e.B = BaseID, HeadID
		}
		r.Rounds = append(r.Rounds, e)
		mean := 0.0
		for _, x := range b.effects {
			mean += x / rounds
		}
		r.Values = append(r.Values, tare.Value{Workload: b.id, Contender: BaseID, Metric: "time", Value: 61200},
			tare.Value{Workload: b.id, Contender: HeadID, Metric: "time", Value: 61200 * math.Exp(mean)})
		control := b.control
		if control == 0 {
			control = 0.001
		}
		r.Comparisons = append(r.Comparisons, tare.Comparison{Workload: b.id, Contender: tare.ControlID, Metric: "time", Ratio: 1, Low: math.Exp(-control), High: math.Exp(control)})
		base, head := b.base, b.head
		if base == nil {
			base, head = same(1), same(1)
		}
		for i, t := range r.Trials {
			n := base[i/2]
			if t.Contender == HeadID {
				n = head[i/2]
			}
			t.Samples[b.id] = tare.Sample{"allocs_per_op": n}
		}
		if b.void != "" {
			r.Findings = append(r.Findings, tare.Finding{Check: "error-in-loop", Severity: tare.Void, Contender: HeadID, Workload: b.id, Message: b.void, Advice: "mend it"})
		}
	}
	return r
}

func at(day string) time.Time {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return t
}

// advised makes commands as tare gate does.
func advised() Commands {
	return Commands{
		Gate: func(flag, value string) string { return "tare gate --" + flag + " " + value },
		Bench: func(pkg, pattern string) string {
			return fmt.Sprintf("tare bench %s --bench '%s' --base 1a2b3c4d5e6f", pkg, pattern)
		},
	}
}

func judged(p project.Project, benches ...bench) Report {
	m := Measured{Base: "main (1a2b3c4d5)", Head: "worktree at 6e7f8a9b0 with changes", Commit: "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d", Results: []*tare.Result{result(benches...)}, Commands: advised()}
	places := map[string]Place{"example.com/m/codec.BenchmarkEncode": {File: "codec/codec_test.go", Line: 12}}
	return Judge(p, m, places, at("2026-06-01"), "tare.yaml")
}

func row(t *testing.T, rep Report, benchmark, metric string) Row {
	t.Helper()
	for _, r := range rep.Rows {
		if r.Benchmark == benchmark && r.Metric == metric {
			return r
		}
	}
	t.Fatalf("no row of %s on %s", benchmark, metric)
	return Row{}
}

const (
	encode = "example.com/m/codec.BenchmarkEncode/large"
	decode = "example.com/m/codec.BenchmarkDecode"
)

func TestEachOutcome(t *testing.T) {
	one := func(b bench) bench { b.id = encode; return b }
	for name, c := range map[string]struct {
		b       bench
		time    Outcome
		allocs  Outcome
		blocked bool
	}{
		"the same":               {bench{effects: steady(1)}, NoWorse, NoWorse, false},
		"slower":                 {bench{effects: steady(1.12)}, Worse, NoWorse, true},
		"slower, pair reversed":  {bench{effects: steady(1 / 1.12), flipped: true}, Worse, NoWorse, true},
		"slower, not enough":     {bench{effects: steady(1.03)}, NoWorse, NoWorse, false},
		"faster":                 {bench{effects: steady(0.8)}, Better, NoWorse, false},
		"faster, as the control": {bench{effects: steady(0.99), control: 0.02}, NoWorse, NoWorse, false},
		"slower, as the control": {bench{effects: steady(1.12), control: 0.2}, Open, NoWorse, false},
		"restless":               {bench{effects: restless(0.4)}, Open, NoWorse, false},
		"void":                   {bench{effects: steady(1), void: "it failed"}, Void, Void, true},
		"one more allocation":    {bench{effects: steady(1), base: same(3), head: same(4)}, NoWorse, Worse, true},
		"one fewer":              {bench{effects: steady(1), base: same(3), head: same(2)}, NoWorse, Better, false},
		"a first allocation":     {bench{effects: steady(1), base: same(0), head: same(1)}, NoWorse, Worse, true},
		"none on both sides":     {bench{effects: steady(1), base: same(0), head: same(0)}, NoWorse, NoWorse, false},
		"a share of the set-up":  {bench{effects: steady(1), base: same(3.01), head: same(3.2)}, NoWorse, NoWorse, false},
		"varies and lies above":  {bench{effects: steady(1), base: varying(3), head: varying(9)}, NoWorse, Worse, true},
		"varies and overlaps":    {bench{effects: steady(1), base: varying(3), head: varying(4)}, NoWorse, Open, false},
	} {
		rep := judged(project.Default("."), one(c.b))
		if got := row(t, rep, encode, "time"); got.Outcome != c.time {
			t.Errorf("%s: time is %s, want %s (%s)", name, got.Outcome, c.time, got.Sentence)
		}
		if got := row(t, rep, encode, "allocs"); got.Outcome != c.allocs {
			t.Errorf("%s: allocs are %s, want %s (%s)", name, got.Outcome, c.allocs, got.Sentence)
		}
		if rep.Blocked != c.blocked {
			t.Errorf("%s: blocked %v: %s", name, rep.Blocked, rep.Sentence)
		}
		for _, r := range rep.Rows {
			if r.Sentence == "" || strings.ContainsAny(r.Sentence, "\n") || strings.Contains(r.Sentence, "NaN") {
				t.Errorf("%s: sentence %q", name, r.Sentence)
			}
		}
	}
}

// varying is n and n+2 in turn.
func varying(n float64) []float64 {
	out := same(n)
	for i := range out {
		out[i] += float64(2 * (i % 2))
	}
	return out
}

func TestInconclusiveIsWhatTheProjectSays(t *testing.T) {
	for on, want := range map[project.OnInconclusive]Outcome{project.PassOpen: NoWorse, project.WarnOpen: NoWorse, project.FailOpen: Open} {
		p := project.Default(".")
		p.Gate.OnInconclusive = on
		rep := judged(p, bench{id: encode, effects: restless(0.4)}, bench{id: decode, effects: steady(1)})
		if rep.Outcome != Open || rep.Blocked != (on == project.FailOpen) || rep.Worst() != want {
			t.Errorf("%s: %s, blocked %v, worst %s", on, rep.Outcome, rep.Blocked, rep.Worst())
		}
	}
}

func TestTheWorstDecides(t *testing.T) {
	p := project.Default(".")
	p.Gate.OnInconclusive = project.FailOpen
	open, worse, void := bench{id: encode, effects: restless(0.4)}, bench{id: decode, effects: steady(1.2)}, bench{id: decode + "/x", effects: steady(1), void: "x"}
	for _, c := range []struct {
		benches []bench
		want    Outcome
	}{{[]bench{open, worse, void}, Void}, {[]bench{open, worse}, Worse}, {[]bench{open}, Open}} {
		if rep := judged(p, c.benches...); rep.Worst() != c.want {
			t.Errorf("%d benchmarks: %s, want %s", len(c.benches), rep.Worst(), c.want)
		}
	}
	rep := judged(p, bench{id: encode, effects: steady(1)})
	rep.Skipped = []Skipped{{What: "example.com/m/x", Why: "head does not build", Broken: true}}
	rep.conclude()
	if rep.Worst() != Void || !rep.Blocked {
		t.Errorf("a head that does not build: %s", rep.Sentence)
	}
}

func waiverOf(expression, metric, last string) project.Waiver {
	return project.Waiver{Benchmark: regexp.MustCompile(expression), Metric: metric, Until: at(last).AddDate(0, 0, 1), Reason: "the new codec", Line: 9, Col: 5}
}

func TestWaivers(t *testing.T) {
	slow := bench{id: encode, effects: steady(1.2), base: same(1), head: same(2)}
	for name, c := range map[string]struct {
		w            project.Waiver
		time, allocs bool // waived
		remark       string
	}{
		"both":            {waiverOf("Encode", "", "2026-06-01"), true, true, ""},
		"one metric":      {waiverOf("Encode/large$", "allocs", "2026-12-31"), false, true, ""},
		"ran out":         {waiverOf("Encode", "", "2026-05-31"), false, false, `error: tare.yaml:9:5: the waiver for "Encode" ran out on 2026-05-31 and waives nothing; take it out of accept, or give it a later day`},
		"of nobody":       {waiverOf("Nobody", "", "2026-12-31"), false, false, `note: tare.yaml:9:5: the waiver for "Nobody" matches no benchmark that was compared`},
		"not needed":      {waiverOf("Decode", "", "2026-12-31"), false, false, `note: tare.yaml:9:5: the waiver for "Decode" is not needed: nothing it covers is worse; take it out of accept`},
		"ran out, nobody": {waiverOf("Nobody", "", "2026-05-31"), false, false, `error: tare.yaml:9:5: the waiver for "Nobody" ran out on 2026-05-31 and waives nothing; take it out of accept, or give it a later day`},
	} {
		p := project.Default(".")
		p.Accept = []project.Waiver{c.w}
		rep := judged(p, slow, bench{id: decode, effects: steady(1)})
		if got := row(t, rep, encode, "time").Waived != nil; got != c.time {
			t.Errorf("%s: time waived %v", name, got)
		}
		if got := row(t, rep, encode, "allocs").Waived != nil; got != c.allocs {
			t.Errorf("%s: allocs waived %v", name, got)
		}
		if want := !(c.time && c.allocs); rep.Blocked != want {
			t.Errorf("%s: blocked %v", name, rep.Blocked)
		}
		got := ""
		for _, r := range rep.Remarks {
			got += r.Severity + ": " + r.Text
		}
		if got != c.remark {
			t.Errorf("%s\ngot  %s\nwant %s", name, got, c.remark)
		}
	}
}

func TestNothingToCompare(t *testing.T) {
	for _, c := range []struct {
		m    Measured
		want string
	}{
		{Measured{}, "nothing to compare: there are no benchmarks; "},
		{Measured{Skipped: []Skipped{{What: "m.BenchmarkX", Why: "it is in head only"}, {What: "m.BenchmarkY", Why: "it is in head only"}}}, "nothing to compare: m.BenchmarkX: it is in head only (and 1 more)"},
	} {
		rep := Judge(project.Default("."), c.m, nil, at("2026-06-01"), "")
		if rep.Outcome != Nothing || rep.Blocked || !strings.HasPrefix(rep.Sentence, c.want) || rep.Worst() != NoWorse {
			t.Errorf("%+v", rep)
		}
	}
}

// A metric that nobody measured is remarked on, and the others are judged.
func TestMetricsThatAreNotThere(t *testing.T) {
	p := project.Default(".")
	p.Gate.Metrics = []string{"time", "cpu"}
	rep := judged(p, bench{id: encode, effects: steady(1)})
	if len(rep.Rows) != 2 || len(rep.Remarks) != 1 || !strings.HasPrefix(rep.Remarks[0].Text, "cpu is requested and is not measured") {
		t.Errorf("%+v", rep.Remarks)
	}
}

// The family-wise error rate of a table is at most alpha, wherever the truth
// is: at the margin, where every word about it can be wrong, and at no
// difference, where "faster" can.
func TestErrorOfTheWholeTable(t *testing.T) {
	tables, benchmarks := 150, 12
	if os.Getenv("TARE_SOAK") != "" {
		tables *= 10
	}
	const alpha, margin = 0.05, 0.05
	for _, c := range []struct {
		name  string
		ratio float64
		wrong []Outcome
	}{
		{"at the margin", 1 + margin, []Outcome{Worse, Better}}, // "not worse" is right there
		{"beyond it", 1 + margin + 1e-9, []Outcome{NoWorse, Better}},
		{"the same", 1, []Outcome{Worse, Better}},
	} {
		rng := rand.New(rand.NewPCG(7, 11))
		bad := 0
		for range tables {
			var family []member
			for i := range benchmarks {
				e := make([]float64, rounds)
				for k := range e {
					e[k] = math.Log(c.ratio) + 0.08*rng.NormFloat64() // so that intervals leave one by one
				}
				family = append(family, member{row: &Row{Benchmark: fmt.Sprint(i), Ratio: c.ratio, result: &tare.Result{}}, Question: judge.Question{Effects: e, Looks: 1, Edges: []float64{math.Log1p(margin)}}})
			}
			for _, m := range family { // the estimate decides nothing where the control is exact
				m.row.Ratio = math.Exp(sum(m.Effects) / rounds)
			}
			judgeMembers(family, alpha)
			for _, m := range family {
				if m.row.Outcome == c.wrong[0] || m.row.Outcome == c.wrong[1] {
					bad++
					break
				}
			}
		}
		// three standard errors above alpha
		if limit := alpha + 3*math.Sqrt(alpha*(1-alpha)/float64(tables)); float64(bad) > limit*float64(tables) {
			t.Errorf("%s: %d of %d tables say something wrong", c.name, bad, tables)
		}
	}
}

func sum(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return s
}
