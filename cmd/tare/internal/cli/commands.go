package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// Commands returns the command tree, for programs that describe it, e.g. in a document. Its commands
// must not be run.
func Commands() *cobra.Command {
	return newRoot(withDefaults(cmdenv.Env{Getenv: func(string) string { return "" }, In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}))
}
