// Package reportcmd is tare report: it prints a saved result.
package reportcmd

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/judge"
)

// Command is tare report.
func Command(env cmdenv.Env) *cobra.Command {
	var f cmdenv.FormatFlag
	var at cmdenv.RateFlag
	cmd := &cobra.Command{
		Use:   "report RESULT",
		Short: "Print a result again, in another format",
		Long: `Print a result that tare run kept or wrote, without measuring anything.

A RESULT is a result.json (or a list of results, as tare run --json prints it for
several studies), the directory of a run, or the name of a study, which stands
for its newest run in the data directory (tare history lists them). - reads from
stdin.

Formats:
` + cmdenv.FormatHelp() + `

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
				return cmdenv.Usage("tare report needs a result", "a result.json, a run's directory, the name of a study that was run, or - for stdin")
			}
			return cmdenv.AtMost(1)(cmd, args)
		},
		ValidArgsFunction: env.CompleteRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := f.Format(cmd)
			if err != nil {
				return err
			}
			rate, err := at.Rate()
			if err != nil {
				return err
			}
			results, dir, err := env.ReadResults(args[0])
			if err != nil {
				return err
			}
			if format.Name == "html" && dir != "" {
				format = cmdenv.PageOf(os.DirFS(dir))
			}
			if rate > 0 {
				for _, r := range results {
					r.Cost = judge.Costs(r.Metrics, r.Contenders, r.Comparisons, r.Findings, rate)
				}
			}
			return cmdenv.WriteResults(env.Out, format, results, env.Style(env.Out))
		},
	}
	f.Add(cmd.Flags(), "one document, or a list where there are several")
	f.Complete(cmd)
	cmd.Flags().StringVar(&at.Text, "at", "", "say what contenders cost, and save, in a service that does it at `rate`, e.g. 1000/s")
	return cmd
}
