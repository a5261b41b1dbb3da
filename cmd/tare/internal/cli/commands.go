package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Commands is the command tree, for who describes it: nothing is carried out
// with it.
func Commands() *cobra.Command {
	return newRoot(filled(Env{Getenv: func(string) string { return "" }, In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}))
}
