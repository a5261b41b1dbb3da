package session

import (
	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// AddFlags adds the flags of a command that measures the user's code: the group commandFlags, and the
// common groups of measuring and printing. several is set if the command can measure on several
// machines.
func (o *Options) AddFlags(cmd *cobra.Command, commandFlags cmdenv.Flags, several bool) {
	measured := cmdenv.NewFlags("How it is measured")
	measured.Set.StringVar(&o.BudgetText, "budget", "quick", "measuring time of each study: quick, full or a `duration` such as 90s; builds not included")
	measured.Set.IntVar(&o.Rounds, "rounds", 0, "a fixed number of rounds, judged once at the end")
	measured.Set.Uint64Var(&o.Seed, "seed", 0, "random seed; 0 takes one from the clock")
	if several {
		o.On.AddMeasuring(measured.Set)
	}
	measured.Set.BoolVar(&o.NoLock, "no-lock", false, "measure even while another tare does; the result says so")
	printed := cmdenv.NewFlags("What is printed")
	o.Printed.Add(printed.Set, "the result document")
	printed.Set.StringVarP(&o.Out, "output", "o", "", "write the JSON to `file` as well, whatever the format")
	printed.Set.BoolVarP(&o.Quiet, "quiet", "q", false, "no progress on stderr")
	printed.Set.BoolVar(&o.NoPage, "no-page", false, "no "+cmdenv.PageName+" beside the result")
	printed.Set.BoolVar(&o.ExitCode, "exit-code", false, "exit 5 where what was measured is void")
	cmdenv.AddFlags(cmd, commandFlags, measured, printed)
	o.Printed.Complete(cmd)
	cmdenv.CompleteFlag(cmd, "budget", cobra.FixedCompletions([]string{"quick", "full"}, cobra.ShellCompDirectiveNoFileComp))
	o.Isolation = tare.Lockstep
}
