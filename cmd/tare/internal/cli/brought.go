package cli

import (
	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
)

// addBrought adds the flags of a command that weighs what the user brings: those
// of what is weighed are its own, and how it is measured and what is printed are
// the same for all.
func addBrought(cmd *cobra.Command, what flagGroup, o *runOptions, words *runWords, f *formatFlag) {
	how := group("How it is measured")
	how.flags.StringVar(&words.budget, "budget", "quick", "measuring time: quick, full or a `duration` such as 90s; builds not included")
	how.flags.IntVar(&o.rounds, "rounds", 0, "a fixed number of rounds, judged once at the end")
	how.flags.Uint64Var(&o.seed, "seed", 0, "random seed; 0 takes one from the clock")
	how.flags.BoolVar(&o.noLock, "no-lock", false, "measure even while another tare does; the result says so")
	said := group("What is printed")
	f.add(said.flags, "the result document")
	said.flags.StringVarP(&o.out, "output", "o", "", "write the JSON to `file` as well, whatever the format")
	said.flags.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	said.flags.BoolVar(&o.noPage, "no-page", false, "no "+pageName+" beside the result")
	said.flags.BoolVar(&o.exitCode, "exit-code", false, "exit 5 where what was weighed is void")
	addGroups(cmd, what, how, said)
	f.complete(cmd)
	complete(cmd, "budget", cobra.FixedCompletions([]string{"quick", "full"}, cobra.ShellCompDirectiveNoFileComp))
	words.isolation = string(tare.Lockstep)
}
