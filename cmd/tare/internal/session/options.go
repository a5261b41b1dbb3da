package session

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
)

// maxProcs is the largest --procs.
const maxProcs = 1024

// Options are the flags of commands that measure. tare run measures studies: comparisons of programs, called
// contenders. Other commands measure the user's code.
//
// Check sets some fields from others, as their comments say.
type Options struct {
	lab.Measuring // Check sets Quick, Budget and User from BudgetText, Until from Decided, and At from Rate

	BudgetText string        // quick, full or a duration
	CountsText string        // "" means off
	Counts     counts.Choice // set by Check
	Decided    UntilFlags
	Rate       cmdenv.RateFlag
	On         cmdenv.Machines

	With     []string // Check makes directories absolute
	Original string   // published library to measure, or ""; Check makes it absolute
	Releases []string // at most one Go toolchain
	Release  string   // set by Check; "" means the machine's
	Catalog  string   // "" means that the catalog is searched for
	Resume   bool
	NoLock   bool

	Printed  cmdenv.FormatFlag
	Format   report.Format // set by Check
	Out      string        // file for the JSON; "" for none
	Quiet    bool
	List     bool // measure nothing
	DryRun   bool
	NoPage   bool // write no page for a browser
	ExitCode bool

	KeepEnv bool // results store the values of Env, not MACs

	Typed Typed // command line of a study without a file; zero for tare run
}

// Check checks the flags and sets the parsed fields. The order of the steps decides which of several mistakes
// is reported.
func (o *Options) Check(cmd *cobra.Command) (err error) {
	if err := o.parseBudget(); err != nil {
		return err
	}
	if o.Until, err = o.Decided.parseShare(cmd); err != nil {
		return err
	}
	if o.Until > 0 && !o.User { // measure the complete study, for at most UntilMost
		o.Quick, o.Budget = false, UntilMost
	}
	if err := o.checkValues(cmd.Flags().Changed); err != nil {
		return err
	}
	if o.Counts, err = cmdenv.ParseCounts("--counts", cmp.Or(o.CountsText, string(counts.Off))); err != nil {
		return err
	}
	if o.Counts != counts.Off && len(o.On.On) > 0 {
		return cmdenv.Usage("--counts is for one machine", "without --on")
	}
	if err := cmdenv.CheckPatterns(o.Only); err != nil {
		return err
	}
	if err := CheckEnvironment(o.Env); err != nil {
		return err
	}
	if o.At, err = o.Rate.Rate(); err != nil {
		return err
	}
	if o.Release, err = ParseRelease(o.Releases); err != nil {
		return err
	}
	if o.Original, err = ParseOriginal(o.Original); err != nil {
		return err
	}
	if o.With, err = ParsePins(o.With); err != nil {
		return err
	}
	o.Format, err = o.Printed.Format(cmd)
	return err
}

// parseBudget sets Quick, or Budget and User. "full" sets none of them: then the time is that of the study.
func (o *Options) parseBudget() error {
	switch o.BudgetText {
	case "quick":
		o.Quick = true
		return nil
	case "full":
		return nil
	}
	budget, err := time.ParseDuration(o.BudgetText)
	if err != nil || budget <= 0 {
		return cmdenv.Usage(fmt.Sprintf("--budget %q is not a budget", o.BudgetText), "quick, full or a duration such as 90s or 5m")
	}
	o.Budget, o.User = budget, true
	if minBudget := plan.Least(nil); budget < minBudget { // nil: workloads are not known yet
		return &plan.BudgetError{Budget: budget, Least: minBudget}
	}
	return nil
}

func (o *Options) checkValues(changed func(flag string) bool) error {
	if o.Isolation != tare.Lockstep && o.Isolation != tare.TrialWise {
		return cmdenv.Usage(fmt.Sprintf("--isolation %q is not a way to share time", o.Isolation), "lockstep or trial")
	}
	if err := o.On.CheckResume(); err != nil && !o.Resume { // o.Resume permits --resume without --on
		return err
	}
	switch {
	case changed("rounds") && (o.Rounds < 1 || o.Rounds > math.MaxInt32):
		return cmdenv.Usage(fmt.Sprintf("--rounds %d is not a number of rounds", o.Rounds), "at least 1")
	case o.Rounds > 0 && o.User:
		return cmdenv.Usage("--rounds and a --budget of your own contradict each other", "give one of them; --budget quick or full only chooses what is measured")
	case o.Rounds > 0 && o.Until > 0:
		return cmdenv.Usage("--rounds and --until contradict each other", "give one of them")
	case changed("slice") && o.Slice <= 0:
		return cmdenv.Usage(fmt.Sprintf("--slice %v is not a slice length", o.Slice), "e.g. 8ms")
	case o.Resume && changed("seed"):
		return cmdenv.Usage("--resume continues with the seed of the run it resumes", "leave --seed out")
	case changed("procs") && (o.Procs < 1 || o.Procs > maxProcs):
		return cmdenv.Usage(fmt.Sprintf("--procs %d is not a number of processors", o.Procs), fmt.Sprintf("1 to %d", maxProcs))
	}
	for _, kind := range o.Profile {
		if kind != tare.ProfileCPU && kind != tare.ProfileMem {
			return cmdenv.Usage(fmt.Sprintf("--profile %q is not a kind of profile", kind), "cpu, mem or cpu,mem")
		}
	}
	return nil
}

// FitInto limits the time to quick if o.Quick is set, else to full. The study then skips workloads without
// time. A limit that the user has set stays.
func (o *Options) FitInto(quick, full time.Duration) {
	if o.User || o.Rounds > 0 || o.Until > 0 {
		return
	}
	o.Budget = full
	if o.Quick {
		o.Budget = quick
	}
	o.User = true
}

// BudgetOf returns the measuring time of a study.
func (o Options) BudgetOf(study cmdenv.Study) time.Duration {
	if o.Budget > 0 {
		return o.Budget
	}
	return lab.Budget(study.Budget, o.Quick)
}

// UntilMost is the longest measuring time of --until decided without --budget.
const UntilMost = time.Hour

// UntilFlags are --until and --effect.
type UntilFlags struct {
	until  string
	effect string
}

// Add adds the flags.
func (u *UntilFlags) Add(group cmdenv.Flags) {
	group.Set.StringVar(&u.until, "until", "", "`decided`: measure until every difference is found or smaller than --effect, for at most --budget, or 1h if that is not set")
	group.Set.StringVar(&u.effect, "effect", "2%", "with --until decided: the `share` below which a difference does not matter")
}

// Complete offers the values of --until.
func (u *UntilFlags) Complete(cmd *cobra.Command) {
	cmdenv.CompleteFlag(cmd, "until", cobra.FixedCompletions([]string{"decided"}, cobra.ShellCompDirectiveNoFileComp))
}

// parseShare returns the share of --effect, or 0 without --until.
func (u UntilFlags) parseShare(cmd *cobra.Command) (float64, error) {
	switch {
	case u.until == "" && cmd.Flags().Changed("effect"):
		return 0, cmdenv.Usage("--effect is for --until decided", "add --until decided, or leave --effect out")
	case u.until == "":
		return 0, nil
	case u.until != "decided":
		return 0, cmdenv.Usage(fmt.Sprintf("--until %q is not known", u.until), "--until decided")
	}
	effect, err := cmdenv.Share("effect", u.effect)
	if err == nil && effect <= 0 {
		err = cmdenv.Usage(fmt.Sprintf("--effect %s can never be reached", u.effect), "e.g. 2%")
	}
	return effect, err
}

// AddDryRun adds --dry-run. shorthand is its letter, or "".
func AddDryRun(set *pflag.FlagSet, into *bool, shorthand string) {
	set.BoolVarP(into, "dry-run", shorthand, false, "only print what would be built, measured and written")
}

// Offer selects the common flags that not every command has.
type Offer struct {
	Machines bool // those to measure on several machines
	Counts   bool // the one to count instructions
}

// AddFlags adds commandFlags and the common flags of measuring and printing.
func (o *Options) AddFlags(cmd *cobra.Command, commandFlags cmdenv.Flags, offer Offer) {
	measured := cmdenv.NewFlags("How it is measured")
	measured.Set.StringVar(&o.BudgetText, "budget", "quick", "measuring time of each study: quick, full or a `duration` such as 90s; builds not included")
	measured.Set.IntVar(&o.Rounds, "rounds", 0, "a fixed number of rounds, judged once at the end")
	measured.Set.Uint64Var(&o.Seed, "seed", 0, "random seed; 0 takes one from the clock")
	if offer.Counts {
		cmdenv.AddStudyCounts(measured.Set, &o.CountsText)
	}
	if offer.Machines {
		o.On.AddMeasuring(measured.Set)
	}
	measured.Set.BoolVar(&o.NoLock, "no-lock", false, "measure even while another tare does; the result says so")
	printed := cmdenv.NewFlags("What is printed")
	AddDryRun(printed.Set, &o.DryRun, "")
	o.Printed.Add(printed.Set, "the result document")
	printed.Set.StringVarP(&o.Out, "output", "o", "", "write the JSON to `file` as well, whatever the format")
	cmdenv.AddProgress(printed.Set, &o.Quiet)
	printed.Set.BoolVar(&o.NoPage, "no-page", false, "no "+cmdenv.PageName+" next to the result")
	printed.Set.BoolVar(&o.ExitCode, "exit-code", false, "exit 5 where what was measured is void")
	cmdenv.AddFlags(cmd, commandFlags, measured, printed)
	o.Printed.Complete(cmd)
	cmdenv.CompleteFlag(cmd, "budget", cobra.FixedCompletions([]string{"quick", "full"}, cobra.ShellCompDirectiveNoFileComp))
	if offer.Counts {
		cmdenv.CompleteCounts(cmd)
	}
	o.Isolation = tare.Lockstep
}
