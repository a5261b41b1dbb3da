package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
)

// maxProcs is the largest --procs.
const maxProcs = 1024

// runOptions are the flags of tare run.
type runOptions struct {
	quick     bool
	user      bool          // budget is the user's own
	budget    time.Duration // zero: the study's own
	rounds    int           // zero: by budget
	seed      uint64        // zero: from the clock
	slice     time.Duration // zero: by rule
	most      int           // slices of a contender in a round; zero: by rule
	isolation tare.Isolation
	only      lab.Only
	with      []string // modules, directories absolute
	original  string   // directory of the published library, absolute; empty: not given
	release   string   // Go toolchain; empty: the machine's
	procs     int      // GOMAXPROCS of contenders; zero: the kind's own
	env       []string // NAME=value
	at        float64  // operations per second; zero: not asked
	profile   []string // cpu, mem
	resume    bool
	format    report.Format
	out       string // file for the JSON; empty: none
	quiet     bool
	list      bool // say what would be done, and measure nothing
	noPage    bool
	noLock    bool
	catalog   string // directory; empty: looked for
	exitCode  bool   // verdicts as exit codes
}

// runWords are the flags of tare run that are read before they are options.
type runWords struct {
	budget    string
	isolation string
	at        cmdenv.RateFlag
	with      []string
	original  string
	release   []string
}

func runCommand(env cmdenv.Env) *cobra.Command {
	var o runOptions
	var f cmdenv.FormatFlag
	var words runWords
	cmd := &cobra.Command{
		Use:   "run [STUDY|FILE…]",
		Short: "Carry studies out",
		Long: `Carry studies out: build the contenders, let each prove that it answers right,
weigh them in lockstep rounds, and say what was found.

A STUDY is the name of a bundled study (tare list studies), a FILE is a study of
your own, and - reads one from stdin. Without either, every bundled study runs,
json-encode first and the others from short to long. Each prints a brief report
as it ends, and at the end the published claims are compared with what was
measured. --list shows the studies and how long each takes.

Any --budget from 5s on works (10s for servers): what it has no time for is left
out, and named with the budget that would do.

The report goes to stdout, as tables for people or in another --format (tare
report --help describes them), and progress to stderr. Every result is kept in
the data directory (tare history lists them). Ctrl-C finishes the round and
judges what there is; a second one ends it at once.

Exit codes: 0 carried out, whatever was found; 1 something needed failed; 2 bad
input or a budget below the least; 130 interrupted. With --exit-code also 3 a criterion
is not met, 4 inconclusive, 5 void: the worst (5, then 3, then 4) of those
contenders that are not traps.`,
		Example: `  tare run
  tare run --list
  tare run json-encode --budget full
  tare run json-encode --contender 'jsoniter*' --workload 'devices-50/*' --at 1000/s
  tare run json-encode --contender 'sonic*' --with github.com/bytedance/sonic@v1.14.0 --go go1.25.5
  tare run ffi --with-original ../cgocopy
  tare run ./mine.yaml --rounds 40 --seed 7 --env GOGC=200 -o mine.json
  tare run tiny --contender gin-new --profile cpu,mem
  tare run json-encode --resume`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeStudies(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.read(cmd, words); err != nil {
				return err
			}
			if len(args) == 0 && !cmd.Flags().Changed("format") && !f.AsJSON {
				f.Name = "brief"
			}
			var err error
			if o.format, err = f.Format(cmd); err != nil {
				return err
			}
			return runStudies(cmd.Context(), env, o, args)
		},
	}
	what := cmdenv.NewFlags("What is weighed")
	what.Set.StringArrayVar(&o.only.Contenders, "contender", nil, "only the baseline and contenders that match `glob`, at any budget; repeatable")
	what.Set.StringArrayVar(&o.only.Workloads, "workload", nil, "only workloads that match `glob`, at any budget; repeatable")
	what.Set.StringArrayVar(&words.with, "with", nil, "build contenders that need it with `module`@version or module=./dir; repeatable")
	what.Set.StringVar(&words.original, "with-original", "", "weigh the published library of a study as well, from a clone of it in `directory`")
	what.Set.StringArrayVar(&words.release, "go", nil, "build contenders with that Go `release`, e.g. go1.25.5; default: the machine's")
	what.Set.StringVar(&o.catalog, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	how := cmdenv.NewFlags("How it is measured")
	how.Set.StringVar(&words.budget, "budget", "quick", "measuring time: quick, full or a `duration` such as 90s; builds not included")
	how.Set.IntVar(&o.rounds, "rounds", 0, "a fixed number of rounds, judged once at the end")
	how.Set.Uint64Var(&o.seed, "seed", 0, "of the order of everything; 0 takes one from the clock")
	how.Set.DurationVar(&o.slice, "slice", 0, "slice length wanted, e.g. 8ms; 0 decides by rule")
	how.Set.StringVar(&words.isolation, "isolation", string(tare.Lockstep), "`how` contenders share time: lockstep, or trial for one whole trial after another")
	how.Set.IntVar(&o.procs, "procs", 0, "GOMAXPROCS of the contenders; default: as the kind has it, 1 for codecs and routers")
	how.Set.StringArrayVar(&o.env, "env", nil, "put `NAME=value` into every contender's environment, e.g. GOGC=200; repeatable")
	how.Set.StringSliceVar(&o.profile, "profile", nil, "after the rounds, show where time and memory go: `kinds` cpu, mem or both; flame graphs are kept beside the result")
	how.Set.BoolVar(&o.resume, "resume", false, "go on with the newest unfinished run")
	how.Set.BoolVar(&o.noLock, "no-lock", false, "measure even while another tare does; the result says so")
	said := cmdenv.NewFlags("What is printed")
	said.Set.StringVar(&words.at.Text, "at", "", "say what contenders cost, and save, in a service that does it at `rate`, e.g. 1000/s")
	said.Set.BoolVar(&o.list, "list", false, "print what would be measured and for how long, and measure nothing")
	f.Add(said.Set, "one document for one study, else a list")
	said.Set.StringVarP(&o.out, "output", "o", "", "write the JSON to `file` as well, whatever the format")
	said.Set.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	said.Set.BoolVar(&o.noPage, "no-page", false, "no "+cmdenv.PageName+" beside the result")
	said.Set.BoolVar(&o.exitCode, "exit-code", false, "exit 3 not met, 4 inconclusive, 5 void")
	cmdenv.AddFlags(cmd, what, how, said)
	f.Complete(cmd)
	cmdenv.CompleteFlag(cmd, "contender", completeNames(env, func(c cmdenv.Study) []string { ids, _ := c.Names(); return ids }))
	cmdenv.CompleteFlag(cmd, "workload", completeNames(env, func(c cmdenv.Study) []string { _, ids := c.Names(); return ids }))
	cmdenv.CompleteFlag(cmd, "profile", cobra.FixedCompletions([]string{tare.ProfileCPU, tare.ProfileMem}, cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "budget", cobra.FixedCompletions([]string{"quick", "full"}, cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "isolation", cobra.FixedCompletions([]string{string(tare.Lockstep), string(tare.TrialWise)}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// read checks the flags that are words and their combinations.
func (o *runOptions) read(cmd *cobra.Command, words runWords) (err error) {
	switch budget := words.budget; budget {
	case "quick":
		o.quick = true
	case "full":
	default:
		d, err := time.ParseDuration(budget)
		if err != nil || d <= 0 {
			return cmdenv.Usage(fmt.Sprintf("--budget %q is not a budget", budget), "quick, full or a duration such as 90s or 5m")
		}
		o.budget, o.user = d, true
		if least := plan.Least(nil); o.budget < least {
			return &plan.BudgetError{Budget: o.budget, Least: least}
		}
	}
	switch o.isolation = tare.Isolation(words.isolation); o.isolation {
	case tare.Lockstep, tare.TrialWise:
	default:
		return cmdenv.Usage(fmt.Sprintf("--isolation %q is not a way to share time", words.isolation), "lockstep or trial")
	}
	changed := cmd.Flags().Changed
	switch {
	case changed("rounds") && (o.rounds < 1 || o.rounds > math.MaxInt32):
		return cmdenv.Usage(fmt.Sprintf("--rounds %d is not a number of rounds", o.rounds), "at least 1")
	case o.rounds > 0 && o.user:
		return cmdenv.Usage("--rounds and a --budget of your own contradict each other", "give one of them; --budget quick or full only chooses what is weighed")
	case changed("slice") && o.slice <= 0:
		return cmdenv.Usage(fmt.Sprintf("--slice %v is not a slice length", o.slice), "e.g. 8ms")
	case o.resume && changed("seed"):
		return cmdenv.Usage("--resume goes on with the seed of the run it resumes", "leave --seed out")
	case changed("procs") && (o.procs < 1 || o.procs > maxProcs):
		return cmdenv.Usage(fmt.Sprintf("--procs %d is not a number of processors", o.procs), fmt.Sprintf("1 to %d", maxProcs))
	}
	for _, of := range o.profile {
		if of != tare.ProfileCPU && of != tare.ProfileMem {
			return cmdenv.Usage(fmt.Sprintf("--profile %q is not a kind of profile", of), "cpu, mem or cpu,mem")
		}
	}
	if err := cmdenv.CheckPatterns(o.only); err != nil {
		return err
	}
	if err := environment(o.env); err != nil {
		return err
	}
	if o.at, err = words.at.Rate(); err != nil {
		return err
	}
	if o.release, err = release(words.release); err != nil {
		return err
	}
	if o.original, err = original(words.original); err != nil {
		return err
	}
	o.with, err = pins(words.with)
	return err
}

// fitInto makes quick and full budgets of that length: what does not fit in them
// is left out, as it is of a budget set by the user.
func (o *runOptions) fitInto(quick, full time.Duration) {
	if o.user || o.rounds > 0 {
		return
	}
	if o.budget = full; o.quick {
		o.budget = quick
	}
	o.user = true
}

func completeStudies(env cmdenv.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(env.Bundled(), func(name string) bool { return !strings.HasPrefix(name, start) }), cobra.ShellCompDirectiveDefault
	}
}
