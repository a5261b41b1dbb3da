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
		place := benchstudy.Setup{
			Cache: w.Dirs.Cache, RunTag: w.RunTag, Guardian: w.Guardian, Procs: o.run.Procs, SliceTime: o.run.Slice, Seed: o.run.Seed,
			Say: func(text string) { p.Status("build", text) },
		}
		if o.run.User {
			place.Budget = o.run.Budget
		}
		b, err := benchstudy.NewBench(ctx, o.request, place)
		var usage *benchstudy.UsageError
		if errors.As(err, &usage) && usage.Nothing && o.mayBeEmpty() {
			p.Say(usage.What)
			return nil
		}
		if err != nil {
			return session.BenchError(ctx, err)
		}
		defer b.Close()
		if err := b.Count(ctx, benchstudy.Counting{Counter: o.counts, TimeLimit: w.CountsTime(o.maxTime), Callers: true}, place); err != nil {
			return session.BenchError(ctx, err)
		}
		if o.request.Changed && !o.all {
			b.SkipSame()
		}
		const single = true              // there is one study, so JSON output is one document, not a list
		if len(b.Study.Workloads) == 0 { // the counts have decided all benchmarks
			p.Fail(w.Keep(b.UntimedResult()))
			return w.Finish(out, single)
		}
		if err := w.FitBench(b, o.maxTime); err != nil {
			return session.BenchError(ctx, err)
		}
		study := b.Study
		if o.run.ExitCode {
			study.Criteria = o.exitCriteria()
		}
		profiledRows := benchstudy.Profile(o.profile)
		w.Lab.Run = func(ctx context.Context, study tare.Study, labOptions lab.Options) (*tare.Result, error) {
			res, err := env.Lab.Run(ctx, study, labOptions)
			if res != nil {
				b.Finish(res)
				place.Say = func(text string) { p.Status("profile", text) }
				place.Dir = labOptions.Dir
				b.Explain(ctx, res, profiledRows, place)
			}
			return res, err
		}
		w.Sources = b.Sources
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
