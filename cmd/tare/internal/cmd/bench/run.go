package bench

import (
	"context"
	"errors"
	"strconv"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/lab"
)

// runBench compares the two sides on this machine.
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
	alone := env
	alone.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return suite.Sources{}, nil } // set when both sides are built
	err = session.With(ctx, alone, o.run, p, func(ctx context.Context, w *session.Session) error {
		place := benchstudy.Place{
			Cache: w.Dirs.Cache, Run: w.RunTag, Guardian: w.Guardian, Procs: o.run.Procs, Slice: o.run.Slice,
			Say: func(text string) { p.Status("build", text) },
		}
		if o.run.User {
			place.Budget = o.run.Budget
		}
		b, err := benchstudy.NewBench(ctx, o.asked, place)
		var usage *benchstudy.UsageError
		if errors.As(err, &usage) && usage.Nothing && (o.asked.Changed || o.asked.Shard.Of > 1) {
			p.Say(usage.What)
			return nil
		}
		if err != nil {
			return session.BenchError(ctx, err)
		}
		defer b.Close()
		if err := b.Count(ctx, o.counts, place, w.CountsTime(o.maxTime)); err != nil {
			return session.BenchError(ctx, err)
		}
		if o.asked.Changed && !o.all {
			b.SkipSame()
		}
		if len(b.Study.Workloads) == 0 {
			p.Fail(w.Keep(b.Untimed()))
			return w.Finish(out, true)
		}
		if err := w.FitBench(b, o.maxTime); err != nil {
			return session.BenchError(ctx, err)
		}
		study := b.Study
		if o.run.ExitCode {
			study.Criteria = o.exitCriteria()
		}
		profiled := benchstudy.Profile(o.profile)
		w.Lab.Run = func(ctx context.Context, study tare.Study, o lab.Options) (*tare.Result, error) {
			res, err := env.Lab.Run(ctx, study, o)
			if res != nil {
				b.Finish(res)
				place.Say, place.Dir = func(text string) { p.Status("profile", text) }, o.Dir
				b.Explain(ctx, res, profiled, place)
			}
			return res, err
		}
		w.Sources = b.Sources
		err = w.WeighAll(ctx, []cmdenv.Study{{Study: study}}, p.Fail)
		if errEnd := w.Finish(out, true); err == nil {
			err = errEnd
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

// exitCriteria returns the criteria of --exit-code.
func (o options) exitCriteria() []tare.Criterion {
	return []tare.Criterion{{Contender: benchstudy.Head, Metric: benchstudy.Metrics()[0], Ratio: "<= " + strconv.FormatFloat(1+o.allow, 'g', 6, 64)}}
}
