package loadcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/grpccall"
	quic "github.com/tarebench/tare/cmd/tare/internal/http3"
	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/relay"
	"github.com/tarebench/tare/report"
)

// This file loads one server: once, in a search for the highest rate that meets --slo, or from several
// machines.

// nothingError reports that nothing could be measured, and why.
type nothingError struct{ Why string }

func (e *nothingError) Error() string { return "nothing could be measured: " + e.Why }

// loadRun loads one server. A trial is one measurement with a number of connections and a rate.
type loadRun struct {
	*session.Session
	options   options
	url       string
	requests  []load.Request
	target    load.Target      // the relay if there is one, otherwise the server
	roundTrip time.Duration    // time to connect, plus the relay's delay; 0 if unknown
	server    *startedServer   // nil if tare did not start the server
	method    *grpccall.Method // nil for HTTP
	watched   *loadpage.Watch  // page of --watch; nil without --watch
	page      *cmdenv.Output   // file of --page
	metrics   *cmdenv.Output   // file of --metrics

	observed observer // observes the current or last trial
	software string   // Server header of the first response, for ab
	length   int64    // bytes of the first response's body, for ab
}

func loadOne(ctx context.Context, env cmdenv.Env, o options, p *session.Progress) error {
	l := &loadRun{options: o}
	var err error
	if l.page, err = cmdenv.OpenOutput(o.page); err != nil {
		return err
	}
	defer l.page.Close()
	if l.metrics, err = cmdenv.OpenOutput(o.metrics); err != nil {
		return err
	}
	defer l.metrics.Close()
	loadEnv := env
	// The session builds no contenders (programs under test), so it needs no sources.
	loadEnv.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return nil, nil }
	if o.servers[0].command == nil { // there is no process that a guardian would have to kill
		loadEnv.Lab.Guard = func(string) (*trial.Guardian, error) { return nil, nil }
	}
	return session.With(ctx, loadEnv, session.Options{NoLock: o.noLock}, p, func(ctx context.Context, w *session.Session) error {
		l.Session = w
		return l.loadServer(ctx, env)
	})
}

func (l *loadRun) loadServer(ctx context.Context, env cmdenv.Env) (err error) {
	server := l.options.servers[0]
	target := server.target
	if server.command != nil {
		if l.server, target, err = startServer(ctx, l.Session, server); err != nil {
			return err
		}
		defer l.server.Close()
	}
	l.url = target.URL
	isRemote := len(l.options.on.On) > 0
	if isRemote {
		l.target = target.ForLoad(l.options.trust) // this machine need not reach the server
	} else {
		closeRelay, err := l.connectTarget(ctx, target)
		if err != nil {
			return err
		}
		defer closeRelay()
	}
	if target.RPC {
		if l.method, l.requests, err = l.options.readCalls(ctx, target, env.In); err != nil {
			return err
		}
	} else {
		l.requests = l.options.feed.Requests
	}
	if isRemote {
		return l.onMachines(ctx, env)
	}
	if addr := l.options.watch; addr != "" {
		if l.watched, err = loadpage.Listen(addr, loadpage.Page{Document: load.Document{URL: l.url}, How: l.describeLoad()}); err != nil {
			return cmdenv.Usage("--watch: "+oneLine(err.Error()), "e.g. 127.0.0.1:8090")
		}
		defer l.watched.Close()
		l.Progress.Say("watch it at " + l.watched.URL())
	}
	if l.options.search {
		return l.runSearch(ctx)
	}
	return l.runOnce(ctx)
}

// connectTarget checks that the server accepts connections, and starts a relay if a delay or
// bandwidth is set. It sets l.target and l.roundTrip. closeRelay is never nil.
func (l *loadRun) connectTarget(ctx context.Context, t loadstudy.Target) (closeRelay func(), err error) {
	l.target = t.ForLoad(l.options.trust)
	noRelay := func() {}
	if l.options.http == http3 { // the server may not listen on TCP
		return noRelay, nil
	}
	if l.roundTrip, err = roundTrip(ctx, t.Addr, l.options.timeout); err != nil {
		if ctx.Err() != nil {
			return noRelay, cmdenv.ErrInterrupted
		}
		return noRelay, &nothingError{fmt.Sprintf("no connection to %s: %s", t.Addr, oneLine(innermostError(err)))}
	}
	if l.options.delay == 0 && l.options.bitsPerSecond == 0 {
		return noRelay, nil
	}
	r, err := relay.Listen(t.Addr, relay.Options{Delay: l.options.delay, Bandwidth: l.options.bitsPerSecond})
	if err != nil {
		return noRelay, err
	}
	l.target.Addr = r.Addr()
	l.roundTrip += l.options.delay
	return func() { r.Close() }, nil
}

// runOnce runs one trial and prints its result, also after Ctrl-C.
func (l *loadRun) runOnce(ctx context.Context) error {
	l.Progress.Say(l.describePlan())
	if l.options.preset == presetAB {
		l.fetchFirst(ctx)
	}
	r, facts, err := l.runTrial(ctx, load.Trial{Connections: l.options.connections})
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		return &nothingError{oneLine(err.Error())}
	}
	if r == nil || r.Wall == 0 { // interrupted before anything was measured
		return cmdenv.ErrInterrupted
	}
	cpu, memory := l.observed.perSecond()
	d := load.NewDocument(r, load.Documented{
		URL: l.url, Interrupted: interrupted, Facts: facts, Delay: l.options.delay, Profile: l.options.profile,
		ServerCPU: cpu, Memory: memory, SLO: l.options.slo,
	})
	l.Progress.Separate()
	if err := l.writeResult(ctx, r, d); err != nil {
		return err
	}
	switch {
	case interrupted:
		return cmdenv.Code(cmdenv.ExitInterrupted)
	case r.Requests == 0:
		why := "no request was answered"
		if r.FirstError != "" {
			why += ": " + oneLine(r.FirstError)
		}
		return &nothingError{why}
	}
	return nil
}

func (l *loadRun) writeResult(ctx context.Context, r *load.Result, d load.Document) error {
	page := loadpage.Page{Document: d, Result: r, How: l.describeLoad(), Origin: l.describeOrigin(ctx)}
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
	case l.options.asJSON:
		return cmdenv.PrintJSON(l.Out, d)
	case l.options.preset == presetAB:
		return writeAB(l.Out, newABReport(r, d, l))
	case l.options.preset == presetWrk:
		return writeWrk(l.Out, r, d)
	}
	return writeLoad(l.Out, r, d, l.Style(l.Out), l.describeLoad())
}

// describeOrigin returns when and where the load was sent. Of several machines, the page has a table.
func (l *loadRun) describeOrigin(ctx context.Context) string {
	text := l.Now().UTC().Format("2006-01-02 15:04:05 UTC")
	if isRemote := len(l.options.on.On) > 0; isRemote {
		return text
	}
	return text + ": " + report.DescribeMachine(l.Lab.Facts(ctx))
}

// Run runs one trial of a search in a new session. It is for [load.Searching].
func (l *loadRun) Run(ctx context.Context, t load.Trial) (*load.Result, load.Facts, error) {
	return l.runTrial(ctx, t)
}

// runTrial runs one trial in a new session of the load generator. After Ctrl-C it returns both the
// result so far and an error.
func (l *loadRun) runTrial(ctx context.Context, t load.Trial) (*load.Result, load.Facts, error) {
	s, err := load.Open(l.sessionOptions(t))
	if err != nil {
		return nil, load.Facts{}, err
	}
	defer s.Close()
	l.observed = observer{}
	if l.server != nil {
		l.observed.listProcesses = l.server.processIDs
	}
	phase := load.Leg{
		LeadTime: l.options.warm, Duration: l.options.duration, Seed: l.options.seed, Think: l.options.think, Hold: l.options.slo,
		Mark: l.observed.markPhase, Tick: func(tick load.Tick) { l.showSecond(t, tick) },
	}
	phase.Profile = l.profileFor(t)
	if l.options.requests > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, load.MaxDuration)
		defer cancel()
		phase.Ops = l.options.requests
		phase.Duration = 0 // ends after Ops requests, or with ctx
	}
	l.observed.findProcesses()
	if phase.LeadTime > 0 && !l.options.search {
		l.Progress.Status("warm", "warming up")
	}
	r, err := s.Run(ctx, phase)
	hasPartialResult := ctx.Err() != nil && r != nil // the user interrupted the trial
	if err != nil && !hasPartialResult {
		return nil, load.Facts{}, err
	}
	return r, l.withPath(l.observed.finalFacts(r)), err
}

func (l *loadRun) profileFor(t load.Trial) load.Profile {
	if t.Rate > 0 {
		return load.Constant{PerSecond: t.Rate}
	}
	return l.options.profile
}

func (l *loadRun) sessionOptions(t load.Trial) load.Options {
	o := load.Options{
		Target: l.target, Requests: l.requests, Connections: t.Connections, Timeout: l.options.timeout,
		Engine: load.Engine(l.options.engine), Threads: l.options.threads, Handshake: l.options.handshakeMode(),
		Protocol: l.options.chooseProtocol(), Streams: l.options.streams,
	}
	if o.Protocol == load.HTTP3 {
		o.Carry = quic.Carry(t.Connections)
	}
	if l.method != nil {
		o.Protocol, o.Verify = load.GRPC, l.verifyReply
	}
	if l.options.preset == presetAB && !l.options.keepAlive {
		o.PerConn = 1 // as ab without -k
	}
	return o
}

func (l *loadRun) withPath(f load.Facts) load.Facts {
	f.RoundTrip, f.Bandwidth, f.Think = l.roundTrip, l.options.bitsPerSecond, l.options.think
	return f
}

// innermostError returns the innermost error, which is the message of the operating system.
func innermostError(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
