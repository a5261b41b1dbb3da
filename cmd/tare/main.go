// Command tare measures implementations of the same thing against each other, on the user's
// machine, and reports by how much they differ and how certain that is.
package main

import (
	"os"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
)

func main() { os.Exit(cli.RunProcess()) }
