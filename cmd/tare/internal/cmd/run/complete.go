package run

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// completeNames completes the names that namesOf returns for the studies in the arguments; for all
// bundled studies if there are no arguments.
func completeNames(env cmdenv.Env, namesOf func(cmdenv.Study) []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			args = env.Bundled()
		}
		var names []string
		for _, arg := range args {
			if arg == "-" {
				continue // completion must not read the run's stdin
			}
			if study, err := env.ReadStudy(arg); err == nil {
				names = append(names, namesOf(study)...)
			}
		}
		slices.Sort(names)
		return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return !strings.HasPrefix(n, start) }), cobra.ShellCompDirectiveNoFileComp
	}
}
