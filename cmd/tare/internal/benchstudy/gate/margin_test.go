package gate

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/report"
)

// A benchmark that has a margin of its own is held to that, by the metric that
// it is for.
func TestMargins(t *testing.T) {
	p := project.Default(".")
	p.Gate.Metrics = []string{"time"}
	p.Gate.Margins = []project.Margin{{Benchmark: regexp.MustCompile("Encode"), Metric: "time", Share: 0.3}, {Benchmark: regexp.MustCompile("."), Metric: "bytes", Share: 0.01}}
	const encode, decode = "example.com/m/codec.BenchmarkEncode", "example.com/m/codec.BenchmarkDecode"
	rep := judged(p, bench{id: encode, effects: steady(1.2)}, bench{id: decode, effects: steady(1.2)})
	if r := row(t, rep, encode, "time"); r.Outcome != NoWorse || r.Margin != 0.3 || !strings.Contains(r.Sentence, "by > 30 %") {
		t.Errorf("%+v", r)
	}
	if r := row(t, rep, decode, "time"); r.Outcome != Worse || r.Margin != 0 {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(rep.Sentence, "1 is slower by more than its margin") {
		t.Errorf("%s", rep.Sentence)
	}
	var got []string
	for _, c := range (Request{Project: p}).Criteria(HeadID, []tare.Workload{{ID: encode}, {ID: decode}}) {
		got = append(got, c.Workload+" "+c.String())
	}
	if want := encode + " time ratio <= 1.3|" + decode + " time ratio <= 1.05"; strings.Join(got, "|") != want {
		t.Errorf("held to %q, want %q", strings.Join(got, "|"), want)
	}
}

// What is better never blocks.
func TestImprovementsPass(t *testing.T) {
	rep := judged(project.Default("."), bench{id: "m.BenchmarkA", effects: steady(0.5), base: same(3), head: same(1)})
	if rep.Blocked || rep.Outcome != NoWorse || row(t, rep, "m.BenchmarkA", "time").Outcome != Better {
		t.Errorf("%s: %+v", rep.Sentence, rep.Rows)
	}
}

// parts are the reports of two parts, as they are read again.
func parts(t *testing.T, benches ...bench) []Report {
	t.Helper()
	var out []Report
	for i, b := range benches {
		rep := judged(project.Default("."), b)
		rep.Shard = suite.Shard{Index: i + 1, Of: len(benches)}.String()
		text, err := json.Marshal(rep)
		if err != nil {
			t.Fatal(err)
		}
		var again Report
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		out = append(out, again)
	}
	return out
}

// Parts that are merged are judged as one table: the same as if they had been
// measured together.
func TestMerge(t *testing.T) {
	a, b := bench{id: "m.BenchmarkA", effects: steady(1)}, bench{id: "m.BenchmarkB", effects: steady(1.5)}
	m, err := Merge(parts(t, a, b))
	if err != nil {
		t.Fatal(err)
	}
	merged := Judge(project.Default("."), m, nil, at("2026-06-01"), "tare.yaml")
	together := judged(project.Default("."), a, b)
	if merged.Sentence != together.Sentence || len(merged.Rows) != len(together.Rows) || !merged.Blocked {
		t.Errorf("%s, want %s", merged.Sentence, together.Sentence)
	}
	for i, r := range merged.Rows {
		if w := together.Rows[i]; r.Benchmark != w.Benchmark || r.Metric != w.Metric || r.Outcome != w.Outcome || r.Level != w.Level {
			t.Errorf("%+v, want %+v", r, w)
		}
	}
}

// With more parts than benchmarks some have nothing to compare.
func TestMergeOfAnEmptyPart(t *testing.T) {
	a, b := bench{id: "m.BenchmarkA", effects: steady(1)}, bench{id: "m.BenchmarkB", effects: steady(1.5)}
	for _, empty := range []int{0, 1} {
		list := parts(t, a, b)
		list[empty] = Report{Shard: list[empty].Shard, Base: "main", Head: "worktree", Commit: list[empty].Commit, Sentence: "nothing to compare"}
		m, err := Merge(list)
		if err != nil || len(m.Results) != 1 || m.Base != list[1-empty].Base || m.Head != list[1-empty].Head || m.Nothing != "" {
			t.Errorf("part %d is empty: %v, %d results, %s against %s", empty+1, err, len(m.Results), m.Head, m.Base)
		}
	}
	list := parts(t, a, b)
	for i := range list {
		list[i] = Report{Shard: list[i].Shard, Base: "main", Head: "worktree", Commit: list[i].Commit, Sentence: "nothing to compare"}
	}
	if m, err := Merge(list); err != nil || m.Nothing != "nothing to compare" {
		t.Errorf("both are empty: %v, %q", err, m.Nothing)
	}
}

func TestMergeRefuses(t *testing.T) {
	a, b := bench{id: "m.BenchmarkA", effects: steady(1)}, bench{id: "m.BenchmarkB", effects: steady(1.5)}
	for want, change := range map[string]func([]Report) []Report{
		"1 parts of 2 were given; missing: 2/2": func(r []Report) []Report { return r[:1] },
		"part 1/2 is given twice":               func(r []Report) []Report { return append(r, r[0]) },
		"not of the same sides":                 func(r []Report) []Report { r[1].Head = "another"; return r },
		`"1/9223372036854775807" is not a part such as 2/4`: func(r []Report) []Report {
			r[0].Shard = "1/9223372036854775807"
			return r[:1]
		},
		"1 parts of 10000 were given; missing: 2/10000, 3/10000": func(r []Report) []Report { r[0].Shard = "1/10000"; return r[:1] },
		"(and 9979 more)":                func(r []Report) []Report { r[0].Shard = "1/10000"; return r[:1] },
		"part 1/3 is not one of 2 parts": func(r []Report) []Report { r[1].Shard = "1/3"; return r },
		`"3/2" is not a part`:            func(r []Report) []Report { r[1].Shard = "3/2"; return r },
		"is no part of a gate":           func(r []Report) []Report { r[1].Shard = ""; return r },
	} {
		if _, err := Merge(change(parts(t, a, b))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Machines have rows of their own, and one family: rounds of two are never pooled.
func TestGateOverMachines(t *testing.T) {
	one := func(name string, ratio float64) Machine {
		p := parts(t, bench{id: "m.BenchmarkA", effects: steady(ratio)}, bench{id: "m.BenchmarkB", effects: steady(1)})[0]
		r := p.Results[0]
		r.Study, r.Question = "bench m", "q"
		r.Comparisons = append(r.Comparisons, tare.Comparison{Workload: "m.BenchmarkA", Contender: HeadID, Metric: "time", Against: BaseID, Ratio: ratio, Low: ratio * 0.999, High: ratio * 1.001})
		return Machine{name, p}
	}
	m, err := OverMachines([]Machine{one("x", 1), one("y", 1.5)}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	rep := Judge(project.Default("."), m, nil, at("2026-06-01"), "tare.yaml")
	outcomes := map[string]Outcome{}
	for _, r := range rep.Rows {
		if r.Metric == "time" && r.Benchmark == "m.BenchmarkA" {
			outcomes[r.Machine] = r.Outcome
			if r.Rounds != rounds {
				t.Errorf("%d rounds on %s", r.Rounds, r.Machine)
			}
		}
	}
	if outcomes["x"] == Worse || outcomes["y"] != Worse || !rep.Blocked {
		t.Errorf("%v, blocked %v: %s", outcomes, rep.Blocked, rep.Sentence)
	}
	if len(rep.OverMachines) == 0 || !strings.Contains(rep.OverMachines[0].Sentence, "More on y but not on x") {
		t.Errorf("%+v", rep.OverMachines)
	}
	var b strings.Builder
	if err := WriteText(&b, rep, report.Style{}, true); err != nil || !strings.Contains(b.String(), "BenchmarkA on y") || !strings.Contains(b.String(), "over machines: More on y but not on x") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
