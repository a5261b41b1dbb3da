package judge

import (
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// That a check found nothing says something only where it is known how much it
// looked at, and then says how much that was.
func TestStatementsSayHowMuchWasLookedAt(t *testing.T) {
	state := func(d evidence.Evidence, check, workload string, found ...tare.Finding) tare.ClaimResult {
		d.Study.Claims = []tare.Claim{{ID: "F", Kind: tare.ClaimStatement, Contender: "lean", Workload: workload, Check: check, Statement: "s"}}
		return Claims(d, nil, nil, found, nil)[0]
	}
	d := asking()
	d.Conformance = []tare.Conformance{
		{Contender: "lean", Workload: "w", Cases: 1200}, {Contender: "lean", Workload: "v", Cases: 34, During: true},
		{Contender: "lean", Cases: 9, Probe: true}, {Contender: base, Workload: "w", Cases: 1200},
	}
	d.Slices = []tare.Slice{{Contender: "lean", Workload: "w", Ops: 600}, {Contender: "lean", Workload: "v", Ops: 2700}, {Contender: base, Workload: "w", Ops: 1e6}}
	for _, want := range []struct{ check, workload, why string }{
		{"wrong-answer", "", "each of 1,234 answers is the reference's"},
		{"wrong-answer", "v", "each of 34 answers is the reference's"},
		{"error-in-loop", "", "none of 3,300 timed operations failed; of all there could be, fewer than 1 in 1,100 would (95 %)"},
		{"error-in-loop", "w", "none of 600 timed operations failed; of all there could be, fewer than 1 in 200 would (95 %)"},
	} {
		if r := state(d, want.check, want.workload); r.Outcome != tare.Holds || r.Why != "of this implementation: "+want.why {
			t.Errorf("%s %s: %s, %s", want.check, want.workload, r.Outcome, r.Why)
		}
	}
	if r := state(d, "error-in-loop", "", tare.Finding{Check: "error-in-loop", Contender: "lean", Workload: "w", Message: "1 of 600 failed"}); r.Outcome != tare.Refuted || r.Why != "1 of 600 failed" {
		t.Errorf("%+v", r)
	}
	foregone := tare.Finding{Check: "discriminating", Message: "time <= 10ms could not fail"}
	if r := state(d, "discriminating", "", foregone); r.Outcome != tare.VoidAsPublished || r.Why != foregone.Message {
		t.Errorf("a statement about a criterion that everything meets: %+v", r)
	}
	for _, check := range []string{"wrong-answer", "error-in-loop", "control"} {
		if r := state(asking(), check, ""); r.Outcome != tare.NotMeasured {
			t.Errorf("%s of nothing: %+v", check, r)
		}
	}
}
