package loadcmd

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// This file loads one server from the machines of --on. For example, of 300 connections each of three
// machines opens 100.

func (o *options) checkMachines() error {
	machines, err := o.on.Check()
	switch {
	case err != nil:
		return err
	case o.http == http3:
		return cmdenv.Usage("--on speaks HTTP/1.1, HTTP/2 and gRPC", "HTTP/3 is for one machine")
	case o.connections < len(machines):
		return cmdenv.Usage(fmt.Sprintf("%s for %d machines", format.Count(o.connections, "connection"), len(machines)), "-c is for all together")
	}
	return nil
}

// shareOrders divides the load into one order per machine, with connections as evenly as possible.
// Each order has the rate of all machines together. A machine computes its part of the rate.
func (l *loadRun) shareOrders(machines int) []fleet.LoadOrder {
	t := l.options.servers[0].target
	var out []fleet.LoadOrder
	for i := range machines {
		connections := l.options.connections / machines
		if i < l.options.connections%machines {
			connections++ // the first machines take the rest of the division
		}
		options := l.sessionOptions(load.Trial{Connections: connections})
		out = append(out, fleet.LoadOrder{
			Target:   fleet.Target{Addr: t.Addr, Host: t.Host, Name: t.Name, Insecure: l.options.trust.Insecure, Roots: l.options.trust.PEM, Version: l.options.trust.Version},
			Requests: l.requests, Protocol: options.Protocol, Engine: options.Engine, Handshake: options.Handshake,
			Connections: connections, Streams: options.Streams, Threads: options.Threads, Timeout: options.Timeout,
			Warm: l.options.warm, Duration: l.options.duration, Think: l.options.think, Rate: l.options.rate, Hold: l.options.slo, Seed: l.options.seed, Index: i, Of: machines,
		})
	}
	return out
}

func (l *loadRun) onMachines(ctx context.Context, env cmdenv.Env) error {
	target := l.options.servers[0].target
	say := func(machine, line string) { l.Progress.Say(machine + ": " + line) }
	f, err := l.options.on.Open(ctx, env, say, "--allow-target="+target.Addr)
	if err != nil {
		return err
	}
	defer f.Close()
	l.Progress.Say(fmt.Sprintf("%s, from %s", l.describePlan(), format.Count(len(f.Names), "machine")))
	seconds := &secondMerger{machines: f.Names, seconds: map[time.Duration]map[string]load.Second{}}
	showSecond := func(name string, s load.Second) {
		if text, lines := seconds.addSecond(name, s); text != "" {
			l.Progress.Panel("load", text, countSeconds(s.At), int(l.options.duration.Seconds()), func(int, int) []string { return lines })
		}
	}
	run := &fleet.LoadRun{Hub: f.Hub, Machines: f.Names, Orders: l.shareOrders(len(f.Names)), Start: f.Start, Say: say, Tick: showSecond}
	reports, err := run.Run(ctx)
	if err != nil {
		return cmdenv.FleetError(ctx, err)
	}
	r, facts, generators := l.mergeReports(reports)
	switch {
	case r == nil && ctx.Err() != nil:
		return cmdenv.ErrInterrupted
	case r == nil:
		return &nothingError{"no machine sent anything: " + generators[0].Lost}
	}
	d := load.NewDocument(r, load.Documented{
		URL: l.url, Interrupted: ctx.Err() != nil, Facts: l.withPath(facts), Profile: l.options.profile, SLO: l.options.slo, Generators: generators,
	})
	l.Progress.Separate()
	if err := l.writeResult(ctx, r, d); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return cmdenv.Code(cmdenv.ExitInterrupted)
	}
	if r.Requests == 0 {
		return &nothingError{"no request was answered: " + oneLine(r.FirstError)}
	}
	return nil
}

// mergeReports returns the result and the facts of all machines together, and those of each machine.
// The result is nil if no machine has one.
func (l *loadRun) mergeReports(reports []fleet.Generated) (*load.Result, load.Facts, []load.Generator) {
	var results []*load.Result
	var generators []load.Generator
	all := load.Facts{}
	for _, m := range reports {
		g := load.Generator{
			Name: m.Name, Result: m.Loaded.Result, Facts: l.withPath(load.Facts{ClientCores: m.Loaded.Cores}),
			Offset: m.Clock.Offset, Uncertain: m.Clock.Uncertain, Drift: m.Drift,
		}
		if m.Error != nil {
			g.Lost = m.Error.Error()
		}
		if g.Result != nil {
			results = append(results, g.Result)
			all.ClientCores += m.Loaded.Cores
		}
		generators = append(generators, g)
	}
	return load.Merge(results), all, generators
}

// secondMerger merges the seconds that machines report while they send requests.
type secondMerger struct {
	machines []string // all names
	mu       sync.Mutex
	seconds  map[time.Duration]map[string]load.Second // incomplete seconds, by time and machine
}

// addSecond records a second of one machine. When all machines have reported it, text is a line
// about all together, and lines has that line and one for each machine. Until then it returns "" and
// nil.
func (t *secondMerger) addSecond(name string, s load.Second) (text string, lines []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seconds[s.At] == nil {
		t.seconds[s.At] = map[string]load.Second{}
	}
	t.seconds[s.At][name] = s
	if len(t.seconds[s.At]) < len(t.machines) {
		return "", nil
	}
	var all []*load.Result
	for _, name := range t.machines {
		second := t.seconds[s.At][name]
		all = append(all, &load.Result{Timeline: []load.Second{second}})
		lines = append(lines, fmt.Sprintf("  %-16s %s", name, formatSecond(second)))
	}
	for start := range t.seconds { // drop this second, and earlier ones that a machine has not reported
		if start <= s.At {
			delete(t.seconds, start)
		}
	}
	merged := load.Merge(all).Timeline[0]
	text = fmt.Sprintf("%d s: %s", countSeconds(s.At), formatSecond(merged))
	return text, slices.Insert(lines, 0, text)
}

func (p *loadPage) writeGenerators() {
	if len(p.document.Generators) == 0 {
		return
	}
	p.writeHeading("LOAD GENERATORS")
	fmt.Fprintf(&p.b, "  %-16s  %9s  %11s  %9s  %9s  %12s  %s\n", "machine", "asked /s", "answered /s", "p50 ms", "p99 ms", "clock ms", "limit")
	for _, g := range p.document.Generators {
		rate, limit := "–", g.Limit
		if g.RateAsked > 0 {
			rate = loadpage.FormatRate(g.RateAsked)
		}
		if g.Lost != "" {
			limit = "lost: " + format.Line(g.Lost, 80)
		}
		fmt.Fprintf(&p.b, "  %-16s  %9s  %11s  %9s  %9s  %+7.2f±%-4.2f  %s\n", format.Line(g.Name, 40), rate, loadpage.FormatRate(g.RequestsPerSecond),
			loadpage.FormatDecimal(float64(g.P50)/1e6, 3), loadpage.FormatDecimal(float64(g.P99)/1e6, 3), float64(g.ClockOffset)/1e6, float64(g.ClockUncertain)/1e6, limit)
	}
}
