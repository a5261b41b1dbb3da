package lab_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/labtest"
)

// script is a sound study: lean takes half the time of base.
func script() labtest.Script {
	return labtest.Script{Contenders: map[string]labtest.Act{
		"base": {NSPerOp: 50e3, Spread: 0.05, Drift: 0.02, BytesPerOp: 30000, AllocsPerOp: 600, CycleNS: 5e6, OutputBytes: 11000},
		"lean": {NSPerOp: 25e3, Spread: 0.05, Drift: 0.02, BytesPerOp: 20000, AllocsPerOp: 200, CycleNS: 4e6, OutputBytes: 11000},
		"trap": {NSPerOp: 20e3, Spread: 0.05, BytesPerOp: 20000, AllocsPerOp: 200, CycleNS: 4e6, Wrong: "nothing", Trap: true},
		"null": {NSPerOp: 5},
	}}
}

func study() tare.Study {
	return tare.Study{
		ID: "scripted", Question: "Is lean faster?", Kind: "codec", Baseline: "base",
		Contenders: []tare.Entry{{ID: "base"}, {ID: "lean"}, {ID: "trap", Expect: tare.Expect{Void: []string{"wrong-answer"}}}},
		Workloads:  []tare.Workload{{ID: "w", Fixture: "x", Op: "marshal"}},
		Metrics:    []string{"time", "cpu", "bytes", "allocs"},
		Criteria:   []tare.Criterion{{Contender: "lean", Metric: "time", Ratio: "<= 0.6"}},
		Budget:     tare.Budget{Quick: 20 * time.Second},
	}
}

func options(t *testing.T, s labtest.Script) lab.Options {
	o := labtest.Options(s, "codec")
	o.Dir = filepath.Join(t.TempDir(), "run")
	o.Seed = 42
	o.Quick = true
	return o
}

func compared(t *testing.T, r *tare.Result, contender, metric string) tare.Comparison {
	t.Helper()
	for _, c := range r.Comparisons {
		if c.Contender == contender && c.Metric == metric && c.Against == r.Plan.Contenders[0] {
			return c
		}
	}
	t.Fatalf("no comparison of %s on %s in %+v", contender, metric, r.Comparisons)
	return tare.Comparison{}
}

func found(r *tare.Result, check, contender string) *tare.Finding {
	for i, f := range r.Findings {
		if f.Check == check && f.Contender == contender {
			return &r.Findings[i]
		}
	}
	return nil
}

func TestAStudyIsDecided(t *testing.T) {
	r, err := lab.Run(context.Background(), study(), options(t, script()))
	if err != nil {
		t.Fatal(err)
	}
	if r.Stopped != lab.Decided || r.RoundsDone != 8 && r.RoundsDone != 12 {
		t.Errorf("stopped %q after %d rounds, want decided at a look of 8 or 12", r.Stopped, r.RoundsDone)
	}
	c := compared(t, r, "lean", "time")
	if c.Low > 0.5 || c.High < 0.5 || c.High > 0.55 {
		t.Errorf("lean/base = %v (%v to %v), scripted 0.5", c.Ratio, c.Low, c.High)
	}
	if a := compared(t, r, "lean", "allocs"); math.Abs(a.Ratio-200.0/600) > 1e-9 {
		t.Errorf("allocs ratio %v, scripted 1/3", a.Ratio)
	}
	f := found(r, "wrong-answer", "trap")
	if f == nil || !f.Expected || f.Severity != tare.Void {
		t.Errorf("the trap's finding is %+v, want an expected void", f)
	}
	for _, c := range r.Comparisons {
		if c.Contender == "trap" || c.Against == "trap" {
			t.Errorf("the trap was compared: %+v", c)
		}
	}
	met := false
	for _, v := range r.Verdicts {
		met = met || v.Contender == "lean" && v.Criterion != "" && v.Verdict == tare.Met
	}
	if !met {
		t.Errorf("no met criterion in %+v", r.Verdicts)
	}
}

func TestATrapThatBehavesIsAnError(t *testing.T) {
	s := script()
	act := s.Contenders["trap"]
	act.Wrong = ""
	s.Contenders["trap"] = act
	r, err := lab.Run(context.Background(), study(), options(t, s))
	var ee *lab.ExpectError
	if !errors.As(err, &ee) || r == nil {
		t.Fatalf("error %v, result %v; want both, the error an ExpectError", err, r != nil)
	}
	if !strings.Contains(ee.Error(), "trap") || !strings.Contains(ee.Error(), "wrong-answer") {
		t.Errorf("%q does not name contender and check", ee)
	}
}

// A check that could not decide yet is no error, nor is a trap that is not there.
func TestATrapThatCouldNotShowIsNoError(t *testing.T) {
	for _, c := range []struct {
		check   string
		edit    func(*labtest.Act)
		message string
	}{
		{"drift-in-trial", func(*labtest.Act) {}, "8 rounds, at least 11 are needed"},
		{"wrong-answer", func(a *labtest.Act) { a.Wrong, a.BuildError = "", "main.go:3:1: made up" }, "it could not be built: main.go:3:1: made up"},
	} {
		s := script()
		act := s.Contenders["trap"]
		c.edit(&act)
		s.Contenders["trap"] = act
		trapped := study()
		trapped.Contenders[2].Expect.Void = []string{c.check}
		o := options(t, s)
		o.Rounds = 8
		r, err := lab.Run(context.Background(), trapped, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Expectations) != 1 || r.Expectations[0].Outcome != tare.NotEnoughEvidence || r.Expectations[0].Message != c.message || r.OutcomeOf("trap") != tare.NotEnoughEvidence {
			t.Errorf("%s: %+v, want not enough evidence: %s", c.check, r.Expectations, c.message)
		}
	}
}

// Answers that do not fit one line are asked for in smaller parts.
func TestLargeAnswersAreAskedForInParts(t *testing.T) {
	s := script()
	act := s.Contenders["base"]
	act.MaxCases = 2
	s.Contenders["base"] = act
	o := options(t, s)
	o.Rounds = 8
	r, err := lab.Run(context.Background(), study(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Conformance {
		if c.Contender == "base" && !c.During && (c.Cases != 4 || c.Wrong != 0) {
			t.Errorf("%d of %d answers wrong, want none of 4", c.Wrong, c.Cases)
		}
	}
}

func TestABuildThatFailsIsAFinding(t *testing.T) {
	s := script()
	act := s.Contenders["lean"]
	act.BuildError = "main.go:3:1: made up"
	s.Contenders["lean"] = act
	o := options(t, s)
	o.Rounds = 8
	r, err := lab.Run(context.Background(), study(), o)
	if err != nil {
		t.Fatal(err)
	}
	if f := found(r, "build", "lean"); f == nil || f.Severity != tare.Void || !strings.Contains(f.Message, "main.go:3:1") {
		t.Errorf("finding %+v, want a void that names the line", f)
	}
}

func TestAWrongContenderIsNotTimed(t *testing.T) {
	s := script()
	act := s.Contenders["lean"]
	act.Wrong = "nonsense"
	s.Contenders["lean"] = act
	o := options(t, s)
	o.Rounds = 8
	r, err := lab.Run(context.Background(), study(), o)
	if err != nil {
		t.Fatal(err)
	}
	if f := found(r, "wrong-answer", "lean"); f == nil || f.Severity != tare.Void {
		t.Errorf("finding %+v, want void", f)
	}
	for _, tr := range r.Trials {
		if tr.Contender == "lean" && len(tr.Samples) > 0 {
			t.Fatal("a contender that answers wrong was timed")
		}
	}
}

func TestABudgetThatIsTooSmallIsRefused(t *testing.T) {
	o := options(t, script())
	o.Budget, o.User = 2*time.Second, true
	_, err := lab.Run(context.Background(), study(), o)
	var be *plan.BudgetError
	if !errors.As(err, &be) {
		t.Fatalf("got %v, want a BudgetError", err)
	}
}

func TestQuickLeavesOutWhatCarriesNothing(t *testing.T) {
	s := study()
	s.Contenders = append(s.Contenders, tare.Entry{ID: "idle", Use: "lean"})
	s.Criteria[0].Workload = "w"
	s.Workloads = append(s.Workloads, tare.Workload{ID: "v", Fixture: "x", Op: "marshal"})
	r, err := lab.Run(context.Background(), s, options(t, script()))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.NotWeighed) != 2 {
		t.Errorf("not measured: %+v, want the contender idle and the workload v", r.NotWeighed)
	}
}

func TestLongRoundsAreForTheSliceCheckAlone(t *testing.T) {
	o := options(t, script())
	o.Quick = false
	s := study()
	s.Criteria[0].Ratio = "<= 0.5" // never decided: the truth is 0.5
	s.Budget.Full = 60 * time.Second
	r, err := lab.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	long := 0
	for _, tr := range r.Trials {
		if tr.Tau == plan.LongTau && tr.Contender == "base" {
			long++
		}
	}
	if long != r.RoundsDone/8 || long < 3 {
		t.Errorf("%d long rounds beside %d, want one in eight", long, r.RoundsDone)
	}
	for _, e := range r.Rounds {
		if len(e.Effects) > r.RoundsDone {
			t.Errorf("%d effects from %d rounds", len(e.Effects), r.RoundsDone)
		}
	}
}

// Ranks among many take more rounds than a criterion: the full budget is not
// cut short at the first look.
func TestAFullBudgetIsNotDecidedAtOnce(t *testing.T) {
	o := options(t, script())
	o.Quick = false
	r, err := lab.Run(context.Background(), study(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Stopped != lab.Decided || r.RoundsDone != plan.FullRounds {
		t.Errorf("stopped %q after %d rounds, want decided after %d", r.Stopped, r.RoundsDone, plan.FullRounds)
	}
}
