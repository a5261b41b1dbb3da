package cmdenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/pflag"

	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/internal/format"
)

// Machines contains the flags that select machines and connect them. This process is the coordinator.
// On each machine an agent (tare agent) carries out its orders. The coordinator or the user starts it.
type Machines struct {
	On     []string // ssh:HOST, local (started agents) or agent:NAME (agents that join)
	Listen string   // host:port at which agents join
	NATS   string   // NATS cluster in which coordinator and agents meet, instead of Listen
	Creds  string   // file with credentials of the cluster
	Prefix string   // prefix of NATS subjects
	Mixed  bool     // machines may have different versions of Go
	Resume bool     // resume the newest unfinished run
}

// Add adds the flags of a command that does not measure rounds; help is the help text of --on.
func (m *Machines) Add(flags *pflag.FlagSet, help string) {
	flags.StringSliceVar(&m.On, "on", nil, help)
	m.AddMeeting(flags)
}

// AddMeasuring adds the flags of a command that measures rounds.
func (m *Machines) AddMeasuring(flags *pflag.FlagSet) {
	m.Add(flags, "run on several `machines` at the same time, ssh:HOST, agent:NAME or local; each machine runs --rounds rounds, verdicts combine all machines")
	flags.BoolVar(&m.Mixed, "mixed-go", false, "with --on: compare machines although they have different versions of Go")
	flags.BoolVar(&m.Resume, "resume", false, "with --on: continue the newest unfinished run of this command")
}

// CheckResume returns an error if --resume is set without --on.
func (m *Machines) CheckResume() error {
	if m.Resume && len(m.On) == 0 {
		return Usage("--resume needs --on", "only a run on several machines keeps what it has measured")
	}
	return nil
}

// AddMeeting adds the flags by which a coordinator and its agents find each other.
func (m *Machines) AddMeeting(flags *pflag.FlagSet) {
	flags.StringVar(&m.Listen, "listen", "", "wait at `host:port` for agents, which tare agent starts on other machines; --on names them agent:NAME")
	flags.StringVar(&m.NATS, "nats", "", "meet agents in the NATS cluster at `URL`, instead of --listen")
	flags.StringVar(&m.Creds, "nats-creds", "", "`file` with credentials of that cluster")
	flags.StringVar(&m.Prefix, "fleet", fleet.DefaultPrefix, "`prefix` of subjects in that cluster: each fleet in a shared cluster needs its own")
}

// Check returns the machines of --on, or an error if the flags contradict each other.
func (m *Machines) Check() ([]fleet.Machine, error) {
	list, err := fleet.ReadMachines(m.On)
	if err != nil {
		return nil, Usage("--on: "+err.Error(), "")
	}
	joins := func(machine fleet.Machine) bool { return machine.Join }
	isStarted := func(machine fleet.Machine) bool { return !machine.Join }
	switch {
	case m.NATS != "" && m.Listen != "":
		return nil, Usage("--listen and --nats contradict each other", "agents join this address, or they meet in a cluster")
	case m.NATS == "" && m.Creds != "":
		return nil, Usage("--nats-creds needs --nats", "")
	case slices.ContainsFunc(list, joins) && m.NATS == "" && m.Listen == "":
		return nil, Usage("agents that join need a place to", "--listen HOST:PORT, or --nats URL")
	case m.NATS != "" && slices.ContainsFunc(list, isStarted):
		return nil, Usage("with --nats every machine is one that joins", "start tare agent --nats URL on each, and name them agent:NAME")
	}
	if err := fleet.CheckPrefix(m.Prefix); err != nil {
		return nil, Usage("--fleet: "+err.Error(), "")
	}
	return list, nil
}

// Fleet is an open coordinator with its machines.
type Fleet struct {
	Hub     *fleet.Hub
	Names   []string                               // names of the machines' agents
	Start   map[string]func(context.Context) error // start an agent, by name; the other agents join
	Secrets fleet.Secrets                          // certificate and tokens; only with --listen

	mu    sync.Mutex
	stops []func() // end the started agents
}

// Open starts the coordinator. The Start functions pass args to each tare agent. They report lines
// about machines by say.
func (m *Machines) Open(ctx context.Context, env Env, say func(name, line string), args ...string) (*Fleet, error) {
	list, err := m.Check()
	if err != nil {
		return nil, err
	}
	f := &Fleet{Start: map[string]func(context.Context) error{}}
	o := fleet.HubOptions{Prefix: m.Prefix, Listen: m.Listen, URL: m.NATS, Creds: m.Creds, Log: func(line string) { say("fleet", line) }}
	if m.Listen != "" {
		dirs, err := env.Dirs()
		if err != nil {
			return nil, err
		}
		if f.Secrets, err = fleet.ReadSecrets(filepath.Join(dirs.Data, "fleet")); err != nil {
			return nil, err
		}
		for _, machine := range list {
			if machine.Join && f.Secrets.Token(machine.Name) == "" {
				return nil, Usage("agent:"+machine.Name+" has no token to join with", "tare fleet --listen "+m.Listen+" --agent "+machine.Name+" makes one, and prints the line that joins")
			}
		}
		o.Cert, o.Token = f.Secrets.Cert, f.Secrets.Token
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this executable: %w", err)
	}
	s := &fleet.Starter{Self: self, Args: args, Say: say}
	if slices.ContainsFunc(list, func(machine fleet.Machine) bool { return machine.Host != "" }) {
		if s.SSH, err = exec.LookPath("ssh"); err != nil {
			return nil, fmt.Errorf("--on ssh:HOST needs the ssh program: %w", err)
		}
	}
	if f.Hub, err = fleet.Open(o); err != nil {
		return nil, err
	}
	for _, machine := range list {
		f.Names = append(f.Names, machine.Name)
		if machine.Join {
			continue
		}
		f.Start[machine.Name] = func(context.Context) error {
			stop, err := s.Start(ctx, f.Hub, machine) // with Open's ctx: the agent outlives the call
			if err == nil {
				f.mu.Lock()
				f.stops = append(f.stops, stop)
				f.mu.Unlock()
			}
			return err
		}
	}
	return f, nil
}

// Close ends the started agents, and the coordinator.
func (f *Fleet) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, stop := range f.stops {
		stop()
	}
	f.Hub.Close()
}

// FleetError converts an error of several machines. A rejected order becomes a usage error, an ended
// ctx ErrInterrupted.
func FleetError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	var refused *fleet.RefusedError
	if errors.As(err, &refused) {
		return Usage(format.Line(err.Error(), format.LineLimit), "")
	}
	return err
}
