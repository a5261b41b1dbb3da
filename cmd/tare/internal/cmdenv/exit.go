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

// Exit codes; [Exits] says what they mean.
const (
	ExitOK           = 0
	ExitFailure      = 1
	ExitUsage        = 2
	ExitNotMet       = 3
	ExitInconclusive = 4
	ExitVoid         = 5
	ExitInterrupted  = 130
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
	What  string   // what is wrong
	Hint  string   // what would be right; may be ""
	Next  []string // commands that help
	cause error    // has the place in a file; nil if it has none
}

// Usage returns a [*UsageError]. next are the commands that its hint names.
func Usage(what, hint string, next ...string) error {
	return &UsageError{What: what, Hint: hint, Next: next}
}

// UsageOf returns err as a [*UsageError] in one line.
func UsageOf(err error, hint string, next ...string) error {
	return &UsageError{What: format.Line(err.Error(), 0), Hint: hint, Next: next, cause: err}
}

// Error is one line.
func (e *UsageError) Error() string { return withHint(e.What, e.Hint) }

// ErrInterrupted says that the caller ended the run before there was anything
// to judge.
var ErrInterrupted = errors.New("interrupted")

// Unknown returns the error for a name that is not in known. The hint is similar names, or else
// otherwise.
func Unknown(what, name string, known []string, otherwise string, next ...string) error {
	hint := otherwise
	if close := suggest.Names(name, known); len(close) > 0 {
		hint = suggest.Hint(name, close)
	}
	return Usage(fmt.Sprintf("unknown %s %q", what, name), hint, next...)
}

// Code is an exit code without a further message.
type Code int

func (e Code) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// ExitCode returns the exit code of an error, from [Exits].
func ExitCode(err error) int {
	var said Code
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &said):
		return int(said)
	}
	exit, _ := classify(err)
	return exit
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
