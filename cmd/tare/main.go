// Command tare measures implementations of the same thing against each other on
// the asker's own machine and says by how much they differ and how sure that
// is.
package main

import (
	"os"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
)

func main() { os.Exit(cli.RunProcess()) }
