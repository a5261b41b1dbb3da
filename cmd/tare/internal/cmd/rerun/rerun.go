// Package rerun implements tare rerun and tare verify. tare rerun runs the study of an earlier result
// again, and compares the new result with it.
package rerun

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
)

type options struct {
	seed       uint64
	reseed     bool   // measure with seed instead of the seed of the result
	catalog    string // directory of contenders; "" means search for it
	noLock     bool
	quiet      bool
	env        []string          // NAME=value of variables of which the result has only digests
	trust      bool              // run what the result contains although it was made elsewhere
	formatFlag cmdenv.FormatFlag // --format and --json
	format     report.Format     // chosen by formatFlag
}

// Command returns tare rerun. tree returns all commands of tare. A result of a command such as tare
// bench needs that command.
func Command(env cmdenv.Env, tree func(cmdenv.Env) *cobra.Command) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "rerun RESULT",
		Short: "Repeat a stored run, and compare",
		Long: `Repeat the run of a result as it was: the study's text, the selection, budget,
seed, environment, the linked modules, and the Go that built them if it is
available. tare names what is not available.

Then print, next to each verdict and claim, the earlier and the new one, with
both intervals. A verdict is the same or changed. A ratio changed only if the two
intervals do not overlap. The result is kept like any other (tare report prints
it). --format text and json print the comparison; every other format prints the
new result, and the comparison goes to stderr.

A result of tare bench or tare json is repeated by the command that made it, in
the same directory: with the same commits, and with files only if they are
unchanged.

A result contains only digests of the values of --env, except of Go's own
settings: set the others again with --env. They must be the same.

A result decides what is run: the commands, programs and modules of its study,
and the environment. If it was not made in this data directory, or was changed or
imported, it needs --trust, which lists all of that on stderr and then runs it.
So does a result from before tare sealed them.

A RESULT is a result.json, the directory of a run, or the name of a study, which
means its newest run (tare history lists them).

Exit codes: 0 measured, whatever the verdict; 1 the measurement failed; 2 no such
result, a result without its study, or one made elsewhere without --trust; 130
interrupted.`,
		Example: `  tare rerun json-encode
  tare rerun ./result.json --seed 8
  tare rerun json-encode --json
  tare rerun json-encode --format md`,
		Args:              cobra.MatchAll(cmdenv.Needs(0, "a result", "a result.json, a run's directory, or the name of a study that was run"), cmdenv.AtMost(1)),
		ValidArgsFunction: env.CompleteRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.reseed = cmd.Flags().Changed("seed")
			var err error
			if o.format, err = o.formatFlag.Format(cmd); err != nil {
				return err
			}
			return runRerun(cmd.Context(), env, tree, o, args[0])
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Uint64Var(&o.seed, "seed", 0, "random seed, for another order of everything; 0 takes one from the clock; default: that of the result")
	flags.StringVar(&o.catalog, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	flags.StringArrayVar(&o.env, "env", nil, "`NAME=value` of a variable whose value the result does not keep; repeatable")
	flags.BoolVar(&o.noLock, "no-lock", false, "measure even while another tare does; the result says so")
	flags.BoolVar(&o.trust, "trust", false, "run the commands of a result that was made elsewhere; stderr lists them first")
	cmdenv.AddProgress(flags, &o.quiet)
	cmdenv.CompleteProgress(cmd)
	o.formatFlag.Add(flags, "the comparison")
	o.formatFlag.Complete(cmd)
}

// runRerun runs the study of the result arg again and prints the comparison.
func runRerun(ctx context.Context, env cmdenv.Env, tree func(cmdenv.Env) *cobra.Command, o options, arg string) error {
	results, dir, err := env.ReadResults(arg)
	if err != nil {
		return err
	}
	if len(results) != 1 {
		return cmdenv.Usage(fmt.Sprintf("%s holds %d results", arg, len(results)), "name one run; tare history lists them")
	}
	old := results[0]
	foreign, err := isForeign(env, o, old, dir, arg)
	if err != nil {
		return err
	}
	if len(old.Asked.Command) > 0 {
		if foreign {
			listForeign(env, old, nil)
		}
		return repeatCommand(ctx, env, tree, o, old, foreign)
	}
	return repeatStudy(ctx, env, o, old, foreign)
}

func repeatStudy(ctx context.Context, env cmdenv.Env, o options, old *tare.Result, foreign bool) error {
	run, err := originalOptions(old)
	if err != nil {
		return err
	}
	if run.Env, err = restoreEnv(env, o, old.Env, foreign); err != nil {
		return err
	}
	if o.reseed {
		run.Seed = o.seed
	}
	run.Catalog, run.NoLock, run.Quiet = o.catalog, o.noLock, o.quiet
	study, note, err := storedStudy(env, old)
	if err != nil {
		return err
	}
	if foreign {
		listForeign(env, old, study.Contenders)
	}
	p := session.NewProgress(env, o.quiet)
	defer p.End()
	p.Say(fmt.Sprintf("measuring %s again as on %s UTC, %s", study.ID, format.Minute(old.Started), session.DescribeOptions(run)))
	if note != "" {
		p.Say(note)
	}
	studies := []cmdenv.Study{study}
	if err := run.AddOriginal(studies); err != nil {
		return err
	}
	if studies, _, err = cmdenv.Choose(run.Only, studies); err != nil {
		return err
	}
	var now *tare.Result
	err = session.With(ctx, env, run, p, func(ctx context.Context, w *session.Session) (err error) {
		restoreBuilds(ctx, w, &studies[0], old)
		now, err = w.Measure(ctx, studies[0])
		return err
	})
	p.Pause()
	return printComparison(env, o, old, now, err)
}

// restoreEnv returns the environment variables of a result, which record lists. For a digest it
// takes the value of --env. foreign means that the result was made elsewhere or was changed.
func restoreEnv(env cmdenv.Env, o options, record []string, foreign bool) ([]string, error) {
	if err := session.CheckEnvironment(o.env); err != nil {
		return nil, err
	}
	d, err := env.Dirs()
	if err != nil {
		return nil, err
	}
	return session.RestoreEnv(d, record, o.env, foreign)
}

// printComparison prints the comparison of both results. It returns err, the error of the
// measurement. now is nil if there is no result.
func printComparison(env cmdenv.Env, o options, old, now *tare.Result, err error) error {
	if now == nil {
		return err
	}
	c := compareRuns(old, now)
	var errPrint error
	switch o.format.Name {
	case "json":
		errPrint = cmdenv.PrintJSON(env.Out, c)
	case "text":
		errPrint = c.writeText(env.Out, env.Style(env.Out))
	default: // another format is for the result; the comparison goes to stderr
		errPrint = cmdenv.WriteResults(env.Out, o.format, []*tare.Result{now}, env.Style(env.Out))
		if errPrint == nil && !o.quiet {
			errPrint = c.writeText(env.Err, env.Style(env.Err))
		}
	}
	if err == nil {
		err = errPrint
	}
	if err == nil && now.Stopped == lab.Interrupted {
		err = cmdenv.Code(cmdenv.ExitInterrupted)
	}
	return err
}
