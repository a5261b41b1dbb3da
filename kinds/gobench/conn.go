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

// conn is one trial of a suite: a process for each package in turn. A failure of one benchmark is
// an error of that benchmark, reported in its replies, and the trial continues with the others.
type conn struct {
	suite Suite
	spec  trial.Spec

	hello   wire.Request
	process *trial.Process   // nil if none is open
	pkg     string           // package the process is of
	linked  string           // binary that was linked for this trial; "" if the suite's own is used
	layout  string           // package that linked is of
	alone   *wire.Request    // prepare request of a package that needs a process per request; nil if the process stays
	counts  *wire.Reply      // what the last slice allocated, if its process is gone
	procs   int              // its GOMAXPROCS as reported
	failure *tare.TrialError // why the last prepared benchmark gives no result; nil if it does

	reported map[string]map[string]mean // what benchmarks reported by themselves: by workload and unit
	evidence tare.Evidence
}

var (
	_ trial.Conn   = (*conn)(nil)
	_ trial.Gauger = (*conn)(nil)
)

// mean is a mean that is weighted by operations.
type mean struct{ sum, ops float64 }

// Do answers hello itself; everything else is for the package's process.
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
		if len(q.Cases) == 0 { // a failure is reported by slices: an error would end the trial of all packages
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

// forward passes a request on to the package's process.
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

// failedReply returns the reply for a benchmark that gives no result.
func failedReply(why *tare.TrialError) wire.Reply {
	return wire.Reply{Counts: wire.Counts{Ops: 1, WallNS: 1, Errors: 1, Message: why.Error()}}
}

// prepareProcess makes sure that a process of the workload's package runs.
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
	if p.Alone { // the other sides prepare at the same time
		c.alone = &q
		if _, err := c.linkBinary(ctx, q.Workload.Fixture, p); err != nil {
			return c.failPrepare(ctx, err)
		}
		return wire.Reply{}, nil
	}
	return c.prepareBenchmark(ctx, q, p)
}

// prepareBenchmark prepares a benchmark in the process of package p, and starts it if there is
// none.
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

func (c *conn) failPrepare(ctx context.Context, err error) (wire.Reply, error) {
	var te *tare.TrialError
	if !errors.As(err, &te) {
		return wire.Reply{}, err
	}
	c.loseProcess(ctx, te)
	return wire.Reply{}, nil
}

// startProcess starts the process of a package, which has gone through its TestMain when it sends
// hello.
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

// linkBinary returns the binary of a package for this trial. A trial without a seed is of no study,
// and uses the binary of the build.
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

// loseProcess ends the process after a failure.
func (c *conn) loseProcess(ctx context.Context, te *tare.TrialError) {
	c.failure = te
	c.endProcess(ctx)
}

// endProcess ends the process and adds up its evidence.
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

// addReported adds the metrics that a benchmark reported by itself in one slice.
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
		c.reported[on][unit] = mean{m.sum + value*float64(a.Ops), m.ops + float64(a.Ops)}
	}
}

// Gauges returns the metrics that the benchmark reported by itself, means over the
// slices.
func (c *conn) Gauges(on string) (tare.Sample, string) {
	s := tare.Sample{}
	for unit, m := range c.reported[on] {
		s[tare.KeyReported+unit] = m.sum / m.ops
	}
	return s, ""
}

// nothing is the null contender. Between testing's clock readings there is no
// harness of ours, so there is nothing to run, and it takes no time.
type nothing struct{}

// Do answers at once.
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

// Close has nothing to end.
func (nothing) Close(context.Context) tare.Evidence { return tare.Evidence{} }
