package loadcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/grpccall"
	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/cmd/tare/internal/overquic"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/relay"
)

// errNothing says that nothing could be measured.
type errNothing struct{ Why string }

// Error is one line.
func (e *errNothing) Error() string { return "nothing could be measured: " + e.Why }

// loading is one server being loaded.
type loading struct {
	*session.Session
	o        options
	url      string
	requests []load.Request
	target   load.Target
	trip     time.Duration // to make a connection, and the relay's delay
	server   *started      // nil: it is not ours
	seen     observer
	method   *grpccall.Method // nil: HTTP
	software string           // what the server says it is; for ab
	length   int64            // bytes of its first answer's body; for ab
	watched  *loadpage.Watch  // nil: there is no page while it runs
	page     *cmdenv.Output   // of --page
	metrics  *cmdenv.Output   // of --metrics
}

// loadOne loads one server and prints what came of it.
func loadOne(ctx context.Context, env cmdenv.Env, o options, p *session.Progress) error {
	only := o.servers[0]
	page, err := cmdenv.OpenOutput(o.page)
	if err != nil {
		return err
	}
	defer page.Close()
	metrics, err := cmdenv.OpenOutput(o.metrics)
	if err != nil {
		return err
	}
	defer metrics.Close()
	var requests []load.Request
	if o.feed != nil {
		requests = o.feed.Requests
	}
	alone := env
	alone.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return nil, nil }
	if only.command == nil {
		alone.Lab.Guard = func(string) (*trial.Guardian, error) { return nil, nil }
	}
	return session.With(ctx, alone, session.Options{NoLock: o.noLock}, p, func(ctx context.Context, w *session.Session) error {
		l := &loading{Session: w, o: o, url: only.target.URL, requests: requests, page: page, metrics: metrics}
		target := only.target
		if only.command != nil {
			var err error
			if l.server, target, err = start(ctx, w, only); err != nil {
				return err
			}
			defer l.server.Close()
			l.url = target.URL
		}
		if len(o.on.On) > 0 {
			l.target = target.ForLoad(o.trust) // it need not be reached from here
		} else {
			done, err := l.reach(ctx, target)
			if err != nil {
				return err
			}
			defer done()
		}
		if target.RPC {
			if l.requests, err = l.calls(ctx, target, env.In); err != nil {
				return err
			}
		}
		if len(o.on.On) > 0 {
			return l.onMachines(ctx, env)
		}
		if o.watch != "" {
			if l.watched, err = loadpage.Listen(o.watch, loadpage.Page{Document: load.Document{URL: l.url}, How: l.how()}); err != nil {
				return cmdenv.Usage("--watch: "+format.Line(err.Error(), 0), "e.g. 127.0.0.1:8090")
			}
			defer l.watched.Close()
			p.Say("watch it at " + l.watched.URL())
		}
		if o.search {
			return l.search(ctx)
		}
		return l.once(ctx)
	})
}

// reach sees that somebody listens, and puts a relay in between where one is
// asked for.
func (l *loading) reach(ctx context.Context, t loadstudy.Target) (done func(), err error) {
	l.target = t.ForLoad(l.o.trust)
	done = func() {}
	if l.o.http == http3 { // there may be nobody to talk to over TCP
		return done, nil
	}
	if l.trip, err = roundTrip(ctx, t.Addr, l.o.timeout); err != nil {
		if ctx.Err() != nil {
			return done, cmdenv.ErrInterrupted
		}
		return done, &errNothing{fmt.Sprintf("no connection to %s: %s", t.Addr, format.Line(reason(err), 0))}
	}
	if l.o.delay == 0 && l.o.bits == 0 {
		return done, nil
	}
	r, err := relay.Listen(t.Addr, relay.Options{Delay: l.o.delay, Bandwidth: l.o.bits})
	if err != nil {
		return done, err
	}
	l.target.Addr = r.Addr()
	l.trip += l.o.delay
	return func() { r.Close() }, nil
}

// once carries one leg out and prints it.
func (l *loading) once(ctx context.Context) error {
	l.Progress.Say(l.plan())
	if l.o.preset == presetAB {
		l.introduce(ctx)
	}
	r, facts, err := l.leg(ctx, load.Trial{Connections: l.o.connections})
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		return &errNothing{format.Line(err.Error(), 0)}
	}
	if r == nil || r.Wall == 0 {
		return cmdenv.ErrInterrupted
	}
	cpu, memory := l.seen.perSecond()
	d := load.NewDocument(r, load.Documented{
		URL: l.url, Interrupted: interrupted, Facts: facts, Delay: l.o.delay, Profile: l.o.profile,
		ServerCPU: cpu, Memory: memory, SLO: l.o.slo,
	})
	l.Progress.Part()
	if err := l.print(r, d); err != nil {
		return err
	}
	switch {
	case interrupted:
		return cmdenv.Code(cmdenv.ExitInterrupted)
	case r.Requests == 0:
		why := "no request was answered"
		if r.FirstError != "" {
			why += ": " + format.Line(r.FirstError, 0)
		}
		return &errNothing{why}
	}
	return nil
}

// print prints a leg as it was asked for, and writes the files that were asked
// for.
func (l *loading) print(r *load.Result, d load.Document) error {
	page := loadpage.Page{Document: d, Result: r, How: l.how()}
	if l.watched != nil {
		l.watched.Show(page)
	}
	if err := l.page.Save(func(f io.Writer) error { return loadpage.Write(f, page) }); err != nil {
		return err
	}
	if err := l.metrics.Save(func(f io.Writer) error { return loadpage.WriteMetrics(f, d, l.Now()) }); err != nil {
		return err
	}
	switch {
	case l.o.asJSON:
		return cmdenv.PrintJSON(l.Out, d)
	case l.o.preset == presetAB:
		return writeAB(l.Out, abOf(r, d, l))
	case l.o.preset == presetWrk:
		return writeWrk(l.Out, r, d)
	}
	return writeLoad(l.Out, r, d, l.Style(l.Out), l.how())
}

// Run is one trial of a search, or the only one: a session of its own.
func (l *loading) Run(ctx context.Context, t load.Trial) (*load.Result, load.Facts, error) {
	return l.leg(ctx, t)
}

// leg opens a session and carries one leg out. There is a result beside the
// error where the leg was interrupted.
func (l *loading) leg(ctx context.Context, t load.Trial) (*load.Result, load.Facts, error) {
	s, err := load.Open(l.options(t))
	if err != nil {
		return nil, load.Facts{}, err
	}
	defer s.Close()
	l.seen = observer{server: l.server}
	leg := load.Leg{
		LeadTime: l.o.warm, Duration: l.o.duration, Seed: l.o.seed, Think: l.o.think, Hold: l.o.slo,
		Mark: l.seen.mark, Tick: func(tick load.Tick) { l.tick(t, tick) },
	}
	leg.Profile = l.profile(t)
	if l.o.requests > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, load.MaxDuration)
		defer cancel()
		leg.Ops, leg.Duration = l.o.requests, 0
	}
	l.seen.look()
	if leg.LeadTime > 0 && !l.o.search {
		l.Progress.Status("warm", "warming up")
	}
	r, err := s.Run(ctx, leg)
	if err != nil && (r == nil || ctx.Err() == nil) {
		return nil, load.Facts{}, err
	}
	return r, l.known(l.seen.facts(r)), err
}

// profile is the rate of a leg; nil: a closed loop.
func (l *loading) profile(t load.Trial) load.Profile {
	if t.Rate > 0 {
		return load.Constant{PerSecond: t.Rate}
	}
	return l.o.profile
}

// options are those of a session.
func (l *loading) options(t load.Trial) load.Options {
	o := load.Options{
		Target: l.target, Requests: l.requests, Connections: t.Connections, Timeout: l.o.timeout,
		Engine: load.Engine(l.o.engine), Threads: l.o.threads, Handshake: l.o.handshakeMode(),
		Protocol: l.o.protocol(), Streams: l.o.streams,
	}
	if o.Protocol == load.HTTP3 {
		o.Carry = overquic.Carry(cmp.Or(l.target.Host, l.target.Addr))
	}
	if l.method != nil {
		o.Protocol, o.Verify = load.GRPC, l.verify
	}
	if l.o.preset == presetAB && !l.o.keepAlive {
		o.PerConn = 1
	}
	return o
}

// known adds what is known without a look at the leg.
func (l *loading) known(f load.Facts) load.Facts {
	f.RoundTrip, f.Bandwidth, f.Think = l.trip, l.o.bits, l.o.think
	return f
}

// reason is the innermost error: what the operating system said.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
