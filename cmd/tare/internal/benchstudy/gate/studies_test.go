package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// Of a study's contenders those are measured that are programs of the
// repository, each against what it was.
func TestStudies(t *testing.T) {
	root, base := t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Join(root, "cmd", "mine"), filepath.Join(root, "cmd", "fresh"), filepath.Join(base, "cmd", "mine")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := tare.Study{
		ID: "encode", Kind: "codec", Baseline: "encoding-json", Dir: filepath.Join(root, "bench"), Metrics: []string{"cpu"},
		Contenders: []tare.Entry{
			{ID: "encoding-json"}, {ID: "mine", Program: "../cmd/mine", With: []string{"example.com/x@v1.0.0"}},
			{ID: "fresh", Program: "../cmd/fresh"}, {ID: "theirs", Program: "../../elsewhere"},
		},
		Workloads: []tare.Workload{{ID: "one", Fixture: "devices", Op: "marshal"}, {ID: "two", Fixture: "devices", Op: "marshal", Contenders: []string{"fresh"}}},
		Claims:    []tare.Claim{{ID: "1", Kind: tare.ClaimRatio, Contender: "mine"}},
		Criteria: []tare.Criterion{
			{Contender: "mine", Metric: "time", Ratio: "<= 0.5"}, {Contender: "mine", Metric: "size", Value: "<= 9kB"}, {Contender: "fresh", Metric: "rss", Value: "<= 9MB"},
			{Metric: "time", Workload: "two", Value: "<= 1ms"},
		},
	}
	out, left, err := Studies(s, Request{Project: project.Default(".")}, SidePaths{Base: base, Head: root}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0] != (Skipped{What: "encode fresh", Why: "its program cmd/fresh is in head only", OneSided: true}) {
		t.Errorf("left %+v", left)
	}
	if len(out) != 1 {
		t.Fatalf("%d studies", len(out))
	}
	one := out[0].Study
	if err := one.Validate(); err != nil {
		t.Error(err)
	}
	if one.ID != "gate-encode-mine" || one.Baseline != BaseID || len(one.Contenders) != 2 || len(one.Claims) != 0 || len(one.Workloads) != 1 || one.Metrics[0] != "time" || one.Metrics[1] != "allocs" || one.Metrics[2] != "size" {
		t.Errorf("%+v", one)
	}
	before, after := one.Contenders[0], one.Contenders[1]
	if before.ID != BaseID || before.Program != filepath.Join(base, "cmd", "mine") || after.ID != HeadID || after.Program != filepath.Join(root, "cmd", "mine") || len(after.With) != 1 {
		t.Errorf("%+v", one.Contenders)
	}
	if len(one.Criteria) != 2 || one.Criteria[0].Contender != HeadID || one.Criteria[0].Ratio != "<= 1.05" {
		t.Errorf("criteria %+v", one.Criteria)
	}
	held := out[0].Requirements
	if held.Name != "encode/mine" || len(held.Limits) != 1 || held.Limits[0] != (tare.Criterion{Contender: HeadID, Metric: "size", Value: "<= 9kB"}) {
		t.Errorf("held to %+v", held)
	}
}

// A contender of the catalog is measured where the change moves a module of it;
// what the study pins itself stays.
func TestStudiesOfMovedModules(t *testing.T) {
	s := tare.Study{
		ID: "encode", Kind: "codec", Baseline: "encoding-json", Metrics: []string{"time"},
		Contenders: []tare.Entry{{ID: "encoding-json"}, {ID: "goccy"}, {ID: "old", Use: "goccy", With: []string{"m/x@v0.9.0"}}, {ID: "theirs", Command: []string{"./srv"}}},
		Workloads:  []tare.Workload{{ID: "one", Fixture: "devices", Op: "marshal"}},
	}
	moved := func(kind string, e tare.Entry) (before, after []string, ok bool, err error) {
		return []string{"m/x@v1.0.0", "m/y@v1.0.0"}, []string{"m/x@v1.1.0", "m/y@v1.0.0"}, kind == "codec" && e.Leaf() == "goccy", nil
	}
	out, left, err := Studies(s, Request{Project: project.Default(".")}, SidePaths{Base: "base", Head: "head"}, moved)
	if err != nil || len(out) != 1 || len(left) != 0 {
		t.Fatalf("%d studies, left %v, %v", len(out), left, err)
	}
	one := out[0].Study
	if err := one.Validate(); err != nil || one.ID != "gate-encode-goccy" {
		t.Errorf("%s: %v", one.ID, err)
	}
	for side, want := range []string{"m/x@v1.0.0 m/y@v1.0.0", "m/x@v1.1.0 m/y@v1.0.0"} {
		if e := one.Contenders[side]; e.Use != "goccy" || strings.Join(e.With, " ") != want {
			t.Errorf("%+v", e)
		}
	}
}
