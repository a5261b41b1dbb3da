package cmdenv

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// CommandNames returns the names of the subcommands of cmd, except hidden ones.
func CommandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// AtMost returns a check that accepts up to n arguments.
func AtMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return Usage(fmt.Sprintf("%s: unexpected argument %q", cmd.CommandPath(), args[n]), cmd.CommandPath()+" --help shows how to call it")
		}
		return nil
	}
}

// Needs returns a check that accepts 1 to maxArgs arguments; 0 means no limit. what and hint describe
// the arguments in the error; next has the commands that hint names.
func Needs(maxArgs int, what, hint string, next ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || maxArgs > 0 && len(args) > maxArgs {
			return Usage(cmd.CommandPath()+" needs "+what, hint, next...)
		}
		return nil
	}
}

// Flags is a group of flags with a heading.
type Flags struct {
	title string         // heading in the help
	Set   *pflag.FlagSet // flags in the order of the help
}

// NewFlags returns an empty group with a heading.
func NewFlags(title string) Flags {
	set := pflag.NewFlagSet(title, pflag.ContinueOnError)
	set.SortFlags = false
	return Flags{title, set}
}

// AddFlags adds the flags of all groups to cmd, and a help text that lists them by group. The other
// flags of cmd come last.
func AddFlags(cmd *cobra.Command, groups ...Flags) {
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.Set)
	}
	if cmd.Flags().Lookup("progress") != nil {
		CompleteProgress(cmd)
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		var b strings.Builder
		fmt.Fprintf(&b, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
		rest := NewFlags("Other flags")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			for _, g := range groups {
				if g.Set.Lookup(f.Name) != nil {
					return
				}
			}
			rest.Set.AddFlag(f)
		})
		for _, g := range append(groups, rest) {
			if g.Set.HasAvailableFlags() {
				fmt.Fprintf(&b, "\n%s:\n%s", g.title, g.Set.FlagUsages())
			}
		}
		_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
		return err
	})
}

// CompleteFlag sets the shell completion of a flag of cmd.
func CompleteFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag does not exist, or has a completion already
	}
}
