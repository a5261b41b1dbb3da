package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// Commands is the command tree, for who describes it: nothing is carried out
// with it.
func Commands() *cobra.Command {
	return newRoot(filled(cmdenv.Env{Getenv: func(string) string { return "" }, In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}))
}
