package cmdenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/near"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
)

// Exit codes. 3, 4 and 5 are returned only if the caller requested verdicts as
// exit codes; otherwise a finished study is a success, whatever it
// found.
const (
	ExitOK           = 0   // the studies were carried out
	ExitFailure      = 1   // internal or I/O error; baseline, control or null lost; no toolchain; unwritable cache; a check that missed a trap with all the evidence it needs; nothing could be measured
	ExitUsage        = 2   // usage, a bad input file, or a budget too small
	ExitNotMet       = 3   // a criterion is not met
	ExitInconclusive = 4   // a criterion is inconclusive
	ExitVoid         = 5   // the measurement is void
	ExitInterrupted  = 130 // Ctrl-C
)

// severityOf orders exit codes from the least to the worst. Several studies return the worst.
func severityOf(code int) int {
	return slices.Index([]int{ExitOK, ExitInconclusive, ExitNotMet, ExitVoid, ExitUsage, ExitFailure, ExitInterrupted}, code)
}

// Worst returns the worse of two exit codes.
func Worst(a, b int) int {
	if severityOf(b) > severityOf(a) {
		return b
	}
	return a
}

// UsageError is an error in the user's input.
type UsageError struct {
	What string // what is wrong
	Hint string // what would be right; may be ""
}

// Usage returns a *UsageError.
func Usage(what, hint string) error { return &UsageError{what, hint} }

// Error is one line.
func (e *UsageError) Error() string { return withHint(e.What, e.Hint) }

// ErrInterrupted says that the caller ended the run before there was anything
// to judge.
var ErrInterrupted = errors.New("interrupted")

// Unknown returns the error for a name that is not in known. The hint is similar names, or else
// otherwise.
func Unknown(what, name string, known []string, otherwise string) error {
	hint := otherwise
	if close := near.Names(name, known); len(close) > 0 {
		hint = near.Hint(name, close)
	}
	return Usage(fmt.Sprintf("unknown %s %q", what, name), hint)
}

// Code is an exit code without a further message.
type Code int

func (e Code) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// ExitCode maps errors to exit codes.
func ExitCode(err error) int {
	var (
		said   Code
		usage  *UsageError
		file   *studyfile.Error
		result *history.Error
		field  *tare.FieldError
		study  *lab.StudyError
		budget *plan.BudgetError
		resume *lab.ResumeError
	)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &said):
		return int(said)
	case errors.Is(err, ErrInterrupted), errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &usage), errors.As(err, &file), errors.As(err, &result), errors.As(err, &field),
		errors.As(err, &study), errors.As(err, &budget), errors.As(err, &resume):
		return ExitUsage
	}
	return ExitFailure // *lab.LostError, *lab.ExpectError, build.ErrNoToolchain, build.ErrCache, I/O
}

// EndsRun reports whether err would affect every other study as well.
func EndsRun(err error) bool {
	return errors.Is(err, build.ErrNoToolchain) || errors.Is(err, build.ErrCache) || ExitCode(err) == ExitInterrupted
}

// Complain writes err to w as one line.
func Complain(w io.Writer, err error) {
	var said Code
	if err == nil || errors.As(err, &said) {
		return
	}
	fmt.Fprintf(w, "tare: %s\n", line(err))
}

// line is err in one line, with what would help where the error itself does
// not say so.
func line(err error) string {
	switch {
	case ExitCode(err) == ExitInterrupted:
		return "interrupted"
	case errors.Is(err, build.ErrNoToolchain):
		return "the go command is needed to build contenders: " + format.Line(err.Error(), 0)
	}
	return oneLine(err)
}

// oneLine has a semicolon between the errors that [errors.Join] has put together.
func oneLine(err error) string {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return format.Line(err.Error(), 0)
	}
	var texts, lines []string
	for _, e := range joined.Unwrap() {
		texts, lines = append(texts, e.Error()), append(lines, oneLine(e))
	}
	if err.Error() != strings.Join(texts, "\n") { // it has a text of its own around them
		return format.Line(err.Error(), 0)
	}
	return strings.Join(lines, "; ")
}

func withHint(what, hint string) string {
	if hint == "" {
		return what
	}
	return what + "; " + hint
}

// VerdictCode returns the exit code for the verdicts of a result: the worst outcome of
// contenders that are not traps.
func VerdictCode(r *tare.Result) int {
	exit := ExitOK
	for _, f := range r.Findings {
		// A void of a single metric affects only the verdicts that need it.
		if f.Severity == tare.Void && f.Metric == "" && !f.Expected && !IsTrap(r, f.Contender) {
			exit = Worst(exit, ExitVoid)
		}
	}
	for _, v := range r.Verdicts {
		if v.Criterion == "" || IsTrap(r, v.Contender) {
			continue
		}
		switch v.Verdict {
		case tare.NotMet:
			exit = Worst(exit, ExitNotMet)
		case tare.Inconclusive:
			exit = Worst(exit, ExitInconclusive)
		case tare.VoidRuling:
			exit = Worst(exit, ExitVoid)
		}
	}
	return exit
}

// IsTrap reports whether a contender repeats a published mistake.
func IsTrap(r *tare.Result, id string) bool {
	c, ok := r.Contender(id)
	return ok && c.Role == tare.RoleTrap
}
