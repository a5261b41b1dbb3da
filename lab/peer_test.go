package lab_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/labtest"
)

// peers is a study with a command of somebody else's and a program that stands
// apart; which programs are on PATH is made up.
func peers(t *testing.T, onPath ...string) (tare.Study, lab.Options, *serving) {
	s, o, k := servedStudy(t)
	s.Contenders[2] = tare.Entry{ID: "quiet", Use: "lean", Answers: tare.AnswersStatus}
	s.Contenders[3] = tare.Entry{
		ID: "command", Command: []string{"peerd", "$DIR/peer.conf"}, Requires: []string{"peerd", "ruby"}, Answers: tare.AnswersStatus,
		Files: map[string]string{"peer.conf": "port $PORT"}, Path: "/in", Delivers: "$DIR/out*.log",
	}
	s.Criteria = []tare.Criterion{{Contender: "command", Workload: "visits", Metric: "time", Ratio: "<= 2"}}
	s.Claims = []tare.Claim{{ID: "F", Kind: tare.ClaimRatio, Source: "s", Contender: "command", Workload: "visits", Metric: "time", Baseline: 2, Value: 1, Statement: "s"}}
	o.LookPath = func(program string) (string, error) {
		if slices.Contains(onPath, program) {
			return "/bin/" + program, nil
		}
		return "", errors.New("not found")
	}
	o.Rounds = 12
	return s, o, k
}

func TestPeers(t *testing.T) {
	s, o, k := peers(t, "ruby", "peerd")
	k.lax = "command"
	r, err := lab.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := r.Contender("command")
	if c.Role != tare.RoleApart || c.Path != "/in" || c.Delivers != "$DIR/out*.log" || !reflect.DeepEqual(c.Files, s.Contenders[3].Files) || c.Error != "" {
		t.Errorf("the command became %+v", c)
	}
	if k.path["command"] != "/bin/peerd" {
		t.Errorf("it is started from %q, and was found at /bin/peerd", k.path["command"])
	}
	if c, _ := r.Contender("quiet"); c.Role != tare.RoleApart {
		t.Errorf("the program became %+v", c)
	}
	if !slices.ContainsFunc(r.Comparisons, func(c tare.Comparison) bool {
		return c.Contender == "command" && c.Workload == "visits" && c.Rounds == 12 && c.Low > 0 && c.RankLow == 0
	}) {
		t.Error("it is not compared with the baseline in all rounds, without a rank, although it refuses nothing")
	}
	f := found(r, "negative-probe", "command")
	if f == nil || f.Severity != tare.Note || f.Message != "it stands apart, and 1 of 3 probes were not refused, or not as the reference does: case was not refused" {
		t.Errorf("what it does not refuse: %+v", f)
	}
	for _, c := range r.Conformance {
		if c.Contender == "command" && c.Probe && !slices.Equal(c.Unrefused, []string{"case was not refused"}) {
			t.Errorf("conformance: %+v", c)
		}
	}
}

func TestAPeerThatIsNotInstalled(t *testing.T) {
	s, o, _ := peers(t, "ruby")
	var said []lab.Event
	o.Progress = func(e lab.Event) { said = append(said, e) }
	r, err := lab.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := r.Contender("command")
	if !c.Absent() || c.Error != "not installed: peerd" {
		t.Errorf("the command became %+v", c)
	}
	f := found(r, "build", "command")
	if f == nil || f.Severity != tare.Note || f.Message != c.Error {
		t.Errorf("finding %+v, want a note", f)
	}
	for _, f := range r.Findings {
		if f.Severity == tare.Void {
			t.Errorf("void: %+v", f)
		}
	}
	for _, v := range r.Verdicts {
		if v.Contender == "command" {
			t.Errorf("verdict %+v", v)
		}
	}
	if got := r.Claims[0]; got.Outcome != tare.NotMeasured || got.Why != "command is not installed: peerd" {
		t.Errorf("claim %+v", got)
	}
	if !judge.Decided(nil, r.Claims) && r.Claims[0].Outcome == tare.ClaimOpen {
		t.Error("it holds the study up")
	}
	var missing *lab.NotInstalledError
	if !slices.ContainsFunc(said, func(e lab.Event) bool { return e.Contender == "command" && errors.As(e.Err, &missing) }) || !slices.Equal(missing.Programs, []string{"peerd"}) {
		t.Errorf("nobody was told: %+v", said)
	}
	s.Contenders[3].Answers = ""
	s.Baseline = "command"
	var lost *lab.LostError
	if _, err := lab.Run(context.Background(), s, o); !errors.As(err, &lost) || lost.Why != "not installed: peerd" {
		t.Errorf("without its baseline: %v", err)
	}
}

// A program that is there and does not run is not installed, and the reason is
// given. So it is where nobody says how programs are found.
func TestAPeerThatDoesNotRun(t *testing.T) {
	s, o, _ := peers(t)
	o.LookPath = func(program string) (string, error) {
		return "", &machine.BrokenToolError{Path: "/bin/" + program, Reason: "exit status 1"}
	}
	usual := s
	usual.Contenders = slices.Clone(s.Contenders)
	usual.Contenders[3].Requires = []string{"ruby"}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ruby"), []byte("#!/bin/sh\necho 'ruby: no such version' >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, c := range []struct {
		study tare.Study
		look  func(string) (string, error)
		want  string
	}{
		{s, o.LookPath, "not installed: a peerd that runs (exit status 1), a ruby that runs (exit status 1)"},
		{usual, nil, "not installed: a ruby that runs (ruby: no such version)"},
	} {
		o.LookPath, o.Dir = c.look, t.TempDir()
		r, err := lab.Run(context.Background(), c.study, o)
		if err != nil {
			t.Fatal(err)
		}
		if c, want := r.Contenders, c.want; !slices.ContainsFunc(c, func(c tare.Contender) bool { return c.ID == "command" && c.Absent() && c.Error == want }) {
			t.Errorf("contenders %+v, want %q", c, want)
		}
	}
}

// Where only the status counts, another status is wrong all the same.
func TestWrongAnswersOfWhoStandsApart(t *testing.T) {
	s, _, k := peers(t)
	s.Contenders[2].Use = "wrong"
	s.Contenders[3] = tare.Entry{ID: "lean-2", Use: "lean"}
	s.Criteria, s.Claims = nil, nil
	played := script()
	played.Contenders["wrong"] = labtest.Act{NSPerOp: 20e3, Wrong: "500"}
	o := options(t, played)
	k.Kind = o.Kinds["codec"]
	o.Kinds["codec"], o.Rounds, o.Quick = k, 2, false
	r, err := lab.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if f := found(r, "wrong-answer", "quiet"); f == nil || f.Severity != tare.Void {
		t.Errorf("finding %+v", f)
	}
}

// Quick measures nothing for the sake of what is only reported.
func TestReportedClaimsAreNotWeighed(t *testing.T) {
	s, _, _ := peers(t)
	s.Claims = []tare.Claim{{ID: "G", Kind: tare.ClaimReported, Contender: "quiet", Because: "gone", Statement: "s"}}
	part, _, err := lab.Part(s, true, lab.Only{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(part.Contenders, func(e tare.Entry) bool { return e.ID == "quiet" }) {
		t.Errorf("quick measures %+v", part.Contenders)
	}
}

// Who is asked a workload is the study's to say. At quick, where the study names
// the workloads, only what is asked on these brings contenders in.
func TestNotEverybodyIsAskedEverything(t *testing.T) {
	s, o, _ := peers(t, "ruby", "peerd")
	s.Workloads[1].Contenders = []string{"lean"}
	r, err := lab.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, tr := range r.Trials {
		if _, has := tr.Samples["segment"]; has {
			asked[tr.Contender] = true
		}
	}
	for id, want := range map[string]bool{"base": true, "lean": true, tare.ControlID: true, tare.NullID: true, "quiet": false, "command": false} {
		if asked[id] != want {
			t.Errorf("%s was asked: %v, want %v", id, !want, want)
		}
	}
	for _, f := range r.Findings {
		if f.Severity == tare.Void {
			t.Errorf("void: %+v", f)
		}
	}
	part, left, err := lab.Part(s, false, lab.Only{Workloads: []string{"segment"}})
	if err != nil || len(part.Contenders) != 2 || len(left) != 3 {
		t.Errorf("of that workload alone: %+v, left out %+v, %v", part.Contenders, left, err)
	}
	s.Claims = append(s.Claims, tare.Claim{ID: "G", Kind: tare.ClaimRatio, Source: "s", Contender: "lean", Workload: "segment", Metric: "cpu", Baseline: 2, Value: 1, Statement: "s"})
	s.Budget.QuickWorkloads = []string{"visits"}
	part, _, err = lab.Part(s, true, lab.Only{})
	if err != nil || slices.ContainsFunc(part.Contenders, func(e tare.Entry) bool { return e.ID == "lean" }) || !slices.ContainsFunc(part.Contenders, func(e tare.Entry) bool { return e.ID == "command" }) {
		t.Errorf("quick measures %+v, %v", part.Contenders, err)
	}
}
