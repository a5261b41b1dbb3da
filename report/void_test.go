package report

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// Lost rounds are reported once for each contender, and not for contenders that are completely
// void.
func TestVoidRounds(t *testing.T) {
	r := tried(base())
	r.RoundsDone = 3
	of := func(contender string, round int) *tare.Trial {
		for i := range r.Trials {
			if tr := &r.Trials[i]; tr.Contender == contender && tr.Round == round {
				return tr
			}
		}
		t.Fatalf("no trial of %s in round %d", contender, round)
		return nil
	}
	assert.Equal(t, "nothing lost", len(describeLost(r)), 0)
	of("jsoniter-fastest", 2).Error = &tare.TrialError{Class: tare.ErrExit, Message: "signal: killed"}
	const killed = "1 of 3 rounds of jsoniter-fastest is void: exit: signal: killed"
	for _, format := range []string{"text", "md", "research"} {
		assert.Contains(t, format, strings.Join(strings.Fields(written(t, format, r)), " "), killed)
	}
	assert.Contains(t, "benchfmt", written(t, "benchfmt", r), "# left out: jsoniter-fastest in round 2: exit: signal: killed\n")

	of("jsoniter-fastest", 3).Error = &tare.TrialError{Class: tare.ErrDeadline, Message: "no reply"}
	assert.Equal(t, "two", describeLost(r)[0], "2 of 3 rounds of jsoniter-fastest are void; the first: exit: signal: killed")
	of("jsoniter-fastest", 3).Error = nil

	errors := tare.VoidPart{Workload: marshal, Why: "3 of 900 timed operations returned an error"}
	of("encoding-json", 1).Void = []tare.VoidPart{errors}
	for _, id := range []string{"jsoniter-fastest", tare.ControlID, tare.NullID} {
		of(id, 1).Void = []tare.VoidPart{{Workload: marshal, Why: "of the baseline's, " + errors.Why}}
	}
	of(tare.ControlID, 3).Void = []tare.VoidPart{errors}
	assert.Equal(t, "everybody's", strings.Join(describeLost(r), "\n"), strings.Join([]string{
		"1 of 3 rounds of encoding-json on devices-50/marshal is void for everybody: 3 of 900 timed operations returned an error",
		killed,
		"1 of 3 rounds of control on devices-50/marshal is void: 3 of 900 timed operations returned an error",
	}, "\n"))
	assert.Contains(t, "benchfmt", written(t, "benchfmt", r), "# left out: null on devices-50/marshal in round 1: of the baseline's, 3 of 900 timed operations returned an error\n")

	r.Findings = append(r.Findings, tare.Finding{Check: "trial", Severity: tare.Void, Contender: "jsoniter-fastest", Message: "died"})
	assert.Equal(t, "void altogether", len(describeLost(r)), 2)
}
