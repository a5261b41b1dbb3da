package bench

import (
	"context"
	"errors"
	"strconv"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/dryrun"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/lab"
)

// benchRun is a run of tare bench on this machine.
type benchRun struct {
	o      options
	lab    cmdenv.Lab // functions of the caller, which timeBenchmarks wraps
	p      *session.Progress
	out    *cmdenv.Output // file of -o
	record record
}

func runBench(ctx context.Context, env cmdenv.Env, o options) error {
	r := &benchRun{o: o, lab: env.Lab, p: session.NewProgress(env, o.run.Quiet)}
	defer r.p.End()
	var err error
	if r.out, err = cmdenv.OpenOutput(o.run.Out); err != nil {
		return err
	}
	defer r.out.Close()
	if r.record, err = openReceipt(ctx, o); err != nil {
		return err
	}
	defer r.record.file.Close()
	// The session requires sources of programs. timeBenchmarks replaces them later.
	env.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return suite.Sources{}, nil }
	if err := session.With(ctx, env, o.run, r.p, r.compareSides); err != nil {
		return err
	}
	return r.p.Outcome()
}

// compareSides builds both sides and counts instructions. It times what the counts have not decided.
func (r *benchRun) compareSides(ctx context.Context, w *session.Session) error {
	setup := benchstudy.Setup{
		Cache: w.Dirs.Cache, RunTag: w.RunTag, Guardian: w.Guardian, Procs: r.o.run.Procs, SliceTime: r.o.run.Slice, Seed: r.o.run.Seed,
		Say: func(text string) { r.p.Status("build", text) },
	}
	if r.o.run.User {
		setup.Budget = r.o.run.Budget
	}
	b, err := benchstudy.NewBench(ctx, r.o.request, setup)
	var usage *benchstudy.UsageError
	if errors.As(err, &usage) && usage.Nothing && r.o.mayBeEmpty() {
		r.p.Say(usage.What)
		if r.record.sides != nil {
			r.p.Say("no receipt: nothing was measured")
		}
		return nil
	}
	if err != nil {
		return session.BenchError(ctx, err)
	}
	defer b.Close()
	skipsSame := r.o.request.Changed && !r.o.all
	counting := benchstudy.Counting{Counter: r.o.counts, Callers: true, SkipsSame: skipsSame}
	counting.TimeLimit = w.CountsTime(b, r.o.maxTime, counting)
	if err := b.Count(ctx, counting, setup); err != nil {
		return session.BenchError(ctx, err)
	}
	if skipsSame {
		b.SkipSame() // skips benchmarks with the same code and the same count of instructions
	}
	if len(b.Study.Workloads) == 0 { // the counts have decided all benchmarks
		r.p.Fail(w.KeepUntimed(ctx, b.Study, b.UntimedResult()))
		if err := w.Finish(r.out, single); err != nil {
			return err
		}
		return r.record.write(ctx, w)
	}
	return r.timeBenchmarks(ctx, w, b, setup)
}

// single is the argument of Finish for one study: JSON output is one document, not a list.
const single = true

func (r *benchRun) timeBenchmarks(ctx context.Context, w *session.Session, b *benchstudy.Bench, setup benchstudy.Setup) error {
	if err := w.FitBench(b, r.o.maxTime); err != nil {
		return session.BenchError(ctx, err)
	}
	study := b.Study
	if r.o.run.ExitCode {
		study.Criteria = r.o.exitCriteria()
	}
	profiledRows := benchstudy.Profile(r.o.profile)
	w.Lab.Run = func(ctx context.Context, study tare.Study, labOptions lab.Options) (*tare.Result, error) {
		res, err := r.lab.Run(ctx, study, labOptions)
		if res != nil {
			b.Finish(res)
			setup.Say = func(text string) { r.p.Status("profile", text) }
			setup.Dir = labOptions.Dir
			b.Explain(ctx, res, profiledRows, setup)
		}
		return res, err
	}
	w.Sources = b.Sources
	err := w.MeasureAll(ctx, []cmdenv.Study{{Study: study}}, func(err error) {
		if b.SkipTimes(err) {
			err = w.KeepUntimed(ctx, b.Study, b.UntimedResult())
		}
		r.p.Fail(err)
	})
	if errFinish := w.Finish(r.out, single); err == nil {
		err = errFinish
	}
	if err != nil {
		return err
	}
	return r.record.write(ctx, w)
}

func planBench(ctx context.Context, env cmdenv.Env, o options) error {
	p, err := dryrun.New(env, "tare bench", o.run)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.AddBench(ctx, o.request, o.maxTime); err != nil {
		return session.BenchError(ctx, err)
	}
	p.AddFile(o.receipt, "the receipt")
	return p.Print()
}

// mayBeEmpty reports whether a selection without a benchmark is no error. A change may affect none, and
// a part of a small suite may have none.
func (o options) mayBeEmpty() bool { return o.request.Changed || o.request.Shard.Of > 1 }

func (o options) exitCriteria() []tare.Criterion {
	return []tare.Criterion{{
		Contender: benchstudy.Head,
		Metric:    benchstudy.Metrics()[0],
		Ratio:     "<= " + strconv.FormatFloat(1+o.allow, 'g', 6, 64),
	}}
}
