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

// runBench compares the two sides on this machine: it builds them, counts the instructions of each
// benchmark, times the benchmarks in rounds, and profiles those that o.profile selects.
func runBench(ctx context.Context, env cmdenv.Env, o options) error {
	p := session.NewProgress(env, o.run.Quiet)
	defer p.End()
	out, err := cmdenv.OpenOutput(o.run.Out)
	if err != nil {
		return err
	}
	defer out.Close()
	record, err := openReceipt(ctx, o)
	if err != nil {
		return err
	}
	defer record.file.Close()
	benchEnv := env
	benchEnv.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return suite.Sources{}, nil } // replaced when both sides are built
	err = session.With(ctx, benchEnv, o.run, p, func(ctx context.Context, w *session.Session) error {
		setup := benchstudy.Setup{
			Cache: w.Dirs.Cache, RunTag: w.RunTag, Guardian: w.Guardian, Procs: o.run.Procs, SliceTime: o.run.Slice, Seed: o.run.Seed,
			Say: func(text string) { p.Status("build", text) },
		}
		if o.run.User {
			setup.Budget = o.run.Budget
		}
		built, err := benchstudy.NewBench(ctx, o.request, setup)
		var usage *benchstudy.UsageError
		if errors.As(err, &usage) && usage.Nothing && o.mayBeEmpty() {
			p.Say(usage.What)
			return nil
		}
		if err != nil {
			return session.BenchError(ctx, err)
		}
		defer built.Close()
		if err := built.Count(ctx, benchstudy.Counting{Counter: o.counts, TimeLimit: w.CountsTime(o.maxTime), Callers: true}, setup); err != nil {
			return session.BenchError(ctx, err)
		}
		if o.request.Changed && !o.all {
			built.SkipSame()
		}
		const single = true                  // there is one study, so JSON output is one document, not a list
		if len(built.Study.Workloads) == 0 { // the counts have decided all benchmarks
			p.Fail(w.Keep(built.UntimedResult()))
			return w.Finish(out, single)
		}
		if err := w.FitBench(built, o.maxTime); err != nil {
			return session.BenchError(ctx, err)
		}
		study := built.Study
		if o.run.ExitCode {
			study.Criteria = o.exitCriteria()
		}
		w.Lab.Run = o.newRun(env, p, built, setup)
		w.Sources = built.Sources
		err = w.WeighAll(ctx, []cmdenv.Study{{Study: study}}, p.Fail)
		if errFinish := w.Finish(out, single); err == nil {
			err = errFinish
		}
		if err == nil {
			err = record.write(ctx, w)
		}
		return err
	})
	if err != nil {
		return err
	}
	return p.Outcome()
}

// newRun returns the function that runs a study and completes its result with counts, notes and profiles.
func (o options) newRun(env cmdenv.Env, p *session.Progress, built *benchstudy.Bench, setup benchstudy.Setup) func(context.Context, tare.Study, lab.Options) (*tare.Result, error) {
	return func(ctx context.Context, study tare.Study, labOptions lab.Options) (*tare.Result, error) {
		res, err := env.Lab.Run(ctx, study, labOptions)
		if res != nil {
			built.Finish(res)
			setup.Say, setup.Dir = func(text string) { p.Status("profile", text) }, labOptions.Dir
			built.Explain(ctx, res, benchstudy.Profile(o.profile), setup)
		}
		return res, err
	}
}

// planBench prints what runBench would do.
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

// mayBeEmpty reports whether the user's selection may contain no benchmark: an unchanged package has
// none for --changed, and a small suite none for a part of --shard. Otherwise this is an error.
func (o options) mayBeEmpty() bool { return o.request.Changed || o.request.Shard.Of > 1 }

// exitCriteria returns the criterion of --exit-code: head takes at most 1 + o.allow times the time of
// base.
func (o options) exitCriteria() []tare.Criterion {
	return []tare.Criterion{{
		Contender: benchstudy.Head,
		Metric:    benchstudy.Metrics()[0],
		Ratio:     "<= " + strconv.FormatFloat(1+o.allow, 'g', 6, 64),
	}}
}
