package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is some flags of a command under a heading of their own.
type flagGroup struct {
	title string
	flags *pflag.FlagSet // in the order in which help lists them
}

// group makes an empty group.
func group(title string) flagGroup {
	set := pflag.NewFlagSet(title, pflag.ContinueOnError)
	set.SortFlags = false
	return flagGroup{title, set}
}

// addGroups gives cmd the flags of all groups, and a help text that lists them
// by group. Flags of no group come last.
func addGroups(cmd *cobra.Command, groups ...flagGroup) {
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.flags)
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		var b strings.Builder
		fmt.Fprintf(&b, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
		rest := group("Other flags")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			for _, g := range groups {
				if g.flags.Lookup(f.Name) != nil {
					return
				}
			}
			rest.flags.AddFlag(f)
		})
		for _, g := range append(groups, rest) {
			if g.flags.HasAvailableFlags() {
				fmt.Fprintf(&b, "\n%s:\n%s", g.title, g.flags.FlagUsages())
			}
		}
		_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
		return err
	})
}
