package session

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// AddDryRun adds --dry-run. shorthand is its letter, or "".
func AddDryRun(set *pflag.FlagSet, into *bool, shorthand string) {
	set.BoolVarP(into, "dry-run", shorthand, false, "print what would be built, measured and written, and do nothing of it")
}

// Offer selects the common flags that not every command has.
type Offer struct {
	Machines bool // those to measure on several machines
	Counts   bool // the one to count instructions
}

// AddFlags adds the flags of a command that measures the user's code: the group commandFlags, and the
// common groups of measuring and printing.
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
	printed.Set.BoolVar(&o.NoPage, "no-page", false, "no "+cmdenv.PageName+" beside the result")
	printed.Set.BoolVar(&o.ExitCode, "exit-code", false, "exit 5 where what was measured is void")
	cmdenv.AddFlags(cmd, commandFlags, measured, printed)
	o.Printed.Complete(cmd)
	cmdenv.CompleteFlag(cmd, "budget", cobra.FixedCompletions([]string{"quick", "full"}, cobra.ShellCompDirectiveNoFileComp))
	if offer.Counts {
		cmdenv.CompleteCounts(cmd)
	}
	o.Isolation = tare.Lockstep
}
