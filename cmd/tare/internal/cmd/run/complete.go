package run

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// completeNames completes the contenders or workloads of the studies in the arguments, or of
// all bundled ones without any.
func completeNames(env cmdenv.Env, of func(cmdenv.Study) []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
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
				names = append(names, of(study)...)
			}
		}
		slices.Sort(names)
		return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return !strings.HasPrefix(n, start) }), cobra.ShellCompDirectiveNoFileComp
	}
}
