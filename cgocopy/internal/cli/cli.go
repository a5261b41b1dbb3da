// Package cli is the command line of cgocopy.
//
// gen and bind parse options, read the C types (findTypes) and plan the Go types (makePlan, or package
// bind). Then they format and store the generated files (formatFiles, storeFiles). check reads the command
// in a generated file, generates again, and compares.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // a type is rejected, a file is out of date, or something fails
	exitUsage  = 2 // error in the command line
)

const usage = `cgocopy copies C structs into Go values, with code written for their layout.

  cgocopy gen    -type NAME[,NAME] [flags] HEADER… [-- CFLAGS]   write Go types and code that fills them
  cgocopy gen    -type NAME[,NAME] -object FILE.o [flags]        the same for any producer with DWARF
  cgocopy gen    -func 'list(out, len) error free=drop' HEADER…   wrap a C function
  cgocopy bind   -type GO=C[,NAME] [flags] HEADER… [-- CFLAGS]   fill Go structs of your own
  cgocopy layout HEADER|FILE.o [TYPE…] [-json] [-- CFLAGS]       print sizes, offsets and padding
  cgocopy check  [DIR…]                                          fail if headers no longer match generated code
  cgocopy help   [COMMAND]

`

type usageError struct{ error }

func usageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

type command struct {
	run  func(ctx context.Context, args []string, out io.Writer) error
	help string
}

// newCommands returns the subcommands by name. bind prints notes on stderr.
func newCommands(stderr io.Writer) map[string]command {
	bind := func(ctx context.Context, args []string, _ io.Writer) error { return bindTypes(ctx, args, stderr) }
	return map[string]command{
		"gen":    {runGen, genHelp},
		"bind":   {bind, bindHelp},
		"layout": {runLayout, layoutHelp},
		"check":  {runCheck, checkHelp},
	}
}

// Main runs a command line and returns the exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	if args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		if len(args) > 1 {
			if c, ok := newCommands(stderr)[args[1]]; ok {
				fmt.Fprint(stdout, c.help)
				return exitOK
			}
		}
		fmt.Fprint(stdout, usage)
		return exitOK
	}
	c, ok := newCommands(stderr)[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "cgocopy: unknown command %q; known: gen, bind, layout, check, help\n", args[0])
		return exitUsage
	}
	err := c.run(ctx, args[1:], stdout)
	var use usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, c.help)
		return exitOK
	case errors.As(err, &use):
		fmt.Fprintf(stderr, "cgocopy %s: %v; cgocopy help %s\n", args[0], err, args[0])
		return exitUsage
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted: nothing is written")
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(stderr, strings.TrimRight(line, "\n"))
	}
	return exitFailed
}

// newFlagSet returns a flag set that prints nothing by itself.
func newFlagSet(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f
}

// splitArgs separates the arguments of the compiler, which come after "--".
func splitArgs(args []string) (ours, compilerFlags []string) {
	for i, a := range args {
		if a == "--" {
			return args[:i], args[i+1:]
		}
	}
	return args, nil
}

// parseFlags parses flags between any other arguments, and returns the others.
func parseFlags(f *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			if strings.Contains(err.Error(), "not defined: -") {
				err = fmt.Errorf("%w; what is meant for the compiler follows --", err)
			}
			return nil, usageError{err}
		}
		if f.NArg() == 0 {
			return rest, nil
		}
		rest = append(rest, f.Arg(0))
		args = f.Args()[1:]
	}
}
