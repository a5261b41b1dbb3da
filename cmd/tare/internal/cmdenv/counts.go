package cmdenv

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tarebench/tare/cmd/tare/internal/counts"
)

// EnvCounts is the variable that holds the default of --counts.
const EnvCounts = "TARE_COUNTS"

// AddCounts adds --counts to a command.
func AddCounts(set *pflag.FlagSet, into *string) {
	set.StringVar(into, "counts", "", "count the instructions of an operation with this `counter`: "+strings.Join(counts.Choices(), ", ")+"; default: $"+EnvCounts+", else auto")
}

// ReadCounts returns the choice of --counts or of the environment. For a coordinator the
// default is off: its machines may have different counters.
func ReadCounts(env Env, word string) (counts.Choice, error) {
	if word == "" && env.Ordered {
		return counts.Off, nil
	}
	chosen, what := cmp.Or(word, string(counts.Auto)), "--counts"
	if word == "" && env.Getenv(EnvCounts) != "" {
		chosen, what = env.Getenv(EnvCounts), EnvCounts
	}
	if !slices.Contains(counts.Choices(), chosen) {
		return "", Usage(fmt.Sprintf("%s %q is not a counter", what, chosen), "one of "+strings.Join(counts.Choices(), ", "))
	}
	return counts.Choice(chosen), nil
}

// CompleteCounts completes the values of --counts.
func CompleteCounts(cmd *cobra.Command) {
	CompleteFlag(cmd, "counts", cobra.FixedCompletions(counts.Choices(), cobra.ShellCompDirectiveNoFileComp))
}
