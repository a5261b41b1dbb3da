// Package mcpcmd implements tare mcp: it serves commands of tare to a coding agent.
package mcpcmd

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/cmd/tare/internal/mcp"
)

// Command returns tare mcp. root returns all commands of tare for an environment; the tools call them.
func Command(env cmdenv.Env, root func(cmdenv.Env) *cobra.Command) *cobra.Command {
	var limits cmdenv.Limits
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve tools to a coding agent (Model Context Protocol)",
		Long: `Serve one client of the Model Context Protocol on stdin and stdout, in the
working directory. The client starts tare mcp.

These tools only read: explain, results, and gate_verdict of a kept run. These
run code or send requests, and need --allow-commands: bench, gate_verdict of a
change, json, routes and load. Loads go to servers of this machine, unless
--allow-target names others. Files of a request are below the working directory.
One command runs at a time. Errors are those of --json (tare help exit-codes).

Exit codes: 0 the client closed stdin; 1 the connection failed; 2 bad input.`,
		Example: `  tare mcp
  tare mcp --allow-commands --most-duration 5m`,
		Args: cmdenv.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := limits.Check(env); err != nil {
				return err
			}
			return serveClient(cmd.Context(), env, limits.Limits, root)
		},
	}
	limits.Add(cmd.Flags(), "offer tools that run the code of the working directory or send requests")
	return cmd
}

// serveClient serves the client at the other end of stdin and stdout until the client closes stdin
// or a signal arrives.
func serveClient(ctx context.Context, env cmdenv.Env, limits fleet.Limits, root func(cmdenv.Env) *cobra.Command) error {
	ctx, env, stop := env.CancelOnSignal(ctx, context.Canceled) // the signal also ends a running command
	defer stop()
	s, err := newServer(env, limits, root)
	if err != nil {
		return err
	}
	return s.Serve(ctx, io.NopCloser(env.In), nopCloser{env.Out})
}

func newServer(env cmdenv.Env, limits fleet.Limits, root func(cmdenv.Env) *cobra.Command) (*mcp.Server, error) {
	dirs, err := env.Dirs()
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return &mcp.Server{
		Version: cmdenv.ThisVersion().String(), Limits: limits, Dir: dir, Results: dirs.AllResults(),
		Run: func(ctx context.Context, args []string, out io.Writer) error {
			run := env // for one command: without stdin, and with out as stdout
			run.In, run.Out, run.Args = strings.NewReader(""), out, args
			cmd := root(run)
			cmd.SetArgs(args)
			return cmd.ExecuteContext(ctx)
		},
		Exit: cmdenv.ExitCode,
		Fail: func(path string, err error) []byte {
			var document bytes.Buffer
			_ = cmdenv.WriteError(&document, path, err) // writing to a buffer does not fail
			return document.Bytes()
		},
		Free: func() fleet.Free { return cmdenv.FreeOf(env) },
	}, nil
}

// nopCloser is a writer that the server does not close.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
