package cli

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
	"github.com/tarebench/tare/internal/judge"
)

func reportCommand(env Env) *cobra.Command {
	var f formatFlag
	var at rateFlag
	cmd := &cobra.Command{
		Use:   "report RESULT",
		Short: "Print a result again, in another format",
		Long: `Print a result that tare run kept or wrote, without measuring anything.

A RESULT is a result.json (or a list of results, as tare run --json prints it for
several studies), the directory of a run, or the name of a study, which stands
for its newest run in the data directory (tare history lists them). - reads from
stdin.

Formats:
` + formatHelp() + `

benchfmt leaves out traps and whatever is void, and says so in comments.

Exit codes: 0 printed, whatever the result says; 1 I/O error; 2 no such result,
or one that cannot be read.`,
		Example: `  tare report json-encode
  tare report json-encode --format md > json-encode.md
  tare report json-encode --at 1000/s
  tare report ./mine.json --format benchfmt > bench.txt && benchstat -col /contender bench.txt
  tare run json-encode --json | tare report - --format csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return Usage("tare report needs a result", "a result.json, a run's directory, the name of a study that was run, or - for stdin")
			}
			return atMost(1)(cmd, args)
		},
		ValidArgsFunction: env.CompleteRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := f.format(cmd)
			if err != nil {
				return err
			}
			rate, err := at.rate()
			if err != nil {
				return err
			}
			results, dir, err := env.ReadResults(args[0])
			if err != nil {
				return err
			}
			if format.Name == "html" && dir != "" {
				format = pageOf(os.DirFS(dir))
			}
			if rate > 0 {
				for _, r := range results {
					r.Cost = judge.Costs(r.Metrics, r.Contenders, r.Comparisons, r.Findings, rate)
				}
			}
			return write(env.Out, format, results, env.Style(env.Out))
		},
	}
	f.add(cmd.Flags(), "one document, or a list where there are several")
	f.complete(cmd)
	cmd.Flags().StringVar(&at.text, "at", "", "say what contenders cost, and save, in a service that does it at `rate`, e.g. 1000/s")
	return cmd
}

// ReadResults reads the results that arg stands for: stdin, a file, a run's
// directory, or the newest run of a study; and says in which directory they lie.
func (env Env) ReadResults(arg string) (results []*tare.Result, dir string, err error) {
	if arg == "-" {
		results, err := history.From("<stdin>", env.In)
		if err != nil && code(err) != ExitUsage {
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

// resultFile is the path of the document that arg stands for.
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
		return "", Usage(fmt.Sprintf("cannot read %s: %v", path, cause(err)), "")
	}
	d, errDirs := env.Dirs()
	if errDirs != nil {
		return "", errDirs
	}
	runs, err := history.RunsOf(d.Results(arg))
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", d.Results(arg), cause(err))
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
	case len(runs) > 0:
		return "", Usage(fmt.Sprintf("no run of %s came to a result yet", arg), "tare run "+arg+" --resume goes on with the newest")
	case info != nil:
		return "", Usage("no "+history.ResultName+" in the directory "+arg, "name a run's directory; tare history lists them")
	case strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".json"):
		return "", Usage("no result file "+arg, "tare history lists the runs")
	case slices.Contains(env.Bundled(), arg):
		return "", Usage("no run of "+arg+" in "+d.Data, "tare run "+arg+" makes one")
	}
	return "", unknown("result", arg, ran(d), "a result.json, a run's directory, or a study that was run; tare history lists the runs")
}

func unfinishedSince(n int) string {
	if n == 1 {
		return "a later run has none"
	}
	return fmt.Sprintf("%d later runs have none", n)
}

// readResults reads a file of results. Its errors name the file.
func readResults(path string) ([]*tare.Result, error) {
	results, err := history.File(path)
	var unreadable *history.Error
	if err != nil && !errors.As(err, &unreadable) {
		return nil, Usage(fmt.Sprintf("cannot read %s: %v", path, cause(err)), "")
	}
	return results, err
}

// ran are the names of the studies of which runs were kept, sorted.
func ran(d dirs) []string {
	runs, _ := history.Runs(d.AllResults())
	var names []string
	for _, r := range runs {
		names = append(names, r.Study)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// CompleteRuns offers the studies that were run; files are the shell's to
// offer.
func (env Env) CompleteRuns(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	d, err := env.Dirs()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return slices.DeleteFunc(ran(d), func(name string) bool { return !strings.HasPrefix(name, start) }), cobra.ShellCompDirectiveDefault
}
