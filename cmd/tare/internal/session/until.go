package session

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// UntilMost is the longest measuring time of --until decided without --budget.
const UntilMost = time.Hour

// UntilFlags are --until and --effect.
type UntilFlags struct {
	until  string
	effect string
}

// Add adds the flags.
func (u *UntilFlags) Add(how cmdenv.Flags) {
	how.Set.StringVar(&u.until, "until", "", "`decided`: measure until every difference is found or smaller than --effect, for at most --budget, or 1h if that is not given")
	how.Set.StringVar(&u.effect, "effect", "2%", "with --until decided: the `share` below which a difference does not matter")
}

// Complete offers the values of --until.
func (u *UntilFlags) Complete(cmd *cobra.Command) {
	cmdenv.CompleteFlag(cmd, "until", cobra.FixedCompletions([]string{"decided"}, cobra.ShellCompDirectiveNoFileComp))
}

// parseShare returns the share of --effect, below which a difference does not matter; 0 without --until.
func (u UntilFlags) parseShare(cmd *cobra.Command) (float64, error) {
	switch {
	case u.until == "" && cmd.Flags().Changed("effect"):
		return 0, cmdenv.Usage("--effect is for --until decided", "add --until decided, or leave --effect out")
	case u.until == "":
		return 0, nil
	case u.until != "decided":
		return 0, cmdenv.Usage(fmt.Sprintf("--until %q is not known", u.until), "--until decided")
	}
	effect, err := cmdenv.Share("effect", u.effect)
	if err == nil && effect <= 0 {
		err = cmdenv.Usage(fmt.Sprintf("--effect %s can never be reached", u.effect), "e.g. 2%")
	}
	return effect, err
}
