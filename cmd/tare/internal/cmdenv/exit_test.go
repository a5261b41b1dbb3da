package cmdenv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, ExitOK},
		{errors.New("disk on fire"), ExitFailure},
		{fmt.Errorf("building: %w", build.ErrNoToolchain), ExitFailure},
		{fmt.Errorf("building: %w", build.ErrCache), ExitFailure},
		{&lab.LostError{Contender: "null"}, ExitFailure},
		{&lab.ExpectError{Missed: []string{"x"}}, ExitFailure},
		{Usage("a", "b"), ExitUsage},
		{fmt.Errorf("study s: %w", &studyfile.Error{File: "f"}), ExitUsage},
		{&lab.StudyError{Study: "s", Err: errors.New("x")}, ExitUsage},
		{fmt.Errorf("study s: %w", &plan.BudgetError{}), ExitUsage},
		{&lab.ResumeError{}, ExitUsage},
		{&tare.FieldError{Path: "kinds"}, ExitUsage},
		{fmt.Errorf("building: %w", context.Canceled), ExitInterrupted},
		{ErrInterrupted, ExitInterrupted},
		{Code(ExitVoid), ExitVoid},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

func TestWorst(t *testing.T) {
	order := []int{ExitOK, ExitInconclusive, ExitNotMet, ExitVoid, ExitUsage, ExitFailure, ExitInterrupted}
	for i, a := range order {
		for j, b := range order {
			if got := Worst(a, b); got != order[max(i, j)] {
				t.Errorf("worst(%d, %d) = %d", a, b, got)
			}
		}
	}
}

func TestVerdictCode(t *testing.T) {
	contenders := []tare.Contender{{ID: "a", Role: tare.RoleContender}, {ID: "t", Role: tare.RoleTrap}}
	verdict := func(who, criterion string, v tare.Ruling) tare.Verdict {
		return tare.Verdict{Contender: who, Criterion: criterion, Verdict: v}
	}
	void := func(who string, expected bool) tare.Finding {
		return tare.Finding{Severity: tare.Void, Contender: who, Expected: expected}
	}
	for _, c := range []struct {
		name     string
		verdicts []tare.Verdict
		findings []tare.Finding
		want     int
	}{
		{"nothing", nil, nil, ExitOK},
		{"met", []tare.Verdict{verdict("a", "c", tare.Met)}, nil, ExitOK},
		{"not met is worse than inconclusive", []tare.Verdict{verdict("a", "c", tare.NotMet), verdict("a", "d", tare.Inconclusive)}, nil, ExitNotMet},
		{"void is the worst", []tare.Verdict{verdict("a", "c", tare.VoidRuling), verdict("a", "d", tare.NotMet)}, nil, ExitVoid},
		{"a difference without a criterion is no outcome", []tare.Verdict{verdict("a", "", tare.NotMet)}, nil, ExitOK},
		{"traps do not count", []tare.Verdict{verdict("t", "c", tare.VoidRuling)}, []tare.Finding{void("t", false)}, ExitOK},
		{"void without a criterion", nil, []tare.Finding{void("a", false)}, ExitVoid},
		{"void of everybody", nil, []tare.Finding{void("", false)}, ExitVoid},
		{"expected", nil, []tare.Finding{void("a", true)}, ExitOK},
		{"a warning", nil, []tare.Finding{{Severity: tare.Warn, Contender: "a"}}, ExitOK},
	} {
		if got := VerdictCode(&tare.Result{Design: tare.Design{Contenders: contenders}, Judged: tare.Judged{Verdicts: c.verdicts, Findings: c.findings}}); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestJoinedErrors(t *testing.T) {
	var b strings.Builder
	Complain(&b, errors.Join(errors.New("a is away"), errors.Join(errors.New("b\nfails"), errors.New("c too"))))
	Complain(&b, fmt.Errorf("two: %w, %w", errors.New("d"), errors.New("e")))
	if got, want := b.String(), "tare: a is away; b fails; c too\ntare: two: d, e\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	var b strings.Builder
	Complain(&b, errors.New("first\n\tsecond\r\nthird"))
	Complain(&b, Code(3))
	Complain(&b, nil)
	if got := b.String(); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "tare: first") {
		t.Errorf("%q", got)
	}
}
