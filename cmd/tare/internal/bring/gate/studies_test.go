package gate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// Of a study's contenders those are weighed that are programs of the
// repository, each against what it was.
func TestStudies(t *testing.T) {
	root, base := t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Join(root, "cmd", "mine"), filepath.Join(root, "cmd", "fresh"), filepath.Join(base, "cmd", "mine")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := tare.Study{
		ID: "encode", Kinds: []string{"codec"}, Baseline: "encoding-json", Dir: filepath.Join(root, "bench"), Metrics: []string{"cpu"},
		Contenders: []tare.Entry{
			{ID: "encoding-json"}, {ID: "mine", Program: "../cmd/mine", With: []string{"example.com/x@v1.0.0"}},
			{ID: "fresh", Program: "../cmd/fresh"}, {ID: "theirs", Program: "../../elsewhere"},
		},
		Workloads: []tare.Workload{{ID: "one", Fixture: "devices", Op: "marshal"}, {ID: "two", Fixture: "devices", Op: "marshal", Contenders: []string{"fresh"}}},
		Claims:    []tare.Claim{{ID: "1", Kind: tare.ClaimRatio, Contender: "mine"}},
		Criteria:  []tare.Criterion{{Contender: "mine", Metric: "time", Ratio: "<= 0.5"}},
	}
	out, left := Studies(s, Ask{Project: project.Default(".")}, root, base)
	if len(left) != 1 || left[0] != (Left{What: "encode fresh", Why: "its program cmd/fresh is in head only"}) {
		t.Errorf("left %+v", left)
	}
	if len(out) != 1 {
		t.Fatalf("%d studies", len(out))
	}
	one := out[0]
	if err := one.Validate(); err != nil {
		t.Error(err)
	}
	if one.ID != "gate-encode-mine" || one.Baseline != BaseID || len(one.Contenders) != 2 || len(one.Claims) != 0 || len(one.Workloads) != 1 || one.Metrics[0] != "time" || one.Metrics[1] != "allocs" {
		t.Errorf("%+v", one)
	}
	before, after := one.Contenders[0], one.Contenders[1]
	if before.ID != BaseID || before.Program != filepath.Join(base, "cmd", "mine") || after.ID != HeadID || after.Program != filepath.Join(root, "cmd", "mine") || len(after.With) != 1 {
		t.Errorf("%+v", one.Contenders)
	}
	if len(one.Criteria) != 1 || one.Criteria[0].Contender != HeadID || one.Criteria[0].Ratio != "<= 1.05" {
		t.Errorf("criteria %+v", one.Criteria)
	}
}
