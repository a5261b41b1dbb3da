package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Commands is the command tree, for who describes it: nothing is carried out
// with it.
func Commands() *cobra.Command {
	s := &shell{App: App{}.filled(), env: func(string) string { return "" }, in: strings.NewReader(""), out: io.Discard, err: io.Discard}
	return s.root()
}
