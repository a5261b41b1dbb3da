// Package version implements tare version, which prints the version of this tare.
package version

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// Command returns tare version.
func Command(env cmdenv.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of tare",
		Example: "  tare version --json",
		Args:    cmdenv.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return cmdenv.PrintJSON(env.Out, cmdenv.ThisVersion())
			}
			_, err := fmt.Fprintln(env.Out, cmdenv.ThisVersion())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
