package cmdenv

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/suggest"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
)

// This file has the exit codes of tare, and the errors that select them.

// Exit codes of the tare command. [Exits] describes them in the words of the help.
const (
	ExitOK           = 0
	ExitFailure      = 1   // internal or I/O error
	ExitUsage        = 2   // error in the user's input
	ExitNotMet       = 3   // a criterion is not met, or something became worse
	ExitInconclusive = 4   // the evidence does not suffice for a verdict
	ExitVoid         = 5   // a check found that a measured value cannot be trusted
	ExitInterrupted  = 130 // 128 + SIGINT, as shells report it
)

// severityOf returns the position of an exit code in the order from the best to the worst.
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
	What  string   // the fault
	Hint  string   // how to correct it; may be ""
	Next  []string // commands that help
	cause error    // has the position in a file; may be nil
}

// Usage returns a [*UsageError]. next has the commands that its hint names.
func Usage(what, hint string, next ...string) error {
	return &UsageError{What: what, Hint: hint, Next: next}
}

// UsageOf converts err to a [*UsageError] of one line.
func UsageOf(err error, hint string, next ...string) error {
	return &UsageError{What: format.Line(err.Error(), 0), Hint: hint, Next: next, cause: err}
}

// Error returns the fault and the hint in one line.
func (e *UsageError) Error() string { return withHint(e.What, e.Hint) }

// ErrInterrupted reports that the user ended the run before there was a result.
var ErrInterrupted = errors.New("interrupted")

// Unknown returns the error for a name that is not in known. noun says what the name is of, such as
// "study". The hint has similar names, or is defaultHint.
func Unknown(noun, name string, known []string, defaultHint string, next ...string) error {
	hint := defaultHint
	if similar := suggest.Names(name, known); len(similar) > 0 {
		hint = suggest.Hint(name, similar)
	}
	return Usage(fmt.Sprintf("unknown %s %q", noun, name), hint, next...)
}

// Code is an exit code as an error. [Complain] prints no message for it.
type Code int

func (e Code) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// ExitCode returns the exit code of an error, from [Exits].
func ExitCode(err error) int {
	var code Code
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &code):
		return int(code)
	}
	exit, _ := classify(err)
	return exit
}

// EndsRun reports whether err would affect the other studies of a run as well, so that the run stops.
func EndsRun(err error) bool {
	return errors.Is(err, build.ErrNoToolchain) || errors.Is(err, build.ErrCache) || ExitCode(err) == ExitInterrupted
}

// Complain writes err to w as one line. It writes nothing for nil and for a [Code].
func Complain(w io.Writer, err error) {
	if err == nil || isA[Code](err) {
		return
	}
	fmt.Fprintf(w, "tare: %s\n", errorLine(err))
}

func errorLine(err error) string {
	switch {
	case ExitCode(err) == ExitInterrupted:
		return "interrupted"
	case errors.Is(err, build.ErrNoToolchain):
		return "the go command is needed: " + format.Line(err.Error(), 0)
	}
	return joinLines(err)
}

// joinLines returns the message of err in one line, with semicolons between errors of [errors.Join].
func joinLines(err error) string {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return format.Line(err.Error(), 0)
	}
	var texts, lines []string
	for _, e := range joined.Unwrap() {
		texts, lines = append(texts, e.Error()), append(lines, joinLines(e))
	}
	if err.Error() != strings.Join(texts, "\n") { // wrapped, with a text around the joined errors
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

// VerdictCode returns the exit code for the worst verdict of a result. Traps, which repeat a published
// mistake on purpose, do not count.
func VerdictCode(r *tare.Result) int {
	exit := ExitOK
	for _, f := range r.Findings {
		isUnexpectedVoid := f.Severity == tare.Void && !f.Expected
		isOfAllMetrics := f.Metric == "" // otherwise the loop below finds the verdicts on the void metric
		if isUnexpectedVoid && isOfAllMetrics && !IsTrap(r, f.Contender) {
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
