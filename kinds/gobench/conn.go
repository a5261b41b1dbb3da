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

// conn is one trial of a suite. It runs one process at a time, for the package of the prepared
// benchmark. If a benchmark fails, the replies about that benchmark report the failure, and the trial
// continues with the others.
type conn struct {
	suite Suite
	spec  trial.Spec

	hello   wire.Request     // request of the lab, which is sent to each process
	process *trial.Process   // nil if none runs
	pkg     string           // import path of the package of the process
	linked  string           // path of the binary that was linked for this trial; "" if the suite's binary is used
	layout  string           // import path of the package of linked
	alone   *wire.Request    // prepare request of a package that needs a process per request; nil for other packages
	counts  *wire.Reply      // reply to stats for the last slice of such a package; nil before the first
	procs   int              // GOMAXPROCS that the process has reported
	failure *tare.TrialError // why the prepared benchmark has no result; nil if it works

	reported map[string]map[string]mean // metrics that benchmarks reported with b.ReportMetric, by workload and unit
	evidence tare.Evidence
}

var (
	_ trial.Conn   = (*conn)(nil)
	_ trial.Gauger = (*conn)(nil)
)

// mean is a mean sum/ops, weighted by numbers of operations.
type mean struct{ sum, ops float64 }

// Do answers hello itself and sends other requests to the process of the package.
func (c *conn) Do(ctx context.Context, q wire.Request) (wire.Reply, error) {
	switch q.Op {
	case wire.OpHello:
		c.hello = q
		return wire.Reply{Hello: wire.Hello{Protocol: wire.Protocol, Kind: Name, Go: c.suite.Go, GOMAXPROCS: c.suite.Procs}}, nil
	case wire.OpBye:
		return wire.Reply{}, nil
	case wire.OpPrepare:
		return c.prepareProcess(ctx, q)
	case wire.OpAnswer:
		if len(q.Cases) == 0 { // slices report a failure; an error of answer would end the trial of all packages
			return wire.Reply{}, nil
		}
		if c.failure != nil {
			return wire.Reply{}, c.failure
		}
	}
	if c.failure != nil {
		return failedReply(c.failure), nil
	}
	if c.alone != nil {
		return c.doAlone(ctx, q)
	}
	if c.process == nil {
		return wire.Reply{}, &tare.TrialError{Class: tare.ErrProtocol, Message: q.Op + " before prepare"}
	}
	return c.forward(ctx, q)
}

// forward sends a request to the process of the package. If the process fails, it ends the process and
// reports the failure of the benchmark.
func (c *conn) forward(ctx context.Context, q wire.Request) (wire.Reply, error) {
	a, err := c.process.Do(ctx, q)
	var te *tare.TrialError
	if errors.As(err, &te) {
		c.loseProcess(ctx, te)
		if q.Op == wire.OpAnswer {
			return wire.Reply{}, te
		}
		return failedReply(c.failure), nil
	}
	if q.Op == wire.OpSlice {
		c.addReported(q.On, a)
	}
	a.Answers = answersFor(q.Op, a.Answers)
	return a, err
}

// answersFor removes answers from replies to all operations except answer.
func answersFor(op string, answers []wire.Answer) []wire.Answer {
	if op != wire.OpAnswer {
		return nil
	}
	return answers
}

// failedReply returns the reply for a benchmark without a result: one operation with an error.
func failedReply(failure *tare.TrialError) wire.Reply {
	return wire.Reply{Counts: wire.Counts{Ops: 1, WallNS: 1, Errors: 1, Message: failure.Error()}}
}

// prepareProcess prepares the benchmark of a workload in a process of its package. If the package needs a
// process per request, it only links the binary.
func (c *conn) prepareProcess(ctx context.Context, q wire.Request) (wire.Reply, error) {
	c.failure, c.alone, c.counts = nil, nil, nil
	delete(c.reported, q.Workload.ID)
	p, ok := c.suite.Packages[q.Workload.Fixture]
	if !ok {
		return wire.Reply{Prepared: wire.Prepared{Unsupported: true}}, nil
	}
	if c.process != nil && c.pkg != q.Workload.Fixture {
		c.endProcess(ctx)
	}
	if p.Alone { // no process now: the other side of the comparison prepares at the same time
		c.alone = &q
		if _, err := c.linkBinary(ctx, q.Workload.Fixture, p); err != nil {
			return c.failPrepare(ctx, err)
		}
		return wire.Reply{}, nil
	}
	return c.prepareBenchmark(ctx, q, p)
}

// prepareBenchmark prepares a benchmark in the process of package p, and starts the process if none runs.
func (c *conn) prepareBenchmark(ctx context.Context, q wire.Request, p Package) (wire.Reply, error) {
	if c.process == nil {
		if err := c.startProcess(ctx, q.Workload.Fixture, p); err != nil {
			return c.failPrepare(ctx, err)
		}
	}
	a, err := c.process.Do(ctx, q)
	if err != nil {
		return c.failPrepare(ctx, err)
	}
	a.GOMAXPROCS = c.procs
	return a, nil
}

// failPrepare records the failure of a benchmark in c.failure, or returns err if the trial itself failed.
func (c *conn) failPrepare(ctx context.Context, err error) (wire.Reply, error) {
	var te *tare.TrialError
	if !errors.As(err, &te) {
		return wire.Reply{}, err
	}
	c.loseProcess(ctx, te)
	return wire.Reply{}, nil
}

// startProcess starts the process of a package. The process answers hello when its TestMain calls m.Run.
func (c *conn) startProcess(ctx context.Context, path string, p Package) error {
	spec := c.suite.trialSpec(c.spec, p, "-test.run=^"+p.Test+"$", "-test.benchmem")
	binary, err := c.linkBinary(ctx, path, p)
	if err != nil {
		return err
	}
	spec.Path = binary
	process, err := trial.Start(ctx, spec)
	if err != nil {
		return err
	}
	c.process, c.pkg = process, path
	a, err := process.Do(ctx, c.hello)
	c.procs = a.GOMAXPROCS
	return err
}

// linkBinary returns the path of a package's binary for this trial. It links a new one with another order
// of functions, unless the suite has no linker call or the trial does not belong to a study and so has
// no seed.
func (c *conn) linkBinary(ctx context.Context, path string, p Package) (string, error) {
	if p.Link == nil || c.hello.Seed == "" {
		return p.Binary, nil
	}
	if c.layout != path {
		c.removeLinked()
		binary, err := p.Link.Binary(ctx, layoutSeed(c.hello.Seed, c.spec.Name, path))
		if err != nil {
			return "", err
		}
		c.linked, c.layout = binary, path
	}
	return c.linked, nil
}

// loseProcess records a failure and ends the process.
func (c *conn) loseProcess(ctx context.Context, te *tare.TrialError) {
	c.failure = te
	c.endProcess(ctx)
}

// endProcess ends the process, if one runs, and adds its evidence to the trial's.
func (c *conn) endProcess(ctx context.Context) {
	if c.process == nil {
		return
	}
	e, sum := c.process.Close(context.WithoutCancel(ctx)), &c.evidence
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
	c.evidence, c.process, c.pkg = e, nil, ""
}

// removeLinked removes the binary that was linked for the trial.
func (c *conn) removeLinked() {
	if c.linked != "" {
		_ = os.Remove(c.linked)
		c.linked, c.layout = "", ""
	}
}

// Close ends the trial.
func (c *conn) Close(ctx context.Context) tare.Evidence {
	c.endProcess(ctx)
	c.removeLinked()
	return c.evidence
}

// addReported adds the metrics that a benchmark reported in one slice of workload on.
func (c *conn) addReported(on string, a wire.Reply) {
	if len(a.Answers) == 0 {
		return
	}
	var units map[string]float64
	if json.Unmarshal(a.Answers[0].Output, &units) != nil {
		return
	}
	if c.reported[on] == nil {
		c.reported[on] = map[string]mean{}
	}
	for unit, value := range units {
		m := c.reported[on][unit]
		c.reported[on][unit] = mean{sum: m.sum + value*float64(a.Ops), ops: m.ops + float64(a.Ops)}
	}
}

// Gauges returns the means over all slices of the metrics that the benchmark reported.
func (c *conn) Gauges(on string) (tare.Sample, string) {
	s := tare.Sample{}
	for unit, m := range c.reported[on] {
		s[tare.KeyReported+unit] = m.sum / m.ops
	}
	return s, ""
}

// nothing is the null contender. Package testing reads the clock around the benchmark
// itself, without code of tare in between, so the cost of the harness is zero.
type nothing struct{}

// Do returns replies with a time of 1 ns.
func (nothing) Do(_ context.Context, q wire.Request) (wire.Reply, error) {
	switch q.Op {
	case wire.OpHello:
		return wire.Reply{Hello: wire.Hello{Protocol: wire.Protocol, Kind: Name}}, nil
	case wire.OpWarm:
		return wire.Reply{Counts: wire.Counts{Ops: 1e9, WallNS: 1}}, nil
	case wire.OpSlice, wire.OpStats:
		return wire.Reply{Counts: wire.Counts{Ops: max(1, q.Ops), WallNS: 1}}, nil
	}
	return wire.Reply{}, nil
}

// Close does nothing.
func (nothing) Close(context.Context) tare.Evidence { return tare.Evidence{} }
