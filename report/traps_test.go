package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// trapped returns a study with two traps: one expected to be caught by two checks, and one by
// drift.
func trapped(drift tare.Expectation) *tare.Result {
	drift.Contender, drift.Check = "growing", "drift-in-trial"
	return &tare.Result{
		Study: "users",
		Design: tare.Design{Contenders: []tare.Contender{
			{ID: "plain", Role: tare.RoleBaseline},
			{ID: "idle", Role: tare.RoleTrap, Declared: tare.Declared{Expect: tare.Expect{Void: []string{"identity", "wrong-answer"}}}},
			{ID: "growing", Role: tare.RoleTrap, Declared: tare.Declared{Expect: tare.Expect{Void: []string{"drift-in-trial"}}}},
		}},
		Expectations: []tare.Expectation{
			{Contender: "idle", Check: "identity", Outcome: tare.Caught}, {Contender: "idle", Check: "wrong-answer", Outcome: tare.Caught}, drift,
		},
	}
}

func TestTrapsInOneLine(t *testing.T) {
	few := trapped(tare.Expectation{Outcome: tare.NotEnoughEvidence, Message: "11 rounds, about 25 would do"})
	missed := trapped(tare.Expectation{Outcome: tare.Missed, Message: "25 rounds were enough, and the check found nothing"})
	const idle = "Traps: 1 of 2 caught (idle† by identity, idle† by wrong-answer); "
	for _, c := range []struct {
		r    *tare.Result
		want string
	}{
		{few, idle + "growing†: not enough evidence for drift-in-trial: 11 rounds, about 25 would do."},
		{missed, idle + "growing†: missed by drift-in-trial: 25 rounds were enough, and the check found nothing."},
		{&tare.Result{Design: tare.Design{Contenders: few.Contenders}}, ""},
		{&tare.Result{Design: tare.Design{Contenders: few.Contenders}, Judged: tare.Judged{Findings: []tare.Finding{{Check: "identity", Severity: tare.Void, Contender: "idle", Expected: true}}}}, "As expected of the traps: idle† by identity."},
	} {
		if got := describeTrapFindings(c.r); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
	if got, want := TrapsCount([]*tare.Result{few, {}, missed}), "2 caught, 1 missed (users: growing), 1 with too little evidence (users: growing)"; got != want {
		t.Errorf("counted %q, want %q", got, want)
	}
	if got := TrapsCount([]*tare.Result{{}}); got != "" {
		t.Errorf("counted %q without a trap", got)
	}
}

// The notes of a trap do not claim that a check found nothing if the check lacked evidence.
func TestNotesOfATrapThatCouldNotShow(t *testing.T) {
	r := trapped(tare.Expectation{Outcome: tare.NotEnoughEvidence, Message: "11 rounds, about 25 would do"})
	v := newView(r, "")
	notes := v.listNotes(r.Contenders[2])
	if want := "expected to be void by drift-in-trial; not enough evidence for that: 11 rounds, about 25 would do"; !slices.Contains(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
	r.Expectations[2].Outcome = tare.Missed
	if notes := strings.Join(v.listNotes(r.Contenders[2]), "; "); !strings.Contains(notes, "but that check found nothing") {
		t.Errorf("notes %q", notes)
	}
}
