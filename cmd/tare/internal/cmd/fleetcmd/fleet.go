// Package fleetcmd implements tare fleet: it lists the connected agents. An agent is a tare on another
// machine that runs measurements for a coordinator such as tare run --on.
package fleetcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report"
)

type options struct {
	machines cmdenv.Machines
	wait     time.Duration // how long agents may take to join
	asJSON   bool
	names    []string // --agent: names of agents that get a token to join with
}

// Command returns tare fleet.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "List the agents that joined, or print the command that starts one",
		Long: `List the agents that joined, with their machines and what they do.

With --listen it listens at that address for the duration of --wait. For each
--agent it prints the command with which an agent of that name joins. The
certificate, and a token for each name, are created on first use and stored in
the data directory. To exclude an agent, delete the file of its token. Agents
that were started with that command join every later tare run and tare load that
listens at the same address. With --nats it uses a NATS cluster.

Exit codes: 0 shown, even if there are none; 1 it could not listen or connect; 2
bad input.`,
		Example: `  tare fleet --listen 10.0.0.1:4222 --agent rack-7 --agent rack-8
  tare fleet --listen 10.0.0.1:4222
  tare fleet --nats nats://10.0.0.2:4222 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return showAgents(cmd.Context(), env, o) },
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	o.machines.AddMeeting(cmd.Flags())
	cmd.Flags().StringSliceVar(&o.names, "agent", nil, "with --listen: give an agent of that `name` a token, and print the command with which it joins; repeatable")
	cmd.Flags().DurationVar(&o.wait, "wait", 5*time.Second, "how long to wait for agents to join")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print a JSON document")
}

func (o *options) check() error {
	switch {
	case o.machines.Listen == "" && o.machines.NATS == "":
		return cmdenv.Usage("tare fleet needs --listen or --nats", "--listen HOST:PORT or --nats URL")
	case o.machines.Listen == "" && len(o.names) > 0:
		return cmdenv.Usage("--agent needs --listen", "in a cluster of NATS, its operator gives each agent credentials")
	case o.wait < 0 || o.wait > time.Hour:
		return cmdenv.Usage(fmt.Sprintf("--wait %v is out of bounds", o.wait), "0s to 1h")
	}
	for _, name := range o.names {
		if err := fleet.CheckName(name); err != nil {
			return cmdenv.Usage("--agent: "+err.Error(), "")
		}
	}
	return nil
}

func showAgents(ctx context.Context, env cmdenv.Env, o options) error {
	if err := o.check(); err != nil {
		return err
	}
	f, err := o.machines.Open(ctx, env, func(name, line string) { fmt.Fprintf(env.Err, "%s: %s\n", name, report.Legible(line)) })
	if err != nil {
		return err
	}
	defer f.Close()
	for _, name := range o.names {
		if err := f.Secrets.MakeToken(name); err != nil {
			return err
		}
		fmt.Fprintf(env.Err, "%[1]s joins by: tare agent --join %[2]s --fingerprint %[3]s --name %[1]s --token-file TOKEN\nTOKEN is a copy of %[4]s\n", name, f.Hub.Addr(), f.Secrets.Fingerprint, f.Secrets.TokenFile(name))
	}
	select {
	case <-ctx.Done():
		return cmdenv.ErrInterrupted
	case <-time.After(o.wait):
	}
	agents := f.Hub.Agents()
	if o.asJSON {
		if agents == nil {
			agents = []fleet.Hello{} // in JSON [], not null
		}
		return cmdenv.PrintJSON(env.Out, agents)
	}
	return writeAgents(env.Out, agents)
}

func writeAgents(w io.Writer, agents []fleet.Hello) error {
	if len(agents) == 0 {
		_, err := fmt.Fprintln(w, "no agent joined")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "agent\tmachine\tGo\tload\tdoes")
	for _, a := range agents {
		load := "not known"
		if a.Load >= 0 {
			load = fmt.Sprintf("%.1f of %s", a.Load, format.Count(a.CPUs, "processor"))
		}
		// The texts come from the agent, so they are cut to one short line.
		task, release := format.Line(cmp.Or(a.Doing, "nothing"), 80), format.Line(cmp.Or(a.Go, "none"), 80)
		fmt.Fprintf(t, "%s\t%s/%s\t%s\t%s\t%s\n", a.Name, format.Line(a.OS, 20), format.Line(a.Arch, 20), release, load, task)
	}
	return t.Flush()
}
