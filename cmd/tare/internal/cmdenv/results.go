package cmdenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
)

// This file finds and reads stored results, e.g. the newest one of the study json-encode.

// ReadResults reads the results that arg names: - for stdin, a file, the directory of a run, or a
// study. A study means its newest finished run. It also returns the directory, or "" for stdin.
func (env Env) ReadResults(arg string) (results []*tare.Result, dir string, err error) {
	if arg == "-" {
		results, err := history.ReadFrom("<stdin>", env.In)
		if err != nil && ExitCode(err) != ExitUsage {
			return nil, "", fmt.Errorf("read the result from stdin: %w", err)
		}
		return results, "", err
	}
	path, err := env.resultFile(arg)
	if err != nil {
		return nil, "", err
	}
	results, err = readResults(path)
	return results, filepath.Dir(path), err
}

// resultFile returns the path of the result that arg names. It prints a line about newer runs without a
// result.
func (env Env) resultFile(arg string) (string, error) {
	path := arg
	info, err := os.Stat(arg)
	if err == nil && info.IsDir() {
		path = filepath.Join(arg, history.ResultName)
		_, err = os.Stat(path)
	}
	if err == nil {
		return path, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", Usage(fmt.Sprintf("cannot read %s: %v", path, Cause(err)), "")
	}
	d, errDirs := env.Dirs()
	if errDirs != nil {
		return "", errDirs
	}
	runs, err := history.RunsOf(d.Results(arg))
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", d.Results(arg), Cause(err))
	}
	for i, run := range runs {
		if !run.Whole {
			continue
		}
		if i > 0 {
			fmt.Fprintf(env.Err, "tare: this is the newest result of %s; %s\n", arg, unfinishedSince(i))
		}
		return run.Result(), nil
	}
	switch {
	case len(runs) > 0 && slices.Contains(env.Bundled(), arg):
		return "", Usage(fmt.Sprintf("no run of %s came to a result yet", arg), "tare run "+ShellQuote(arg)+" --resume goes on with the newest", "tare run "+ShellQuote(arg)+" --resume")
	case len(runs) > 0:
		return "", Usage(fmt.Sprintf("no run of %s came to a result yet", arg), "--resume, added to the command that began it, goes on with the newest")
	case info != nil:
		return "", Usage("no "+history.ResultName+" in the directory "+arg, "name a run's directory; tare history lists them", "tare history")
	case strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".json"):
		return "", Usage("no result file "+arg, "tare history lists the runs", "tare history")
	case slices.Contains(env.Bundled(), arg):
		return "", Usage("no run of "+arg+" in "+d.Data, "tare run "+arg+" makes one", "tare run "+ShellQuote(arg))
	}
	return "", Unknown("result", arg, StudiesRun(d), "a result.json, a run's directory, or a study that was run; tare history lists the runs", "tare history")
}

func unfinishedSince(n int) string {
	if n == 1 {
		return "a later run has none"
	}
	return fmt.Sprintf("%d later runs have none", n)
}

func readResults(path string) ([]*tare.Result, error) {
	results, err := history.ReadFile(path)
	if err != nil && !isA[*history.Error](err) { // a history.Error names the file
		return nil, Usage(fmt.Sprintf("cannot read %s: %v", path, Cause(err)), "")
	}
	return results, err
}

// StudiesRun returns the sorted names of the studies with stored runs.
func StudiesRun(d Dirs) []string {
	runs, _ := history.Runs(d.AllResults()) // after an error, only suggestions are missing
	var names []string
	for _, r := range runs {
		names = append(names, r.Study)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// CompleteRuns completes an argument with the studies that have runs. The shell adds files.
func (env Env) CompleteRuns(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	d, err := env.Dirs()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return slices.DeleteFunc(StudiesRun(d), func(name string) bool { return !strings.HasPrefix(name, start) }), cobra.ShellCompDirectiveDefault
}
