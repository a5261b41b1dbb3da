package gatecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
)

// measureSides measures both sides of a repository: its benchmarks, then the rest of tare.yaml.
func measureSides(ctx context.Context, env cmdenv.Env, ask gate.Ask) (gate.Measured, error) {
	restore, err := benchEnvironment(ask.Project.Bench, os.Environ())
	if err != nil {
		return gate.Measured{}, err
	}
	defer restore()
	p := session.NewProgress(env, ask.Quiet)
	defer p.End()
	m, err := measureBenchmarks(ctx, env, ask, p)
	if err != nil {
		return m, err
	}
	if ask.Shard.Index > 1 {
		return m, nil
	}
	return m, measureNonBench(ctx, env, ask, p, &m)
}

// gateOptions returns the options of a run for a gate. own is the default budget; 0 means the
// study's.
func gateOptions(ask gate.Ask, own time.Duration) session.Options {
	o := session.Options{Measuring: lab.Measuring{Isolation: tare.Lockstep, Rounds: ask.Rounds, Seed: ask.Seed}, NoLock: ask.NoLock, Quiet: ask.Quiet}
	if o.Budget = ask.Budget; o.Budget == 0 && o.Rounds == 0 {
		o.Budget = own
	}
	o.User = o.Budget > 0
	return o
}

// measureBenchmarks measures the repository's go test benchmarks.
func measureBenchmarks(ctx context.Context, env cmdenv.Env, ask gate.Ask, p *session.Progress) (m gate.Measured, err error) {
	b := ask.Project.Bench
	o, most := gateOptions(ask, b.Budget), cmp.Or(b.Max, session.BenchMost)
	o.Env, o.KeepEnv = b.Env, true // the values are in the repository anyway
	asked := benchstudy.Asked{
		Dir: ask.Project.Dir, Packages: b.Packages, Base: ask.Base, Head: ask.Head, Bench: b.Run,
		Changed: ask.Changed, Shard: benchstudy.Shard(ask.Shard),
	}
	nothing := func(err error) bool {
		var usage *benchstudy.UsageError
		if errors.As(err, &usage) && usage.Nothing {
			m = gate.Measured{Base: ask.Base, Head: ask.Head, Nothing: usage.What}
			return true
		}
		return false
	}
	if err := asked.Check(ctx); nothing(err) { // before waiting for the lock
		return m, nil
	} else if err != nil {
		return m, session.BenchError(ctx, err)
	}
	alone := env
	alone.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return suite.Sources{}, nil } // set when both sides are built
	err = session.With(ctx, alone, o, p, func(ctx context.Context, w *session.Session) error {
		place := benchstudy.Place{
			Cache: w.Dirs.Cache, Run: w.RunTag, Guardian: w.Guardian,
			Say: func(text string) { p.Status("build", text) },
		}
		if o.User {
			place.Budget = o.Budget
		}
		built, err := benchstudy.NewBench(ctx, asked, place)
		if nothing(err) {
			return nil
		}
		if err != nil {
			return session.BenchError(ctx, err)
		}
		defer built.Close()
		if err := built.Count(ctx, ask.Counts, place, w.CountsTime(most)); err != nil {
			return session.BenchError(ctx, err)
		}
		m.Base, m.Head = built.Sources.Titles[benchstudy.Base], built.Sources.Titles[benchstudy.Head]
		if !ask.All && !ask.Record {
			built.SkipSame()
		}
		if len(built.Study.Workloads) == 0 {
			m.Results, m.Notes = []*tare.Result{built.Untimed()}, built.Notes
			m.Left = omissionsOf(built, m.Results[0])
			return nil
		}
		if err := w.FitBench(built, most); err != nil {
			return session.BenchError(ctx, err)
		}
		study := built.Study
		study.Criteria = nil
		for _, c := range ask.Criteria(benchstudy.Head, study.Workloads) {
			if slices.Contains(study.Metrics, c.Metric) {
				study.Criteria = append(study.Criteria, c)
			}
		}
		w.Lab.Run = func(ctx context.Context, study tare.Study, o lab.Options) (*tare.Result, error) {
			res, err := env.Lab.Run(ctx, study, o)
			if res != nil {
				built.Finish(res)
				place.Say, place.Dir = func(text string) { p.Status("profile", text) }, o.Dir
				if ask.Profile {
					built.Explain(ctx, res, benchstudy.ProfileDifferent, place)
				}
			}
			return res, err
		}
		w.Sources = built.Sources
		if err := measureInTwoParts(ctx, w, built, study); err != nil {
			return err
		}
		m.Results, m.Notes = w.Results, built.Notes
		for _, res := range m.Results[:min(1, len(m.Results))] { // later results repeat a part of the first
			m.Left = append(m.Left, omissionsOf(built, res)...)
		}
		return nil
	})
	return m, err
}

// omissionsOf returns the comparisons that a result lacks, and on which side the cause is.
func omissionsOf(built *benchstudy.Bench, res *tare.Result) (all []gate.Left) {
	for _, l := range res.NotWeighed {
		left := gate.Left{What: l.What, Why: l.Why}
		for _, b := range built.Left() {
			if b.ID == l.What && b.String() == l.Why {
				left.Broken, left.OneSided = left.Broken || b.Broken && b.Side != benchstudy.Base, b.OneSided
			}
		}
		all = append(all, left)
	}
	return all
}

// firstRounds is the number of rounds of all benchmarks before the time goes to
// undecided ones.
const firstRounds = 18

// measureInTwoParts measures all benchmarks for a part of the budget, and undecided ones for
// the rest.
func measureInTwoParts(ctx context.Context, w *session.Session, built *benchstudy.Bench, study tare.Study) error {
	budget, limit := w.Options.Budget, w.Options.Limit
	first := max(budget/2, built.Takes(firstRounds))
	parts := w.Options.Rounds == 0 && len(study.Workloads) > 1 && first <= budget*4/5
	if parts {
		w.Options.Budget, w.Options.User = first, true
	}
	if err := w.WeighQuietly(ctx, []cmdenv.Study{{Study: study}}); err != nil || !parts || len(w.Results) == 0 {
		return err
	}
	res := w.Results[0]
	open := gate.Undecided(res)
	rest := budget - time.Duration(res.Seconds*float64(time.Second))
	if len(open) == 0 || len(open) == len(study.Workloads) && res.Stopped == lab.Decided || rest < plan.Least(nil) {
		return nil
	}
	study.Workloads = slices.DeleteFunc(slices.Clone(study.Workloads), func(one tare.Workload) bool { return !slices.Contains(open, one.ID) })
	study.Criteria = slices.DeleteFunc(slices.Clone(study.Criteria), func(c tare.Criterion) bool { return c.Workload != "" && !slices.Contains(open, c.Workload) })
	w.Progress.Say(fmt.Sprintf("%s inconclusive: they get the remaining time", format.Count(len(open), "benchmark")))
	w.Options.Budget, w.Options.Limit, w.Options.Spent = rest, max(rest, limit-(budget-rest)), 0
	return w.WeighQuietly(ctx, []cmdenv.Study{{Study: study}})
}

// benchEnvironment sets the project's environment for builds and benchmarks of both sides in
// this process, until restore is called. Build tags go into GOFLAGS. Variables of tare and of
// the CI reach only the benchmarks, because a change must not control tare.
func benchEnvironment(b project.Bench, environ []string) (restore func(), err error) {
	set := build.Environment(b.Env)
	if flags := tagFlags(b, environ); flags != "" {
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

// tagFlags returns GOFLAGS with the build tags of a project, or "" if it has none.
func tagFlags(b project.Bench, environ []string) string {
	if len(b.Tags) == 0 {
		return ""
	}
	flags := "-tags=" + strings.Join(b.Tags, ",")
	for _, kv := range slices.Concat(environ, b.Env) {
		if before, ok := strings.CutPrefix(kv, "GOFLAGS="); ok && before != "" {
			flags = before + " " + flags
		}
	}
	return flags
}
