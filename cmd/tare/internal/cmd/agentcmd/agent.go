// Package agentcmd implements tare agent, which runs measurements on this machine. A coordinator, a
// tare on another machine, sends orders and gets their results.
package agentcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
)

type options struct {
	stdio     bool       // the coordinator is at the other end of stdin and stdout
	join      fleet.Join // a coordinator at an address, or a NATS cluster
	tokenFile string
	name      string // "" means the host's name
	prefix    string // prefix of subjects in the NATS cluster
	limits    cmdenv.Limits
}

// Command returns tare agent. root returns the tree of commands that run orders.
func Command(env cmdenv.Env, root func(cmdenv.Env) *cobra.Command) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Run work for tare on another machine",
		Long: `Run work for tare on another machine, the coordinator: rounds of a study (tare
run --on, and --on of bench, json, routes and gate), or a share of a load (tare
load --on). An agent does one order at a time.

tare run --on ssh:HOST starts an agent on the host and stops it. Start an agent
yourself where SSH does not reach: with --join it connects to the coordinator
that listens there, and waits until there is one; tare fleet --listen ADDR
--agent NAME prints the command. With --nats it connects to a NATS cluster.

An agent opens no port. It builds contenders itself: those of TARE_CATALOG, or of
the repository in which it was started, else the built-in ones. It stores builds
and the files it received for them, but no results. Unless flags permit it, it
rejects orders that bring code to run (tare bench, tare gate, tare json --type,
studies with commands or URLs, modules in other versions than releases), and
loads only servers of this machine. It ends an order if the coordinator is away
for ten minutes.

Exit codes: 0 stopped; 1 could not connect; 2 bad input, or a coordinator that it
rejects.`,
		Example: `  tare agent --join lab.example:4222 --fingerprint 3f…9a --token-file token
  tare agent --join lab.example:4222 --fingerprint 3f…9a --token-file token --allow-target 'shop.example:443' --most-rate 5000
  tare agent --nats nats://10.0.0.2:4222 --nats-creds agent.creds --name rack-7`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.runAgent(cmd.Context(), env, root) },
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	coordinator := cmdenv.NewFlags("Coordinator")
	coordinator.Set.StringVar(&o.join.Addr, "join", "", "join the coordinator at `host:port`")
	coordinator.Set.StringVar(&o.join.Fingerprint, "fingerprint", "", "`SHA-256` of that coordinator's certificate")
	coordinator.Set.StringVar(&o.tokenFile, "token-file", "", "`file` with the token for the name of this agent")
	coordinator.Set.StringVar(&o.join.URL, "nats", "", "join the NATS cluster at `URL`")
	coordinator.Set.StringVar(&o.join.Creds, "nats-creds", "", "`file` with credentials of that cluster")
	coordinator.Set.StringVar(&o.prefix, "fleet", fleet.DefaultPrefix, "`prefix` of subjects in that cluster")
	coordinator.Set.StringVar(&o.name, "name", "", "`name` of this agent; default: that of the host")
	coordinator.Set.BoolVar(&o.stdio, "stdio", false, "talk to the coordinator on stdin and stdout, as tare run --on starts it")
	limits := cmdenv.NewFlags("Limits")
	o.limits.Add(limits.Set, "accept orders that bring code to run: benchmarks, types, and studies with commands or URLs")
	cmdenv.AddFlags(cmd, coordinator, limits)
}

func (o *options) check(env cmdenv.Env) error {
	coordinators := 0
	for _, isSet := range []bool{o.stdio, o.join.Addr != "", o.join.URL != ""} {
		if isSet {
			coordinators++
		}
	}
	if coordinators != 1 {
		return cmdenv.Usage("an agent has one coordinator", "--join HOST:PORT or --nats URL; tare run --on ssh:HOST starts agents by itself")
	}
	if err := fleet.CheckPrefix(o.prefix); err != nil {
		return cmdenv.Usage("--fleet: "+err.Error(), "")
	}
	return o.limits.Check(env)
}

// runAgent serves one coordinator until a signal arrives. With --stdio it also returns when the
// connection ends. Over the network it waits for the coordinator to come back.
func (o *options) runAgent(ctx context.Context, env cmdenv.Env, root func(cmdenv.Env) *cobra.Command) error {
	err := o.check(env)
	if err != nil {
		return err
	}
	if env, err = withAgentDirs(env); err != nil {
		return err
	}
	ctx, env, stop := env.CancelOnSignal(ctx, errStopped) // an order ends with the agent
	defer stop()
	a := o.newAgent(env, root)
	if o.stdio {
		if err := a.ServePipe(ctx, env.In, env.Out); err != nil && ctx.Err() == nil {
			return cmdenv.UsageOf(err, "")
		}
		return nil
	}
	if err := o.completeJoin(); err != nil {
		return err
	}
	a.Hello.Name = o.name
	err = a.ServeJoined(ctx, o.join)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (o *options) newAgent(env cmdenv.Env, root func(cmdenv.Env) *cobra.Command) *fleet.Agent {
	a := &fleet.Agent{Prefix: o.prefix, Limits: o.limits.Limits, Load: machine.LoadAverage}
	a.Study = func(ctx context.Context, order fleet.StudyOrder, t fleet.Task) ([]byte, error) {
		return runOrder(ctx, env, root, order, t)
	}
	a.Free = func() fleet.Free { return cmdenv.FreeOf(env) }
	a.Claim = func(ctx context.Context) (func(), error) { return claimMachine(ctx, env) }
	a.Hello = fleet.Hello{Version: cmdenv.ThisVersion().String(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()}
	if !o.stdio { // otherwise the coordinator has its own log
		a.Log = func(line string) { fmt.Fprintf(env.Err, "%s %s\n", env.Now().UTC().Format(time.RFC3339), line) }
	}
	return a
}

func (o *options) completeJoin() error {
	if o.name == "" {
		host, _ := os.Hostname() // after an error the name is "", which CheckName rejects
		o.name, _, _ = strings.Cut(host, ".")
	}
	if err := fleet.CheckName(o.name); err != nil {
		return cmdenv.Usage("--name: "+err.Error(), "")
	}
	if o.join.Addr == "" {
		return nil
	}
	var err error
	o.join.Token, err = fleet.ReadToken(o.tokenFile)
	switch {
	case o.tokenFile == "" || err != nil:
		return cmdenv.Usage("--join needs --token-file: "+formatReason(err), "tare fleet --listen ADDR --agent NAME prints the line that joins")
	case len(o.join.Fingerprint) != 64 || strings.Trim(o.join.Fingerprint, "0123456789abcdef") != "":
		return cmdenv.Usage("--join needs --fingerprint, 64 hexadecimal digits", "tare fleet --listen ADDR --agent NAME prints the line that joins")
	}
	return nil
}

// errStopped ends orders when the user stops the agent.
var errStopped = errors.New("the agent was stopped")

// formatReason returns why a token cannot be read. nil means that no file was set.
func formatReason(err error) string {
	if err == nil {
		return "it is not given"
	}
	return format.Line(cmdenv.Cause(err).Error(), format.LineLimit)
}

// claimMachine locks the machine for measuring. If another tare has the lock, it returns an error
// that names the holder. It does not wait, because the holder may be the coordinator, which waits
// for this agent.
func claimMachine(ctx context.Context, env cmdenv.Env) (release func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	release, err = machine.LockHost(ctx, env.HostLock(), func(holder string) { // called before waiting
		cancel(fmt.Errorf("another tare measures on this machine: %s", format.Line(holder, 200)))
	})
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return func() {}, nil // this system has no such lock; tare run records that in the result
	case err != nil && context.Cause(ctx) != nil:
		err = context.Cause(ctx)
	}
	return release, err
}
