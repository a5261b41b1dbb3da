// Command tare measures implementations of the same thing against each other on
// the asker's own machine and says by how much they differ and how sure that
// is.
package main

import (
	"context"
	"os"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/trial"
)

func main() {
	if trial.GuardianMain() { // this process is the guardian of another tare
		return
	}
	cli.NullMain() // does not return where it is the null server of another tare
	os.Exit(cli.Main(context.Background(), cmdenv.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Args: os.Args[1:], Getenv: os.Getenv}))
}
