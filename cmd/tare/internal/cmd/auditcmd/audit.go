// Package auditcmd implements tare audit. It checks benchmarks, their output and pages about them for
// mistakes that make measured values wrong. It runs no benchmark.
package auditcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/figures"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench"
	"github.com/tarebench/tare/cmd/tare/internal/audit/rules"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report"
)

type options struct {
	asJSON, asSARIF, asGitHub bool // at most one
	rules                     bool // list the rules
}

func (o *options) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.asJSON, "json", false, "print JSON (docs/schema/audit.schema.json)")
	f.BoolVar(&o.asSARIF, "sarif", false, "print SARIF 2.1.0, for code scanning")
	f.BoolVar(&o.asGitHub, "github", false, "print annotations of GitHub Actions")
	f.BoolVar(&o.rules, "rules", false, "list the rules")
}

func (o *options) check(args []string) error {
	formats := 0
	for _, isSet := range []bool{o.asJSON, o.asSARIF, o.asGitHub} {
		if isSet {
			formats++
		}
	}
	switch {
	case formats > 1:
		return cmdenv.Usage("--json, --sarif and --github contradict each other", "give one of them")
	case o.rules && len(args) > 0:
		return cmdenv.Usage("--rules reads no files", "give --rules or files")
	case o.rules && (o.asSARIF || o.asGitHub):
		return cmdenv.Usage("--rules is text or JSON", "tare audit --rules --json")
	case !o.rules && len(args) == 0:
		return cmdenv.Usage("tare audit needs a file or a directory", "e.g. tare audit . for the Go benchmarks of this directory")
	}
	return nil
}

// Command returns tare audit.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "audit FILE|DIR|-...",
		Short: "Find mistakes in benchmarks and in published figures",
		Long: `Find mistakes in benchmarks and in published results, without running anything.
It reads

  Go benchmarks: errors that nobody checks, input that the first iteration uses
  up, work that the compiler removes;
  results: the output of go test -bench and benchstat, reports of wrk, wrk2, ab,
  hey, oha, vegeta, k6 and ghz: single runs, omitted timeouts, Little's law;
  pages: Markdown and HTML with tables of such figures and prose about them:
  ratios that differ from the table's, targets that cannot be missed.

tare recognises a file by its content; - is standard input. It reads a directory
with everything below it, as the go command does. Of code that does not compile,
it reads what has types.

tare explain RULE shows a rule with a bad and a good example. //tare:ignore RULE
reason, on the line or the one before, or in the comment of the function,
switches it off there.

The same rules run in go vet:  go vet -vettool="$(command -v tare)" ./...

Exit codes: 0 nothing found, or only notes; 3 warnings; 5 figures are void; 2
input that cannot be read.`,
		Example: `  tare audit .
  wrk -t2 -c10 -d30s http://127.0.0.1:8080/ | tare audit -
  tare audit README.md bench.txt
  tare audit --sarif . > audit.sarif
  tare audit --rules`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			if o.rules {
				return o.listRules(env)
			}
			d, err := readInputs(env, cmd, args)
			if err != nil {
				return err
			}
			if err := o.write(env, d); err != nil {
				return err
			}
			return exitCode(d)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) listRules(env cmdenv.Env) error {
	if o.asJSON {
		return cmdenv.PrintJSON(env.Out, rules.All())
	}
	for _, r := range rules.All() {
		fmt.Fprintf(env.Out, "%-20s %-4s  %s\n", r.ID, r.Severity, r.Title)
	}
	return nil
}

// readInputs reads the files and directories of args. Go files are code, and other files are results
// or pages. The argument - is stdin.
func readInputs(env cmdenv.Env, cmd *cobra.Command, args []string) (audit.Document, error) {
	d := audit.Document{Schema: audit.Schema, Read: []string{}, Notes: []string{}, Findings: []audit.Finding{}}
	var code []string // Go files and directories
	var files figures.Files
	for _, arg := range args {
		if arg == stdin {
			if err := readResult(&files, arg, env.In, &d); err != nil {
				return d, err
			}
			continue
		}
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return d, cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", arg, cmdenv.Cause(err)), "name a file or a directory")
		case info.IsDir():
			code = append(code, arg)
			err = readPages(&files, arg, &d)
		case filepath.Ext(arg) == ".go":
			code = append(code, arg)
		default:
			err = readResult(&files, arg, nil, &d)
		}
		if err != nil {
			return d, err
		}
	}
	if len(code) > 0 {
		if err := readCode(cmd.Context(), code, &d); err != nil {
			return d, err
		}
	}
	d.Findings = audit.SortFindings(d.Findings)
	return d, nil
}

func readCode(ctx context.Context, paths []string, d *audit.Document) error {
	if _, err := exec.LookPath("go"); err != nil {
		return build.MissingGo("go")
	}
	rep, err := gobench.Read(ctx, paths)
	if err != nil {
		if ctx.Err() != nil {
			return cmdenv.ErrInterrupted
		}
		return readError(err)
	}
	if rep.Files > 0 || len(d.Read) == 0 { // print "0 benchmarks in 0 files" only if nothing else was read
		d.Read = append(d.Read, fmt.Sprintf("%s in %s", format.Count(rep.Benchmarks, "benchmark"), format.Count(rep.Files, "file")))
	}
	d.Notes = append(d.Notes, rep.Notes...)
	for _, f := range rep.Findings {
		f.File = shortPath(f.File)
		d.Findings = append(d.Findings, f)
	}
	return nil
}

// readError returns err as a usage error, unless it is an error of the file system.
func readError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return err
	}
	return cmdenv.Usage(format.Line(err.Error(), 0), "")
}

func shortPath(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}

// write prints the document in the selected format.
func (o *options) write(env cmdenv.Env, d audit.Document) error {
	if !o.asJSON {
		for _, n := range d.Notes {
			fmt.Fprintln(env.Err, "tare: "+report.Legible(n))
		}
	}
	switch {
	case o.asJSON:
		return cmdenv.PrintJSON(env.Out, d)
	case o.asSARIF:
		return d.WriteSARIF(env.Out, rules.All())
	case o.asGitHub:
		return d.WriteAnnotations(env.Out)
	}
	writeText(env.Out, report.LegibleAll(d), env.Style(env.Out))
	return nil
}

// writeText prints the findings, and the reason and advice once for each rule.
func writeText(w io.Writer, d audit.Document, st report.Style) {
	paint := map[tare.Severity]func(string) string{tare.Void: st.Bad, tare.Warn: st.Warn, tare.Note: st.Dim}
	var explained []string // rules whose reason is printed
	for _, f := range d.Findings {
		position := f.File
		if f.Line > 0 {
			position += fmt.Sprintf(":%d", f.Line)
		}
		if f.Column > 0 {
			position += fmt.Sprintf(":%d", f.Column)
		}
		cmdenv.Paragraph(w, "", "    ", fmt.Sprintf("%s: %s %s: %s", position, cmdenv.Paint(paint[f.Severity], string(f.Severity)), cmdenv.Paint(st.Bold, f.Rule), f.What), st.Width)
		if slices.Contains(explained, f.Rule) {
			continue
		}
		explained = append(explained, f.Rule)
		cmdenv.Paragraph(w, "    ", "    ", f.Why, st.Width)
		cmdenv.Paragraph(w, "    ", "      ", "do: "+f.Do, st.Width)
		fmt.Fprintf(w, "    measure: %s\n", f.Command)
	}
	if len(d.Findings) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s: %s\n", strings.Join(d.Read, ", "), countFindings(d))
}

func countFindings(d audit.Document) string {
	if len(d.Findings) == 0 {
		return "nothing found"
	}
	var parts []string
	for _, s := range []tare.Severity{tare.Void, tare.Warn, tare.Note} {
		if n := d.CountSeverity(s); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return fmt.Sprintf("%s (%s)", format.Count(len(d.Findings), "finding"), strings.Join(parts, ", "))
}

// exitCode returns the exit code for the findings as an error, with the codes of tare gate.
func exitCode(d audit.Document) error {
	switch {
	case d.CountSeverity(tare.Void) > 0:
		return cmdenv.Code(cmdenv.ExitVoid)
	case d.CountSeverity(tare.Warn) > 0:
		return cmdenv.Code(cmdenv.ExitNotMet)
	}
	return nil
}
