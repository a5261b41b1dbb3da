package cmdenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/kinds/codec"
	"github.com/tarebench/tare/kinds/router"
	"github.com/tarebench/tare/lab"
)

// This file classifies errors. The table Exits has the exit code and the kind of each error. For
// example, a budget below the minimum has exit code 2 and kind "budget".

// Exit describes an exit code of tare.
type Exit struct {
	Code    int         `json:"exit_code"`
	Meaning string      `json:"meaning"`
	Errors  []ErrorKind `json:"errors,omitempty"` // kinds of errors with this code
}

// ErrorKind is a kind of error. Its name is the code in an error document.
type ErrorKind struct {
	Name    string           `json:"code"`
	Meaning string           `json:"meaning"`
	is      func(error) bool // reports whether an error is of this kind
	next    []string         // commands that help; CMD is replaced by the command that failed
}

func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// Exits returns the exit codes with their kinds of errors. ExitCode, the help and docs/output.md use
// this table. An error has the first kind whose field is, a function, returns true.
func Exits() []Exit {
	return []Exit{
		{ExitOK, "carried out, whatever was found; a contender that cannot be built or that dies is a finding", nil},
		{ExitNotMet, "not met (`--exit-code`), something is worse (`tare gate`), the bad revision does not show the effect (`tare bisect`), the receipt does not hold (`tare verify`)", nil},
		{ExitInconclusive, "inconclusive (`--exit-code`, `tare gate`), undecided (`tare bisect`, `tare verify`)", nil},
		{ExitVoid, "void (`--exit-code`, `tare gate`): what was measured cannot be trusted", nil},
		{ExitInterrupted, "interrupted", []ErrorKind{
			{"interrupted", "Ctrl-C or SIGTERM before there was anything to report", func(err error) bool {
				return errors.Is(err, ErrInterrupted) || errors.Is(err, context.Canceled)
			}, nil},
		}},
		{ExitUsage, "usage, a bad input file, a side that does not build, or a budget below the minimum (5 s; 10 s for servers)", []ErrorKind{
			{"budget", "the budget is below the minimum", isA[*plan.BudgetError], nil},
			{"input", "a file is wrong at a place", func(err error) bool { _, ok := positionOf(err); return ok }, nil},
			{"resume", "an unfinished run cannot be resumed", isA[*lab.ResumeError], []string{"tare history"}},
			{"study", "a study is wrong", func(err error) bool { return isA[*lab.StudyError](err) || isA[*tare.FieldError](err) }, nil},
			{"usage", "arguments, flags, or what they name", isA[*UsageError], []string{"CMD --help"}},
		}},
		{ExitFailure, "internal or I/O error; baseline, control or null lost; no Go toolchain; unwritable cache; a check with sufficient evidence missed a trap", []ErrorKind{
			{"no-go", "there is no go command", func(err error) bool { return errors.Is(err, build.ErrNoToolchain) }, []string{"tare doctor"}},
			{"cache", "the cache cannot be written", func(err error) bool { return errors.Is(err, build.ErrCache) }, []string{"tare doctor"}},
			{"lost", "baseline, control or null died, or nothing could be measured", isA[*lab.LostError], nil},
			{"trap-missed", "a check did not find a mistake that it had the evidence for", isA[*lab.ExpectError], nil},
			{"failure", "any other error", func(error) bool { return true }, nil},
		}},
	}
}

func classify(err error) (int, ErrorKind) {
	for _, exit := range Exits() {
		for _, kind := range exit.Errors {
			if kind.is(err) {
				return exit.Code, kind
			}
		}
	}
	return ExitFailure, ErrorKind{}
}

// Position is a position in a file. Line and Col count from 1; 0 means the complete file.
type Position struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

func positionOf(err error) (position Position, ok bool) {
	var (
		yaml   *studyfile.Error
		result *history.Error
		syntax *codec.SyntaxError
		list   *router.ListError
		usage  *UsageError
	)
	switch {
	case errors.As(err, &yaml):
		return Position{File: yaml.File, Line: yaml.Line, Col: yaml.Col}, true
	case errors.As(err, &result):
		return Position{File: result.File, Line: result.Line, Col: result.Col}, true
	case errors.As(err, &syntax):
		return Position{File: syntax.File, Line: syntax.Line, Col: syntax.Col}, true
	case errors.As(err, &list):
		return Position{File: list.File, Line: list.Line, Col: list.Col}, true
	case errors.As(err, &usage) && usage.cause != nil:
		return positionOf(usage.cause)
	}
	return Position{}, false
}

// ErrorDocument is the JSON document of an error.
type ErrorDocument struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody describes an error.
type ErrorBody struct {
	Code     string `json:"code"` // name of an [ErrorKind]
	ExitCode int    `json:"exit_code"`
	Message  string `json:"message"` // one line
	Position
	Next []string `json:"next"` // commands that help
}

// NewErrorDocument describes err, which the command at path (e.g. "tare bench") returned. It returns
// false if there is nothing to report.
func NewErrorDocument(path string, err error) (doc ErrorDocument, ok bool) {
	var printed *printedError
	if errors.As(err, &printed) {
		err = errors.Join(printed.errs...)
	}
	if err == nil || isA[Code](err) {
		return ErrorDocument{}, false
	}
	exit, kind := classify(err)
	position, _ := positionOf(err)
	body := ErrorBody{Code: kind.Name, ExitCode: exit, Message: errorLine(err), Position: position, Next: []string{}}
	if printed != nil {
		body.ExitCode = printed.exit
	}
	var usage *UsageError
	if errors.As(err, &usage) {
		body.Next = append(body.Next, usage.Next...)
	}
	if len(body.Next) == 0 {
		for _, next := range kind.next {
			body.Next = append(body.Next, strings.Replace(next, "CMD", path, 1))
		}
	}
	return ErrorDocument{Error: body}, true
}

// WriteError writes err as JSON, in one line. It writes nothing if there is nothing to report.
func WriteError(w io.Writer, path string, err error) error {
	doc, ok := NewErrorDocument(path, err)
	if !ok {
		return nil
	}
	return writeLine(w, doc)
}

func writeLine(w io.Writer, v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(line.Bytes())
	return err
}

// WantsJSON reports whether arguments select output as JSON. It does not parse the command's flags: an
// error of parsing is JSON, too.
func WantsJSON(args []string) bool {
	format, _ := lastFlag(args, "format")
	isJSONFlag := func(arg string) bool { return arg == "--json" || arg == "--json=true" }
	return format == "json" || slices.ContainsFunc(argsOfFlags(args), isJSONFlag)
}

func argsOfFlags(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i]
	}
	return args
}

// lastFlag returns the last value of a flag, without parsing other flags.
func lastFlag(args []string, name string) (value string, found bool) {
	args = argsOfFlags(args)
	for i, arg := range args {
		if text, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			value, found = text, true
		} else if arg == "--"+name && i+1 < len(args) {
			value, found = args[i+1], true
		}
	}
	return value, found
}

// printedError is an exit code with errors that were printed.
type printedError struct {
	exit int
	errs []error
}

func (e *printedError) Error() string {
	return fmt.Sprintf("exit code %d: %v", e.exit, errors.Join(e.errs...))
}

// Unwrap returns the exit code as a [Code]. [Complain] does not print a Code, so no error is printed
// twice.
func (e *printedError) Unwrap() error { return Code(e.exit) }

// Outcome collects the errors of a command that continues after errors of its parts. The zero value is
// a success.
type Outcome struct{ printedError }

// Add adds an error that was printed, or a [Code]; nil changes nothing.
func (o *Outcome) Add(err error) {
	o.exit = Worst(o.exit, ExitCode(err))
	if err != nil && !isA[Code](err) {
		o.errs = append(o.errs, err)
	}
}

// Err returns the worst exit code, with the errors for [NewErrorDocument].
func (o *Outcome) Err() error {
	if len(o.errs) == 0 {
		return Code(o.exit)
	}
	e := o.printedError
	return &e
}
