package lab_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/lab"
)

// picky is a kind that cannot make the input of workloads with a producer.
type picky struct{ lab.Kind }

func (k picky) Input(w tare.Workload, study, dir string) (wire.Workload, error) {
	if w.Set["producer"] != "" {
		return wire.Workload{}, &lab.NotInstalledError{Programs: []string{w.Set["producer"]}}
	}
	return k.Kind.Input(w, study, dir)
}

func TestAWorkloadThatCannotBeMade(t *testing.T) {
	s := study()
	s.Workloads = append(s.Workloads, tare.Workload{ID: "far", Fixture: "x", Op: "single", Set: map[string]string{"producer": "rustc"}})
	s.Claims = []tare.Claim{{ID: "F", Kind: tare.ClaimRatio, Source: "s", Contender: "lean", Workload: "far", Metric: "time", Baseline: 2, Value: 1, Statement: "s"}}
	o := options(t, script())
	o.Kinds["codec"] = picky{o.Kinds["codec"]}
	o.Quick, o.Rounds = false, 2
	r, err := lab.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Workloads) != 1 || !slices.Contains(r.NotWeighed, tare.NotWeighed{What: "workload far", Why: "not installed: rustc"}) {
		t.Errorf("on %+v, not measured %+v", r.Workloads, r.NotWeighed)
	}
	if c := r.Claims[0]; c.Outcome != tare.NotMeasured || c.Why != "workload far: not installed: rustc" {
		t.Errorf("claim %+v", c)
	}
	o = options(t, script())
	o.Kinds["codec"] = picky{o.Kinds["codec"]}
	o.Only.Workloads = []string{"far"}
	var wrong *lab.StudyError
	if _, err := lab.Run(context.Background(), s, o); !errors.As(err, &wrong) || wrong.Err.Error() != "workload far: not installed: rustc" {
		t.Errorf("of it alone: %v", err)
	}
}
