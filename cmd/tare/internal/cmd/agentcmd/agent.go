// Package agentcmd is tare agent: it measures what a tare on another machine
// orders.
package agentcmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
)

// Command is tare agent; root makes the tree of commands that it calls run of.
func Command(env cmdenv.Env, root func(cmdenv.Env) *cobra.Command) *cobra.Command {
	var allowCommands bool
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Measure what tare run --on orders from another machine",
		Long: `Measure what a tare on another machine orders. tare run --on ssh:HOST starts it
there; nobody else needs to.

It reads one order from stdin, checks it, carries the study out with contenders
that it builds itself, and writes the result to stdout. It ends, and everything
that it started with it, when its stdin does. It opens no port. Results are not
kept on this machine, builds are.

Exit codes: as of tare run; 2 also where the order is refused.`,
		Example: `  tare run json-encode --rounds 18 --on local,ssh:a,ssh:b`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), env, allowCommands, root)
		},
	}
	cmd.Flags().BoolVar(&allowCommands, "allow-commands", false, "take studies that start commands of their own or ask URLs")
	return cmd
}

func serve(ctx context.Context, env cmdenv.Env, allowCommands bool, root func(cmdenv.Env) *cobra.Command) error {
	in := bufio.NewReader(env.In)
	order, err := fleet.ReadOrder(in)
	if err == nil {
		err = order.Check(allowCommands)
	}
	if err != nil {
		return cmdenv.Usage("refused: "+err.Error(), "")
	}
	data, err := os.MkdirTemp("", "tare-agent-")
	if err != nil {
		return fmt.Errorf("make a directory for the run: %w", err)
	}
	defer os.RemoveAll(data)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // the coordinator is gone, or does not keep to the protocol
		_, _ = io.Copy(io.Discard, io.LimitReader(in, 1))
		cancel()
	}()
	getenv := env.Getenv
	env.Getenv = func(name string) string {
		if name == "TARE_DATA" {
			return data
		}
		return getenv(name)
	}
	env.In, env.Args = strings.NewReader(order.Study), order.Args()
	run := root(env)
	run.SetArgs(env.Args)
	return run.ExecuteContext(ctx)
}
