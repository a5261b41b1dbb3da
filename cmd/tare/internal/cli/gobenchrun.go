package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring"
	"github.com/tarebench/tare/cmd/tare/internal/bring/suite"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/lab"
)

// runBench carries out a comparison of two sides.
func runBench(ctx context.Context, env cmdenv.Env, o benchOptions) error {
	p := newProgress(env, o.run.quiet)
	defer p.End()
	out, err := cmdenv.OpenOutput(o.run.out)
	if err != nil {
		return err
	}
	defer out.Close()
	exit := cmdenv.ExitOK
	fail := func(err error) {
		exit = cmdenv.Worst(exit, cmdenv.ExitCode(err))
		p.Fail(err)
	}
	alone := env
	alone.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return suite.Sources{}, nil } // they come when both sides are built
	err = withSession(ctx, alone, o.run, p, func(ctx context.Context, w *weighing) error {
		b, err := bring.NewBench(ctx, o.asked, bring.Place{
			Cache: w.dirs.Cache, Run: w.tag, Guardian: w.guardian, Procs: o.run.procs, Slice: o.run.slice,
			Say: func(text string) { p.Status("build", text) },
		})
		var usage *bring.UsageError
		if errors.As(err, &usage) && usage.Nothing && (o.asked.Changed || o.asked.Shard.Of > 1) {
			p.Say(usage.What)
			return nil
		}
		if err != nil {
			return benchError(ctx, err)
		}
		defer b.Close()
		study, err := w.fit(b, o)
		if err != nil {
			return benchError(ctx, err)
		}
		w.Lab.Run = func(ctx context.Context, study tare.Study, o lab.Options) (*tare.Result, error) {
			res, err := env.Lab.Run(ctx, study, o)
			if res != nil {
				b.Finish(res)
			}
			return res, err
		}
		w.sources = b.Sources
		err = w.all(ctx, []cmdenv.Study{{Study: study}}, fail)
		if errEnd := w.finish(out, true); err == nil {
			err = errEnd
		}
		return err
	})
	if err != nil {
		return err
	}
	return cmdenv.Code(exit)
}

// fit makes the study fit the time there is, and says how long it will take.
func (w *weighing) fit(b *bring.Bench, o benchOptions) (tare.Study, error) {
	if w.o.slice == 0 {
		w.o.slice = b.Slice
	}
	w.o.most = bring.MostSlices
	if !w.o.user && w.o.rounds == 0 {
		budget, err := b.Budget(o.most)
		if err != nil {
			return tare.Study{}, err
		}
		w.o.budget = budget
	}
	study := b.Study
	if w.o.exitCode {
		study.Criteria = []tare.Criterion{{Contender: bring.Head, Metric: study.Metrics[0], Ratio: "<= " + strconv.FormatFloat(1+o.allow, 'g', 6, 64)}}
	}
	how := "about " + w.o.budget.Round(time.Second).String()
	if w.o.rounds > 0 {
		how = cmdenv.Plural(w.o.rounds, "round")
	}
	w.p.Say(fmt.Sprintf("weighing %s on two sides, %s", cmdenv.Plural(len(study.Workloads), "benchmark"), how))
	return study, nil
}

// benchError is err for the table of exit codes.
func benchError(ctx context.Context, err error) error {
	var usage *suite.UsageError
	var build *suite.BuildError
	switch {
	case ctx.Err() != nil:
		return cmdenv.ErrInterrupted
	case errors.As(err, &usage), errors.As(err, &build):
		return cmdenv.Usage(err.Error(), "")
	}
	return err
}
