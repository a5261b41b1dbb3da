package gate

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/report"
)

// A change passes only if all of it was compared and could be told; the sentence names
// the rest, and on_inconclusive decides about it.
func TestPassesOnlyWhatWasCompared(t *testing.T) {
	const noTime = "--max 10s holds 1 of 5 benchmarks; all of them take about 50s"
	left := func(l ...Skipped) []Skipped { return l }
	missing := left(Skipped{What: decode, Why: noTime}, Skipped{What: decode + "2", Why: noTime}, Skipped{What: decode + "3", Why: noTime}, Skipped{What: decode + "4", Why: noTime})
	cpu := project.Default(".")
	cpu.Gate.Metrics = []string{"time", "cpu"}
	for name, c := range map[string]struct {
		p        project.Project
		b        bench
		left     []Skipped
		shard    suite.Shard
		outcome  Outcome
		sentence string // how it begins
		end      string // and what it ends with
	}{
		"everything":        {project.Default("."), bench{effects: steady(1)}, nil, suite.Shard{}, NoWorse, "passes: of 1 benchmark none is slower", "allocates more often"},
		"four of five":      {project.Default("."), bench{effects: steady(1)}, missing, suite.Shard{}, Open, "not blocked: of 1 benchmark none is slower", "; 4 more were not compared: " + noTime},
		"for two reasons":   {project.Default("."), bench{effects: steady(1)}, left(Skipped{What: decode, Why: "it failed\nbadly"}, Skipped{What: "x", Why: "y"}), suite.Shard{}, Open, "not blocked: ", "; 2 more were not compared: codec.BenchmarkDecode: it failed badly (and others)"},
		"it cannot be told": {project.Default("."), bench{effects: restless(0.4)}, nil, suite.Shard{}, Open, "not blocked: of 1 benchmark none is known to be slower", "1 could not be told (on_inconclusive: warn)"},
		"a new benchmark":   {project.Default("."), bench{effects: steady(1)}, left(Skipped{What: decode, Why: "it is in head only", OneSided: true}), suite.Shard{}, NoWorse, "passes: ", "; 1 more is on one side only"},
		"a metric":          {cpu, bench{effects: steady(1)}, nil, suite.Shard{}, Open, "not blocked: ", "; cpu was not measured"},
		"a part":            {project.Default("."), bench{effects: steady(1)}, nil, suite.Shard{Index: 2, Of: 4}, NoWorse, "part 2/4, which tare gate merge judges with the others: of 1 benchmark", "often"},
	} {
		for _, on := range []project.OnInconclusive{project.WarnOpen, project.FailOpen} {
			c.p.Gate.OnInconclusive, c.b.id = on, encode
			rep := Judge(c.p, Measured{Results: []*tare.Result{result(c.b)}, Skipped: c.left, Shard: c.shard}, nil, at("2026-06-01"), "")
			blocked := c.outcome == Open && on == project.FailOpen
			if rep.Outcome != c.outcome || rep.Blocked != blocked || (rep.Worst() == Open) != blocked {
				t.Errorf("%s, %s: %s, blocked %v, worst %s", name, on, rep.Outcome, rep.Blocked, rep.Worst())
			}
			want := c.sentence
			if blocked {
				want = "blocked: "
			}
			if end := strings.Replace(c.end, "warn", string(on), 1); !strings.HasPrefix(rep.Sentence, want) || !strings.HasSuffix(rep.Sentence, end) {
				t.Errorf("%s, %s: %s\nwant %s … %s", name, on, rep.Sentence, want, end)
			}
			var text, md, notes bytes.Buffer
			for _, err := range []error{WriteText(&text, rep, report.Style{}, false), WriteMarkdown(&md, rep), WriteAnnotations(&notes, rep)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if said := text.String() + md.String(); c.outcome == Open && (strings.Contains(said, "passes") || strings.Contains(said, "✅")) {
				t.Errorf("%s, %s: it says that it passes:\n%s", name, on, said)
			}
			if annotated := notes.Len() > 0; annotated != (c.outcome == Open) {
				t.Errorf("%s, %s: annotations %q", name, on, notes.String())
			}
		}
	}
}

// If everything was left out, there is nothing to compare, and a gate that has to be sure
// is blocked.
func TestEverythingWasLeftOut(t *testing.T) {
	p := project.Default(".")
	p.Gate.OnInconclusive = project.FailOpen
	m := Measured{Skipped: []Skipped{{What: decode, Why: "no time"}}}
	if rep := Judge(p, m, nil, at("2026-06-01"), ""); rep.Outcome != Nothing || !rep.Blocked || rep.Worst() != Open {
		t.Errorf("%+v", rep)
	}
	m.Skipped[0].OneSided = true
	if rep := Judge(p, m, nil, at("2026-06-01"), ""); rep.Outcome != Nothing || rep.Blocked || rep.Worst() != NoWorse {
		t.Errorf("%+v", rep)
	}
}
