package rerun

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/receipt"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
)

// This file implements tare verify. It repeats the measurement of a receipt, and reports whether the
// new one claims the same.

// verified is the JSON document of tare verify. A receipt is a sealed record of a measurement.
type verified struct {
	Outcome receipt.Outcome   `json:"outcome"`
	Made    time.Time         `json:"made"`
	Seed    string            `json:"seed"`     // seed of the receipt
	NowSeed string            `json:"now_seed"` // seed of the new measurement
	Rows    []receipt.Checked `json:"rows"`
}

// VerifyCommand returns tare verify. root returns all commands of tare, with which it runs the command
// of a receipt again.
func VerifyCommand(env cmdenv.Env, root func(cmdenv.Env) *cobra.Command) *cobra.Command {
	var o options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify RECEIPT",
		Short: "Measure a receipt again, and print whether it holds",
		Long: `Check a receipt that tare bench --receipt wrote: that this data directory sealed it
and nobody changed it since, and that the files are those that were measured. Then
measure both sides again with another seed, and compare.

A row holds if it claims the same again. It does not hold if the new row claims the
contrary, or if the intervals do not overlap and the claims differ. If the new row
only shows no difference, or there was no time for it, it is undecided. The worst row
decides.

Exit codes: 0 the receipt holds; 1 the measurement failed; 2 not a receipt of this data
directory, or other files; 3 it does not hold; 4 undecided; 130 interrupted.`,
		Example: `  tare verify receipt.json
  tare verify receipt.json --json`,
		Args: cobra.MatchAll(cmdenv.Needs(0, "a receipt", "a file that tare bench --receipt wrote"), cmdenv.AtMost(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return verifyReceipt(cmd.Context(), env, root, o, args[0], asJSON)
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&o.seed, "seed", 0, "random seed; 0 takes one from the clock")
	flags.StringArrayVar(&o.env, "env", nil, "`NAME=value` of a variable whose value the receipt does not keep; repeatable")
	flags.BoolVar(&o.noLock, "no-lock", false, "measure even while another tare does")
	cmdenv.AddProgress(flags, &o.quiet)
	cmdenv.CompleteProgress(cmd)
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func verifyReceipt(ctx context.Context, env cmdenv.Env, root func(cmdenv.Env) *cobra.Command, o options, path string, asJSON bool) error {
	d, err := env.Dirs()
	if err != nil {
		return err
	}
	rec, err := receipt.Read(path, d)
	if err != nil {
		return err
	}
	args, err := commandOfReceipt(ctx, env, root, o, rec, path)
	if err != nil {
		return err
	}
	p := session.NewProgress(env, o.quiet)
	p.Say("verifying what was measured on " + format.Minute(rec.Made) + " UTC: tare " + strings.Join(rec.Command, " "))
	p.End()
	now, err := measureAgain(ctx, env, root, args)
	var short *plan.BudgetError
	switch {
	case errors.As(err, &short): // the machine is too busy: the rows are undecided
		now = &tare.Result{}
	case err != nil:
		return err
	case now == nil:
		return cmdenv.Usage("there was nothing to measure again", "the receipt has another selection of benchmarks")
	case now.Stopped == lab.Interrupted:
		return cmdenv.ErrInterrupted
	}
	v := verified{Made: rec.Made, Seed: rec.Seed, NowSeed: now.Seed}
	v.Rows, v.Outcome = rec.Check(now)
	if asJSON {
		err = cmdenv.PrintJSON(env.Out, v)
	} else {
		err = v.writeText(env.Out)
	}
	if err != nil {
		return err
	}
	exits := map[receipt.Outcome]int{receipt.Holds: cmdenv.ExitOK, receipt.DoesNot: cmdenv.ExitNotMet, receipt.Open: cmdenv.ExitInconclusive}
	return cmdenv.Code(exits[v.Outcome])
}

// commandOfReceipt returns the arguments that measure the receipt at path again, with another seed.
// It returns an error if the files of a side have changed.
func commandOfReceipt(ctx context.Context, env cmdenv.Env, root func(cmdenv.Env) *cobra.Command, o options, rec receipt.Receipt, path string) ([]string, error) {
	o.reseed = true // with another random order, the new measurement is independent of the old one
	args, _, err := repeatedArgs(root(env), o, rec.Result())
	if err != nil {
		return nil, err
	}
	repo, err := gitrev.Find(ctx, ".")
	if err != nil {
		return nil, cmdenv.UsageOf(err, "")
	}
	revisions := map[string]string{}                           // by side; the worktree has none
	outputs := append(outputsOf(root(env), rec.Command), path) // files that are not part of the measured worktree
	for _, side := range rec.Sides {
		revision, err := findMeasured(ctx, repo, side, outputs)
		if err != nil {
			return nil, err
		}
		if revision != "" {
			revisions[side.ID] = revision
		}
	}
	const foreign = false // this data directory has sealed the receipt
	return withEnv(env, o, withRevisions(args, revisions), foreign)
}

// findMeasured returns the revision that has the files of a side, or an error. For a side that was
// the worktree this is "", or HEAD if the user has committed these files since.
func findMeasured(ctx context.Context, repo gitrev.Repo, side receipt.Side, outputs []string) (revision string, err error) {
	if side.Commit != "" {
		rev, err := repo.Resolve(ctx, side.Commit)
		if err != nil || rev.Tree != side.Tree {
			return "", cmdenv.Usage(fmt.Sprintf("the repository does not have the %s that was measured, commit %s", side.ID, side.Commit), "fetch it: a shallow clone has only the newest")
		}
		return side.Commit, nil
	}
	worktree, err := repo.HashWorktree(ctx, outputs...)
	if err != nil || worktree == side.Tree {
		return "", err
	}
	if head, err := repo.Resolve(ctx, "HEAD"); err != nil || head.Tree != side.Tree {
		return "", cmdenv.Usage(fmt.Sprintf("the worktree is not the %s that was measured: tree %s then, %s now", side.ID, formatSum(side.Tree), formatSum(worktree)), "check out those files")
	}
	return "HEAD", nil
}

// outputsOf returns the files that a command writes.
func outputsOf(root *cobra.Command, command []string) (files []string) {
	cmd := findCommand(root, command)
	if cmd == nil {
		return nil
	}
	for _, name := range []string{"output", "receipt"} {
		file, _ := cmd.Flags().GetString(name) // "" if the command has no such flag
		files = append(files, file)
	}
	return files
}

// withRevisions returns the arguments of tare bench with the values of --base and --head in
// revisions.
func withRevisions(args []string, revisions map[string]string) []string {
	var out, flags []string
	for _, side := range []string{"base", "head"} {
		rev, ok := revisions[side]
		isNamed := slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--"+side+"=") })
		if ok && (isNamed || rev == "HEAD") {
			flags = append(flags, "--"+side+"="+rev)
		}
	}
	for i, arg := range args {
		if i == 1 {
			out = append(out, flags...)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if _, isReplaced := revisions[name]; isReplaced && strings.HasPrefix(arg, "--") {
			continue
		}
		out = append(out, arg)
	}
	return out
}

func (v verified) writeText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "benchmark\tthen\tnow\toutcome")
	for _, row := range v.Rows {
		now := "not measured"
		if row.Now != nil {
			now = row.Now.String()
		}
		name := report.Legible(row.Then.Benchmark)
		if row.Then.Metric == tare.MetricInstructions {
			name += ", " + row.Then.Metric
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", name, row.Then, now, row.Outcome)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	sentence := map[receipt.Outcome]string{
		receipt.Holds:   "The receipt holds.",
		receipt.DoesNot: "The receipt does not hold.",
		receipt.Open:    "Undecided: what was measured again neither repeats nor contradicts the receipt.",
	}[v.Outcome]
	if v.Seed != "0" { // 0 if nothing was timed
		sentence += fmt.Sprintf(" Seed %s then, %s now.", v.Seed, cmp.Or(v.NowSeed, "none"))
	}
	_, err := fmt.Fprintf(w, "\n%s\n", sentence)
	return err
}

// measureAgain runs the command of args and returns the result that it prints, or nil if there was
// nothing to measure.
func measureAgain(ctx context.Context, env cmdenv.Env, root func(cmdenv.Env) *cobra.Command, args []string) (*tare.Result, error) {
	var document bytes.Buffer
	commandEnv := env
	commandEnv.Out, commandEnv.Args = &document, slices.Insert(slices.Clone(args), 1, "--json")
	tree := root(commandEnv)
	tree.SetArgs(commandEnv.Args)
	err := tree.ExecuteContext(ctx)
	switch cmdenv.ExitCode(err) {
	case cmdenv.ExitOK, cmdenv.ExitNotMet, cmdenv.ExitInconclusive, cmdenv.ExitVoid:
		err = nil // the command has measured; the exit code of its verdicts does not matter
	}
	if document.Len() == 0 {
		return nil, err
	}
	results, errRead := history.ReadFrom("the new result", &document)
	if errRead != nil {
		return nil, errRead
	}
	return results[0], err
}
