// Package bisectcmd implements tare bisect: it finds the commit that changed a
// benchmark.
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
)

// options holds the flags of tare bisect.
type options struct {
	good, bad   string
	packages    []string
	bench       string
	metric      string
	effectText  string  // "" means half of the effect at bad
	effect      float64 // as a share; negative to search for a decrease
	fixed       bool    // --effect is set
	boundText   string
	bound       float64 // of the chance of a wrong result
	most        time.Duration
	firstParent bool
	restart     bool
	dryRun      bool
	printed     cmdenv.FormatFlag
	format      string
	seed        uint64
	procs       int
	quiet       bool
	noLock      bool
	own         cmdenv.Command // the user's command line
}

func metricNames() []string { return []string{"time", "allocs", "bytes", tare.MetricInstructions} }

// isCounted reports whether the metric is counted outside of rounds.
func (o options) isCounted() bool { return tare.MetricFor(o.metric).Counted }

// minWork is the least increase of instructions at the bad revision, as a share.
const minWork = 0.005

func formatNames() []string { return []string{"text", "json"} }

// Command returns tare bisect.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "bisect [PACKAGE…] --good REV --bad REV --bench RE",
		Short: "Find the commit since which a benchmark takes more",
		Long: `Find the first commit between a good and a bad revision that shows the effect
that the bad one shows: a benchmark that takes longer, allocates more often or
more bytes, or executes more instructions. First the bad revision is compared with the good one, and then about
log2 n of the n commits between, each in lockstep with the good revision as tare
bench does it.

Each comparison looks at its rounds several times and ends as soon as it can
tell. The chance that any of them is wrong is at most --error over all of them.
Commits that do not build, have no such benchmark or cannot be told are passed
over; if the first bad commit may be one of those, all that come into question
are printed. What it will cost is printed before measuring.

A search that was cut off goes on when the same command is given again. Revisions
are unpacked into the cache: the working tree, its index and .git stay as they
are.

Exit codes: 0 one commit was found; 1 the search failed; 2 bad input, or a
good or bad revision that does not build; 3 the bad revision does not show the
effect; 4 undecided, or one of several commits; 130 interrupted.`,
		Example: `  tare bisect --good v1.4.0 --bad main --bench '^BenchmarkParse$'
  tare bisect ./parse --good v1.4.0 --bad HEAD --bench Parse/small --effect 5%
  tare bisect --good HEAD~50 --bad HEAD --bench Encode --metric allocs --first-parent
  tare bisect --good v1.4.0 --bad v1.5.0 --bench Sum --effect=-10%   # what made it faster?
  tare bisect --good v1.4.0 --bad main --bench Parse --dry-run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.packages, o.own = args, cmdenv.CommandOf(cmd)
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
	where := cmdenv.NewFlags("Where it is searched")
	where.Set.StringVar(&o.good, "good", "", "`revision` without the effect, an ancestor of bad")
	where.Set.StringVar(&o.bad, "bad", "HEAD", "`revision` with it")
	where.Set.BoolVar(&o.firstParent, "first-parent", false, "only commits of the branch itself: what was merged counts for the merge")
	what := cmdenv.NewFlags("What is searched")
	what.Set.StringVar(&o.bench, "bench", "", "benchmark that matches `regexp`, as go test -bench takes it; of several the one that changes most")
	what.Set.StringVar(&o.metric, "metric", "time", "what it takes more of: time, allocs, bytes, or instructions, which takes one count of each commit and no rounds")
	what.Set.StringVar(&o.effectText, "effect", "", "a commit shows it beyond half of this `share`, e.g. 5%, or -5% for less; default: half of what bad shows, which has to be 5 %, an allocation, or 0.5 % of instructions")
	how := cmdenv.NewFlags("How it is measured")
	how.Set.StringVar(&o.boundText, "error", "5%", "bound of the chance that any comparison is wrong, a `share`")
	how.Set.DurationVar(&o.most, "max", 5*time.Minute, "measure at most that `long` in one comparison")
	how.Set.Uint64Var(&o.seed, "seed", 0, "random seed; 0 takes one from the clock")
	how.Set.IntVar(&o.procs, "procs", 0, "GOMAXPROCS of the benchmarks; default: the machine's")
	how.Set.BoolVar(&o.restart, "restart", false, "forget what an earlier call of this command found")
	how.Set.BoolVarP(&o.dryRun, "dry-run", "n", false, "build good and bad, print what it would cost, and measure nothing")
	how.Set.BoolVar(&o.noLock, "no-lock", false, "measure even while another tare does")
	said := cmdenv.NewFlags("What is printed")
	said.Set.StringVar(&o.printed.Name, "format", "text", "`how` to print it: "+strings.Join(formatNames(), ", "))
	said.Set.BoolVar(&o.printed.AsJSON, "json", false, "the same as --format json")
	said.Set.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	cmdenv.AddFlags(cmd, where, what, how, said)
	cmdenv.CompleteFlag(cmd, "metric", cobra.FixedCompletions(metricNames(), cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp))
}

// check validates the flags and their combinations.
func (o *options) check(cmd *cobra.Command) (err error) {
	switch {
	case o.good == "":
		return cmdenv.Usage("--good is needed", "a revision without the effect, e.g. --good v1.4.0")
	case o.bench == "":
		return cmdenv.Usage("--bench is needed", "e.g. --bench '^BenchmarkParse$'")
	case !slices.Contains(metricNames(), o.metric):
		return cmdenv.Usage(fmt.Sprintf("--metric %q cannot be searched for", o.metric), "one of "+strings.Join(metricNames(), ", "))
	case o.most <= 0:
		return cmdenv.Usage(fmt.Sprintf("--max %v is not a positive duration", o.most), "e.g. 5m")
	case cmd.Flags().Changed("procs") && o.procs < 1:
		return cmdenv.Usage(fmt.Sprintf("--procs %d is not a number of processors", o.procs), "at least 1")
	}
	if o.format, err = o.printed.Choose(cmd, "a format", formatNames()...); err != nil {
		return err
	}
	if _, err := regexp.Compile(o.bench); err != nil {
		return cmdenv.Usage(fmt.Sprintf("--bench %q: %v", o.bench, err), "e.g. 'Parse/small'")
	}
	if o.effect = 0.05; o.isCounted() {
		o.effect = minWork
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

// selectionOf selects the benchmarks that match pattern, at commit and the good revision.
func (o options) selectionOf(commit, pattern string) benchstudy.Asked {
	return benchstudy.Asked{Dir: ".", Packages: o.packages, Base: o.good, Head: commit, Bench: pattern, OneBuild: o.metric != "time"}
}
