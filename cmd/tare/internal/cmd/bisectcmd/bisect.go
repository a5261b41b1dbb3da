// Package bisectcmd implements tare bisect, which finds the commit that changed a benchmark.
package bisectcmd

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

type options struct {
	good, bad   string        // revisions without and with the effect
	packages    []string      // patterns of the go command
	bench       string        // regular expression of benchmarks
	metric      string        // one of metricNames
	effectText  string        // "" means half of the effect at bad
	effect      float64       // a share; negative to search for a decrease
	fixed       bool          // --effect is set, so effect does not depend on the effect at bad
	boundText   string        // --error
	bound       float64       // largest probability of a wrong result, from boundText
	maxTime     time.Duration // limit for one comparison
	firstParent bool
	restart     bool
	dryRun      bool
	formatFlag  cmdenv.FormatFlag // --format and --json
	format      string            // one of formatNames, chosen by formatFlag
	seed        uint64
	procs       int // GOMAXPROCS of the benchmarks; 0 means the default
	quiet       bool
	noLock      bool
	typed       cmdenv.Command // the command that the user typed
}

func metricNames() []string { return []string{"time", "allocs", "bytes", tare.MetricInstructions} }

// isCounted reports whether the metric is a count that one run gives exactly enough, so that no
// rounds are measured.
func (o options) isCounted() bool { return tare.MetricFor(o.metric).Counted }

// Without --effect, the bad revision must show an effect of at least this share.
const (
	minEffect       = 0.05  // change of time or bytes; for allocations, one more is enough
	minCountedShare = 0.005 // change of instructions, whose count hardly varies
)

func formatNames() []string { return []string{"text", "json"} }

// Command returns tare bisect.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "bisect [PACKAGE…] --good REV --bad REV --bench RE",
		Short: "Find the commit that made a benchmark slower",
		Long: `Find the first commit between a good and a bad revision that shows the effect of
the bad one: a benchmark that takes longer, allocates more often or more bytes,
or executes more instructions. tare compares the bad revision with the good one,
then about log2 n of the n commits between, each in turns with the good revision,
as tare bench does.

Each comparison checks its rounds several times and ends as soon as it is
decided. The chance that any of them is wrong is at most --error in total. tare
skips commits that do not build, have no such benchmark or stay undecided. If the
first bad commit may be one of those, it prints all candidates. It prints the
cost before it measures.

The same command continues an interrupted search. tare unpacks revisions into its
cache, and leaves the working tree, its index and .git as they are.

Exit codes: 0 one commit found; 1 the search failed; 2 bad input, or a good or
bad revision that does not build; 3 the bad revision does not show the effect; 4
undecided, or several candidates; 130 interrupted.`,
		Example: `  tare bisect --good v1.4.0 --bad main --bench '^BenchmarkParse$'
  tare bisect ./parse --good v1.4.0 --bad HEAD --bench Parse/small --effect 5%
  tare bisect --good HEAD~50 --bad HEAD --bench Encode --metric allocs --first-parent
  tare bisect --good v1.4.0 --bad v1.5.0 --bench Sum --effect=-10%   # what made it faster?
  tare bisect --good v1.4.0 --bad main --bench Parse --dry-run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.packages, o.typed = args, cmdenv.CommandOf(cmd)
			if err := o.check(cmd); err != nil {
				return err
			}
			return runBisect(cmd.Context(), env, o)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	history := cmdenv.NewFlags("Commits")
	history.Set.StringVar(&o.good, "good", "", "`revision` without the effect, an ancestor of bad")
	history.Set.StringVar(&o.bad, "bad", "HEAD", "`revision` with the effect")
	history.Set.BoolVar(&o.firstParent, "first-parent", false, "only commits of the branch itself: merged commits count as a part of the merge")
	target := cmdenv.NewFlags("Effect")
	target.Set.StringVar(&o.bench, "bench", "", "benchmark that matches `regexp`, as in go test -bench; of several the one that changes most")
	target.Set.StringVar(&o.metric, "metric", "time", "`metric` that grows: time, allocs, bytes, or instructions (one count of each commit, no rounds)")
	target.Set.StringVar(&o.effectText, "effect", "", "a commit shows the effect beyond half of this `share`, e.g. 5%, or -5% for a decrease; default: beyond half of the effect of bad, which must be 5 %, an allocation, or 0.5 % of instructions")
	method := cmdenv.NewFlags("How it is measured")
	method.Set.StringVar(&o.boundText, "error", "5%", "maximum chance that any comparison is wrong, a `share`")
	method.Set.DurationVar(&o.maxTime, "max", 5*time.Minute, "maximum measuring `time` of one comparison")
	method.Set.Uint64Var(&o.seed, "seed", 0, "random seed; 0 takes one from the clock")
	method.Set.IntVar(&o.procs, "procs", 0, "GOMAXPROCS of the benchmarks; default: the machine's")
	method.Set.BoolVar(&o.restart, "restart", false, "discard what an earlier call of this command found")
	session.AddDryRun(method.Set, &o.dryRun, "n")
	method.Set.BoolVar(&o.noLock, "no-lock", false, "measure even while another tare does")
	output := cmdenv.NewFlags("What is printed")
	output.Set.StringVar(&o.formatFlag.Name, "format", "text", "`format` of the output: "+strings.Join(formatNames(), ", "))
	output.Set.BoolVar(&o.formatFlag.AsJSON, "json", false, "the same as --format json")
	cmdenv.AddProgress(output.Set, &o.quiet)
	cmdenv.AddFlags(cmd, history, target, method, output)
	cmdenv.CompleteFlag(cmd, "metric", cobra.FixedCompletions(metricNames(), cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp))
}

func (o *options) check(cmd *cobra.Command) (err error) {
	switch {
	case o.good == "":
		return cmdenv.Usage("--good is needed", "a revision without the effect, e.g. --good v1.4.0")
	case o.bench == "":
		return cmdenv.Usage("--bench is needed", "e.g. --bench '^BenchmarkParse$'")
	case !slices.Contains(metricNames(), o.metric):
		return cmdenv.Usage(fmt.Sprintf("--metric %q cannot be searched for", o.metric), "one of "+strings.Join(metricNames(), ", "))
	case o.maxTime <= 0:
		return cmdenv.Usage(fmt.Sprintf("--max %v is not a positive duration", o.maxTime), "e.g. 5m")
	case cmd.Flags().Changed("procs") && o.procs < 1:
		return cmdenv.Usage(fmt.Sprintf("--procs %d is not a number of processors", o.procs), "at least 1")
	}
	if o.format, err = o.formatFlag.Choose(cmd, "a format", formatNames()...); err != nil {
		return err
	}
	if _, err := regexp.Compile(o.bench); err != nil {
		return cmdenv.Usage(fmt.Sprintf("--bench %q: %v", o.bench, err), "e.g. 'Parse/small'")
	}
	o.effect = minEffect
	if o.isCounted() {
		o.effect = minCountedShare
	}
	if o.effectText != "" {
		o.fixed = true
		if o.effect, err = cmdenv.ShareFrom(math.Inf(-1), "effect", o.effectText); err != nil {
			return err
		}
	}
	if o.effect <= -1 || o.effect == 0 {
		return cmdenv.Usage(fmt.Sprintf("--effect %s is not a change", o.effectText), "e.g. 5%, or -5% for less")
	}
	if o.bound, err = cmdenv.ShareFrom(math.Inf(-1), "error", o.boundText); err != nil {
		return err
	}
	if o.bound <= 0 || o.bound >= 0.5 {
		return cmdenv.Usage(fmt.Sprintf("--error %s is not a useful bound", o.boundText), "e.g. 5%")
	}
	return nil
}

// selectionOf selects the benchmarks that match pattern, with the good revision as base and commit
// as head. Time depends on the order of functions in the program. So a comparison of times links
// several builds with different orders.
func (o options) selectionOf(commit, pattern string) benchstudy.Request {
	return benchstudy.Request{Dir: ".", Packages: o.packages, Base: o.good, Head: commit, Bench: pattern, OneBuild: o.metric != "time"}
}
