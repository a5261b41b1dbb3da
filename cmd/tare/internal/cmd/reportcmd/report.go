// Package reportcmd implements tare report: it prints a saved result.
package reportcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/judge"
)

type options struct {
	format  cmdenv.FormatFlag
	at      cmdenv.RateFlag // rate of a service for which costs are computed
	mixedGo bool            // compare machines with different versions of Go
}

// Command returns tare report.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "report RESULT…",
		Short: "Print a stored result, in any format",
		Long: `Print a result that tare run kept or wrote, without measuring anything.

A RESULT is a result.json (or a list of results, as tare run --json prints it for
several studies), the directory of a run, or the name of a study, which means its
newest run in the data directory (tare history lists them). - reads from stdin.

Give several RESULTs to combine one study from several machines. The report shows
the first, with verdicts over all machines on top. With three or more machines
each ratio has an interval over machines; a test shows where machines differ.
NAME=RESULT sets the machine's name; the default is the name of the file.

Formats:
` + cmdenv.FormatHelp() + `

benchfmt omits traps and void figures, and names them in comments.

Exit codes: 0 printed, whatever the result says; 1 I/O error; 2 no such result,
one that cannot be read, or results that cannot be compared.`,
		Example: `  tare report json-encode
  tare report json-encode --format md > json-encode.md
  tare report json-encode --at 1000/s
  tare report a=a.json b=b.json c=c.json
  tare report ./mine.json --format benchfmt > bench.txt && benchstat -col /contender bench.txt
  tare run json-encode --json | tare report - --format csv`,
		Args:              cmdenv.Needs(0, "a result", "a result.json, a run's directory, the name of a study that was run, or - for stdin"),
		ValidArgsFunction: env.CompleteRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			reportFormat, err := o.format.Format(cmd)
			if err != nil {
				return err
			}
			rate, err := o.at.Rate()
			if err != nil {
				return err
			}
			results, dir, err := readResults(env, args, o.mixedGo)
			if err != nil {
				return err
			}
			if reportFormat.Name == "html" && dir != "" {
				reportFormat = cmdenv.PageOf(os.DirFS(dir))
			}
			if rate > 0 {
				for _, r := range results {
					r.Cost = judge.Costs(r.Metrics, r.Contenders, r.Comparisons, r.Findings, rate)
				}
			}
			return cmdenv.WriteResults(env.Out, reportFormat, results, env.Style(env.Out))
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	o.format.Add(cmd.Flags(), "one document, or a list where there are several")
	o.format.Complete(cmd)
	cmd.Flags().StringVar(&o.at.Text, "at", "", "also print how much CPU time each contender costs or saves in a service that does the operation at `rate`, e.g. 1000/s")
	cmd.Flags().BoolVar(&o.mixedGo, "mixed-go", false, "compare machines that built contenders with different versions of Go")
}

// readResults reads the results of args. One argument names a file or a run. dir is then the
// directory of the run. Several arguments are results of several machines, which it merges to one.
// dir is "" otherwise.
func readResults(env cmdenv.Env, args []string, mixedGo bool) (results []*tare.Result, dir string, err error) {
	if len(args) == 1 {
		return env.ReadResults(args[0])
	}
	var machines []judge.Measured
	for _, arg := range args {
		name, file, hasName := strings.Cut(arg, "=")
		if !hasName {
			file = arg
			name = strings.TrimSuffix(filepath.Base(arg), ".json")
		}
		list, _, err := env.ReadResults(file)
		if err != nil {
			return nil, "", err
		}
		if len(list) != 1 {
			return nil, "", cmdenv.Usage(fmt.Sprintf("%s holds %s", file, format.Count(len(list), "result")), "with several machines give a file with one result each")
		}
		machines = append(machines, judge.Measured{Name: name, Result: list[0]})
	}
	merged, err := judge.OverMachines(machines, mixedGo)
	if err != nil {
		return nil, "", cmdenv.UsageOf(err, "")
	}
	return []*tare.Result{merged}, "", nil
}
