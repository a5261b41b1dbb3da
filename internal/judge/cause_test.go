package judge

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// A difference comes from one cause alone where the others have no share of it
// that matters.
func TestWhatIsClaimedToBeTheOnlyCause(t *testing.T) {
	const noise = 0.002
	state := func(d evidence.Evidence, causes ...string) tare.ClaimResult {
		d.Study.Claims = []tare.Claim{{ID: "F", Kind: tare.ClaimCause, Contender: "lean", Decomposition: "F3.1", Causes: causes, Statement: "s"}}
		return Claims(d, nil, nil, nil, nil)[0]
	}
	d := told(51, fake{rounds: 18, roundSD: noise})
	r := state(d, "lean")
	if r.Outcome != tare.Refuted || !strings.HasPrefix(r.Why, "of the difference, a line of log is 19.9 % (") || !strings.Contains(r.Why, " and the terminal 50.1 % (") {
		t.Errorf("one of three: %s, %s", r.Outcome, r.Why)
	}
	if r.Workload != "w" || r.Metric != "cpu" || r.Evidence != "decomposition F3.1, 18 rounds" {
		t.Errorf("%+v", r)
	}
	if r := state(d, "lean", "fat"); !strings.HasPrefix(r.Why, "the steps claimed are together ") || !strings.Contains(r.Why, "; of what was claimed, the framework is 30.1 % (") {
		t.Errorf("two of three: %s, %s", r.Outcome, r.Why)
	}
	if r := state(d, "lean", "other", "fat"); r.Outcome != tare.Holds {
		t.Errorf("all of them: %s, %s", r.Outcome, r.Why)
	}
	small := told(51, fake{rounds: 18, roundSD: noise})
	small.Study.Decompose[0].Steps = small.Study.Decompose[0].Steps[:2]
	if r := state(small, "lean"); r.Outcome != tare.Refuted { // 40 % are another's
		t.Errorf("one of two: %s, %s", r.Outcome, r.Why)
	}
	if r := state(told(51, fake{rounds: 18, roundSD: 0.9}), "lean"); r.Outcome != tare.ClaimOpen {
		t.Errorf("in noise: %s, %s", r.Outcome, r.Why)
	}
	if r := state(told(51, fake{rounds: 2, roundSD: noise}), "lean"); r.Outcome != tare.ClaimOpen {
		t.Errorf("after two rounds: %s, %s", r.Outcome, r.Why)
	}
	d.Study.Claims = []tare.Claim{{ID: "F", Kind: tare.ClaimCause, Contender: "lean", Decomposition: "F3.1", Causes: []string{"lean"}, Statement: "s"}}
	if r := Claims(d, nil, nil, nil, []tare.NotWeighed{{What: "workload w", Why: "no time"}})[0]; r.Outcome != tare.NotMeasured || r.Why != "workload w: no time" {
		t.Errorf("on a workload that was left out: %s, %s", r.Outcome, r.Why)
	}
	d.Contenders = append([]tare.Contender(nil), d.Contenders...)
	for i := range d.Contenders {
		if d.Contenders[i].ID == "other" {
			d.Contenders[i].Role = tare.RoleTrap
		}
	}
	if r := state(d, "lean"); r.Outcome != tare.NotMeasured {
		t.Errorf("with a step left out: %s, %s", r.Outcome, r.Why)
	}
}
