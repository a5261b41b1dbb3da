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

// EnvCounts is the environment variable with the default of --counts.
const EnvCounts = "TARE_COUNTS"

// AddCounts adds --counts to a command.
func AddCounts(set *pflag.FlagSet, into *string) {
	set.StringVar(into, "counts", "", "count the instructions of an operation with this `counter`: "+strings.Join(counts.Choices(), ", ")+"; default: $"+EnvCounts+", else auto")
}

// ReadCounts returns the counter of instructions that flag, the value of --counts, selects. The
// variable EnvCounts is the default. For a coordinator on another machine, the default is off: its
// machines may have different counters.
func ReadCounts(env Env, flag string) (counts.Choice, error) {
	if flag == "" && env.Ordered {
		return counts.Off, nil
	}
	choice, source := cmp.Or(flag, string(counts.Auto)), "--counts"
	if flag == "" && env.Getenv(EnvCounts) != "" {
		choice, source = env.Getenv(EnvCounts), EnvCounts
	}
	return ParseCounts(source, choice)
}

// AddStudyCounts adds --counts to a command that runs studies, which count only if it is set.
func AddStudyCounts(set *pflag.FlagSet, into *string) {
	set.StringVar(into, "counts", "", "after the rounds, count the instructions of an operation of codecs, routers and copiers with this `counter`: "+strings.Join(counts.Choices(), ", ")+"; default: off")
}

// ParseCounts returns the counter that choice names. source is the flag or variable of choice.
func ParseCounts(source, choice string) (counts.Choice, error) {
	if !slices.Contains(counts.Choices(), choice) {
		return "", Usage(fmt.Sprintf("%s %q is not a counter", source, choice), "one of "+strings.Join(counts.Choices(), ", "))
	}
	return counts.Choice(choice), nil
}

// CompleteCounts sets the shell completion of --counts.
func CompleteCounts(cmd *cobra.Command) {
	CompleteFlag(cmd, "counts", cobra.FixedCompletions(counts.Choices(), cobra.ShellCompDirectiveNoFileComp))
}
