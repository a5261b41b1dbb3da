package gobench

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
)

// conn is one trial: a session of measurements of the test binaries of one revision. Package lab,
// which measures, sees a single program. It sends the requests prepare (a benchmark), answer (run it
// once), slice (time some iterations) and stats (count its allocations). Only the process of the
// prepared benchmark runs. If a benchmark fails, the trial continues with the others.
type conn struct {
	suite Suite
	spec  trial.Spec

	hello      wire.Request   // sent to each process
	process    *trial.Process // nil if none runs
	processKey string         // key of the process's package, or ""
	procs      int            // GOMAXPROCS of the process

	linkedBinary string // binary linked for this trial, or ""
	linkedKey    string // key of the linked package

	failure      *tare.TrialError // why the prepared benchmark fails, or nil
	aloneRequest *wire.Request    // set if the package needs a process per request
	lastStats    *wire.Reply      // stats of its last slice, if aloneRequest is set

	reported map[string]map[string]weightedMean // values of b.ReportMetric, by workload and unit
	evidence tare.Evidence                      // sum over all processes that have ended
}

var (
	_ trial.Conn   = (*conn)(nil)
	_ trial.Gauger = (*conn)(nil)
)

type weightedMean struct{ sum, ops float64 }

// Do answers the request hello itself, and sends others to the process of the package.
func (c *conn) Do(ctx context.Context, request wire.Request) (wire.Reply, error) {
	switch request.Op {
	case wire.OpHello:
		c.hello = request
		return wire.Reply{Hello: wire.Hello{Protocol: wire.Protocol, Kind: Name, Go: c.suite.Go, GOMAXPROCS: c.suite.Procs}}, nil
	case wire.OpBye:
		return wire.Reply{}, nil
	case wire.OpPrepare:
		return c.prepareProcess(ctx, request)
	}
	hasNoCase := request.Op == wire.OpAnswer && len(request.Cases) == 0
	switch {
	case hasNoCase: // an error would end the trial of all packages
		return wire.Reply{}, nil
	case c.failure != nil:
		return c.replyFailure(request)
	case c.aloneRequest != nil:
		return c.doAlone(ctx, request)
	case c.process == nil:
		return wire.Reply{}, &tare.TrialError{Class: tare.ErrProtocol, Message: request.Op + " before prepare"}
	}
	return c.forward(ctx, request)
}

// forward sends a request to the process of the package. If the process fails, it ends the process
// and reports the failure of the benchmark.
func (c *conn) forward(ctx context.Context, request wire.Request) (wire.Reply, error) {
	reply, err := c.process.Do(ctx, request)
	var te *tare.TrialError
	if errors.As(err, &te) {
		c.loseProcess(ctx, te)
		return c.replyFailure(request)
	}
	if request.Op == wire.OpSlice {
		c.addReported(request.On, reply)
	}
	if request.Op != wire.OpAnswer {
		reply.Answers = nil
	}
	return reply, err
}

// replyFailure reports c.failure: as an error to answer, otherwise as one operation with an error.
func (c *conn) replyFailure(request wire.Request) (wire.Reply, error) {
	if request.Op == wire.OpAnswer {
		return wire.Reply{}, c.failure
	}
	return wire.Reply{Counts: wire.Counts{Ops: 1, WallNS: 1, Errors: 1, Message: c.failure.Error()}}, nil
}

// prepareProcess prepares the benchmark of a workload. If the package needs a process per request,
// it only links the binary.
func (c *conn) prepareProcess(ctx context.Context, request wire.Request) (wire.Reply, error) {
	c.failure, c.aloneRequest, c.lastStats = nil, nil, nil
	delete(c.reported, request.Workload.ID)
	pkg, ok := c.suite.Packages[request.Workload.Fixture]
	if !ok {
		return wire.Reply{Prepared: wire.Prepared{Unsupported: true}}, nil
	}
	if c.process != nil && c.processKey != request.Workload.Fixture {
		c.endProcess(ctx)
	}
	if pkg.Alone { // start no process yet: the other side prepares at the same time
		c.aloneRequest = &request
		if _, err := c.linkBinary(ctx, request.Workload.Fixture, pkg); err != nil {
			return c.failPrepare(ctx, err)
		}
		return wire.Reply{}, nil
	}
	return c.prepareBenchmark(ctx, request, pkg)
}

func (c *conn) prepareBenchmark(ctx context.Context, request wire.Request, pkg Package) (wire.Reply, error) {
	if c.process == nil {
		if err := c.startProcess(ctx, request.Workload.Fixture, pkg); err != nil {
			return c.failPrepare(ctx, err)
		}
	}
	reply, err := c.process.Do(ctx, request)
	if err != nil {
		return c.failPrepare(ctx, err)
	}
	reply.GOMAXPROCS = c.procs
	return reply, nil
}

// failPrepare records the failure of a benchmark in c.failure. It returns err if the trial itself
// failed.
func (c *conn) failPrepare(ctx context.Context, err error) (wire.Reply, error) {
	var te *tare.TrialError
	if !errors.As(err, &te) {
		return wire.Reply{}, err
	}
	c.loseProcess(ctx, te)
	return wire.Reply{}, nil
}

// startProcess starts the process of a package, which answers hello when its TestMain calls m.Run.
func (c *conn) startProcess(ctx context.Context, key string, pkg Package) error {
	spec := c.suite.trialSpec(c.spec, pkg, "-test.run=^"+pkg.Test+"$", "-test.benchmem")
	binary, err := c.linkBinary(ctx, key, pkg)
	if err != nil {
		return err
	}
	spec.Path = binary
	process, err := trial.Start(ctx, spec)
	if err != nil {
		return err
	}
	c.process, c.processKey = process, key
	reply, err := process.Do(ctx, c.hello)
	c.procs = reply.GOMAXPROCS
	return err
}

// linkBinary returns the path of a package's binary for this trial. It links one with another order
// of functions. A trial without seed belongs to no study and uses the first binary.
func (c *conn) linkBinary(ctx context.Context, key string, pkg Package) (string, error) {
	if pkg.Link == nil || c.hello.Seed == "" {
		return pkg.Binary, nil
	}
	if c.linkedKey != key {
		c.removeLinked()
		binary, err := pkg.Link.Binary(ctx, layoutSeed(c.hello.Seed, c.spec.Name, key))
		if err != nil {
			return "", err
		}
		c.linkedBinary, c.linkedKey = binary, key
	}
	return c.linkedBinary, nil
}

func (c *conn) loseProcess(ctx context.Context, te *tare.TrialError) {
	c.failure = te
	c.endProcess(ctx)
}

func (c *conn) endProcess(ctx context.Context) {
	if c.process == nil {
		return
	}
	e, sum := c.process.Close(context.WithoutCancel(ctx)), &c.evidence // also if ctx has ended
	e.CPUSeconds += sum.CPUSeconds
	e.RunQueueNS += sum.RunQueueNS
	e.StdoutBytes += sum.StdoutBytes
	e.StderrBytes += sum.StderrBytes
	e.MaxRSSBytes = max(e.MaxRSSBytes, sum.MaxRSSBytes)
	e.KilledGroup = e.KilledGroup || sum.KilledGroup
	if e.StderrTail == "" {
		e.StderrTail = sum.StderrTail
	}
	if c.procs > 0 {
		e.GOMAXPROCS = c.procs
	}
	c.evidence, c.process, c.processKey = e, nil, ""
}

func (c *conn) removeLinked() {
	if c.linkedBinary != "" {
		_ = os.Remove(c.linkedBinary)
		c.linkedBinary, c.linkedKey = "", ""
	}
}

// Close ends the process of the package, and returns the evidence of all processes of the trial.
func (c *conn) Close(ctx context.Context) tare.Evidence {
	c.endProcess(ctx)
	c.removeLinked()
	return c.evidence
}

func (c *conn) addReported(workload string, reply wire.Reply) {
	if len(reply.Answers) == 0 {
		return
	}
	var units map[string]float64
	if json.Unmarshal(reply.Answers[0].Output, &units) != nil {
		return // there are no metrics
	}
	if c.reported[workload] == nil {
		c.reported[workload] = map[string]weightedMean{}
	}
	for unit, value := range units {
		m := c.reported[workload][unit]
		c.reported[workload][unit] = weightedMean{sum: m.sum + value*float64(reply.Ops), ops: m.ops + float64(reply.Ops)}
	}
}

// Gauges returns the means of the metrics that the benchmark reported.
func (c *conn) Gauges(workload string) (tare.Sample, string) {
	s := tare.Sample{}
	for unit, m := range c.reported[workload] {
		s[tare.KeyReported+unit] = m.sum / m.ops
	}
	return s, ""
}

// nullConn is a trial of the program that does nothing, whose time is the cost of the harness. It
// is zero, because package testing reads the clock around the benchmark itself.
type nullConn struct{}

// Do returns replies with a time of 1 ns.
func (nullConn) Do(_ context.Context, request wire.Request) (wire.Reply, error) {
	switch request.Op {
	case wire.OpHello:
		return wire.Reply{Hello: wire.Hello{Protocol: wire.Protocol, Kind: Name}}, nil
	case wire.OpWarm:
		return wire.Reply{Counts: wire.Counts{Ops: 1e9, WallNS: 1}}, nil
	case wire.OpSlice, wire.OpStats:
		return wire.Reply{Counts: wire.Counts{Ops: max(1, request.Ops), WallNS: 1}}, nil
	}
	return wire.Reply{}, nil
}

// Close does nothing.
func (nullConn) Close(context.Context) tare.Evidence { return tare.Evidence{} }
