// Package fleetcmd is tare fleet: it shows the agents that are there.
package fleetcmd

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/internal/format"
)

// Command is tare fleet.
func Command(env cmdenv.Env) *cobra.Command {
	var m cmdenv.Machines
	var wait time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Show the agents that joined",
		Long: `Show the agents that joined: what machine each is on, and what it does.

With --listen it listens there for as long as --wait says, and prints the line
that has an agent join: the certificate and the token are made on first use and
kept in the data directory. Agents that were started with that line join every
later tare run and tare load that listens at the same address. With --nats it
asks a cluster.

Exit codes: 0 shown, even if there are none; 1 it could not listen or connect; 2
bad input.`,
		Example: `  tare fleet --listen 10.0.0.1:4222
  tare fleet --nats nats://10.0.0.2:4222 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return show(cmd.Context(), env, m, wait, asJSON) },
	}
	m.AddMeeting(cmd.Flags())
	cmd.Flags().DurationVar(&wait, "wait", 5*time.Second, "for agents to join")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one document")
	return cmd
}

func show(ctx context.Context, env cmdenv.Env, m cmdenv.Machines, wait time.Duration, asJSON bool) error {
	switch {
	case m.Listen == "" && m.NATS == "":
		return cmdenv.Usage("tare fleet needs --listen or --nats", "--listen HOST:PORT or --nats URL")
	case wait < 0 || wait > time.Hour:
		return cmdenv.Usage(fmt.Sprintf("--wait %v is out of bounds", wait), "0s to 1h")
	}
	f, err := m.Open(ctx, env, func(name, line string) { fmt.Fprintf(env.Err, "%s: %s\n", name, line) })
	if err != nil {
		return err
	}
	defer f.Close()
	if addr := f.Hub.Addr(); addr != "" {
		fmt.Fprintf(env.Err, "an agent joins by: tare agent --join %s --fingerprint %s --token-file TOKEN\nTOKEN is a copy of %s\n", addr, f.Secrets.Fingerprint, f.Secrets.TokenFile)
	}
	select {
	case <-ctx.Done():
		return cmdenv.ErrInterrupted
	case <-time.After(wait):
	}
	agents := f.Hub.Agents()
	if asJSON {
		if agents == nil {
			agents = []fleet.Hello{}
		}
		return cmdenv.PrintJSON(env.Out, agents)
	}
	return write(env.Out, agents)
}

// write writes a line for each agent.
func write(w io.Writer, agents []fleet.Hello) error {
	if len(agents) == 0 {
		_, err := fmt.Fprintln(w, "no agent joined")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "agent\tmachine\tGo\tload\tdoes")
	for _, a := range agents {
		load, does, goes := "not known", "nothing", a.Go
		if a.Load >= 0 {
			load = fmt.Sprintf("%.1f of %s", a.Load, format.Count(a.CPUs, "processor"))
		}
		if a.Doing != "" {
			does = a.Doing
		}
		if goes == "" {
			goes = "none"
		}
		for _, s := range []*string{&does, &goes} {
			*s = format.Line(*s, 80)
		}
		fmt.Fprintf(t, "%s\t%s/%s\t%s\t%s\t%s\n", a.Name, format.Line(a.OS, 20), format.Line(a.Arch, 20), goes, load, does)
	}
	return t.Flush()
}
