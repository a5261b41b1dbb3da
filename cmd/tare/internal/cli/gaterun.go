package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring"
	"github.com/tarebench/tare/cmd/tare/internal/bring/gate"
	"github.com/tarebench/tare/cmd/tare/internal/bring/suite"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/lab"
)

// weighSides weighs both sides of a repository: its benchmarks, then what else
// tare.yaml names.
func weighSides(ctx context.Context, env cmdenv.Env, ask gate.Ask) (gate.Measured, error) {
	restore, err := benchEnvironment(ask.Project.Bench, os.Environ())
	if err != nil {
		return gate.Measured{}, err
	}
	defer restore()
	p := newProgress(env, ask.Quiet)
	defer p.End()
	m, err := weighBenchmarks(ctx, env, ask, p)
	if err != nil {
		return m, err
	}
	return m, weighBesides(ctx, env, ask, p, &m)
}

// gateRun are the options of a run for a gate: nothing of it is printed. own is
// the budget where none is asked for; zero: the study's.
func gateRun(ask gate.Ask, own time.Duration) runOptions {
	o := runOptions{isolation: tare.Lockstep, rounds: ask.Rounds, seed: ask.Seed, noLock: ask.NoLock, quiet: ask.Quiet}
	if o.budget = ask.Budget; o.budget == 0 && o.rounds == 0 {
		o.budget = own
	}
	o.user = o.budget > 0
	return o
}

// weighBenchmarks weighs the repository's go test benchmarks.
func weighBenchmarks(ctx context.Context, env cmdenv.Env, ask gate.Ask, p *progress) (m gate.Measured, err error) {
	b := ask.Project.Bench
	o := benchOptions{run: gateRun(ask, b.Budget), most: benchMost, asked: bring.Asked{Dir: ask.Project.Dir, Packages: b.Packages, Base: ask.Base, Head: ask.Head, Bench: b.Run}}
	if b.Max > 0 {
		o.most = b.Max
	}
	o.run.env = b.Env
	alone := env
	alone.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return suite.Sources{}, nil } // they come when both sides are built
	err = withSession(ctx, alone, o.run, p, func(ctx context.Context, w *weighing) error {
		built, err := bring.NewBench(ctx, o.asked, bring.Place{
			Cache: w.dirs.Cache, Run: w.tag, Guardian: w.guardian,
			Say: func(text string) { p.Status("build", text) },
		})
		var usage *bring.UsageError
		if errors.As(err, &usage) && usage.Nothing {
			m = gate.Measured{Base: ask.Base, Head: ask.Head, Nothing: usage.What}
			return nil
		}
		if err != nil {
			return benchError(ctx, err)
		}
		defer built.Close()
		study, err := w.fit(built, o)
		if err != nil {
			return benchError(ctx, err)
		}
		study.Criteria = nil
		for _, c := range ask.Criteria(bring.Head) {
			if slices.Contains(study.Metrics, c.Metric) {
				study.Criteria = append(study.Criteria, c)
			}
		}
		w.Lab.Run = func(ctx context.Context, study tare.Study, o lab.Options) (*tare.Result, error) {
			res, err := env.Lab.Run(ctx, study, o)
			if res != nil {
				built.Finish(res)
			}
			return res, err
		}
		w.sources = built.Sources
		if err := w.quietly(ctx, []cmdenv.Study{{Study: study}}); err != nil {
			return err
		}
		m.Results, m.Notes = w.results, built.Notes
		for _, res := range m.Results {
			for _, l := range res.NotWeighed {
				broken := slices.ContainsFunc(built.Left(), func(b suite.Left) bool {
					return b.Broken && b.Side != bring.Base && b.ID == l.What && b.String() == l.Why
				})
				m.Left = append(m.Left, gate.Left{What: l.What, Why: l.Why, Broken: broken})
			}
		}
		m.Base, m.Head = built.Sources.Titles[bring.Base], built.Sources.Titles[bring.Head]
		return nil
	})
	return m, err
}

// quietly carries studies out and prints nothing of them but the progress.
func (w *weighing) quietly(ctx context.Context, studies []cmdenv.Study) error {
	var first error
	err := w.all(ctx, studies, func(err error) {
		if cmdenv.ExitCode(err) != cmdenv.ExitOK && first == nil {
			first = err
		}
	})
	switch {
	case first != nil && cmdenv.ExitCode(first) == cmdenv.ExitInterrupted:
		return cmdenv.ErrInterrupted
	case first != nil:
		return first
	}
	return err
}

// benchEnvironment gives this process the environment that a project wants its
// benchmarks built and run in, which is that of both sides, until restore is
// called. Build tags go into GOFLAGS.
func benchEnvironment(b project.Bench, environ []string) (restore func(), err error) {
	set := slices.Clone(b.Env)
	if len(b.Tags) > 0 {
		flags := "-tags=" + strings.Join(b.Tags, ",")
		for _, kv := range slices.Concat(environ, b.Env) {
			if before, ok := strings.CutPrefix(kv, "GOFLAGS="); ok && before != "" {
				flags = before + " " + flags
			}
		}
		set = append(set, "GOFLAGS="+flags)
	}
	var undo []func()
	restore = func() {
		for _, u := range slices.Backward(undo) {
			u()
		}
	}
	for _, kv := range set {
		name, value, _ := strings.Cut(kv, "=")
		if old, was := os.LookupEnv(name); was {
			undo = append(undo, func() { _ = os.Setenv(name, old) })
		} else {
			undo = append(undo, func() { _ = os.Unsetenv(name) })
		}
		if err := os.Setenv(name, value); err != nil {
			restore()
			return nil, err
		}
	}
	return restore, nil
}
