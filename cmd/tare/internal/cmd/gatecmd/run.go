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
func measureSides(ctx context.Context, env cmdenv.Env, request gate.Request) (gate.Measured, error) {
	restore, err := benchEnvironment(request.Project.Bench, os.Environ())
	if err != nil {
		return gate.Measured{}, err
	}
	defer restore()
	p := session.NewProgress(env, request.Quiet)
	defer p.End()
	m, err := measureBenchmarks(ctx, env, request, p)
	if err != nil {
		return m, err
	}
	if request.Shard.Index > 1 { // part 1 measures the rest
		return m, nil
	}
	return m, measureExtraStudies(ctx, env, request, p, &m)
}

// gateOptions returns the options of a run for a gate. defaultBudget applies if the flags set neither
// a budget nor rounds; 0 means the study's own budget.
func gateOptions(request gate.Request, defaultBudget time.Duration) session.Options {
	o := session.Options{Measuring: lab.Measuring{Isolation: tare.Lockstep, Rounds: request.Rounds, Seed: request.Seed}, NoLock: request.NoLock, Quiet: request.Quiet}
	o.Budget = request.Budget
	if o.Budget == 0 && o.Rounds == 0 {
		o.Budget = defaultBudget
	}
	o.User = o.Budget > 0
	return o
}

// newBenchRequest returns the request for the repository's benchmarks.
func newBenchRequest(request gate.Request) benchstudy.Request {
	b := request.Project.Bench
	return benchstudy.Request{
		Dir: request.Project.Dir, Packages: b.Packages, Base: request.Base, Head: request.Head, Bench: b.Run,
		Changed: request.Changed, Shard: request.Shard,
	}
}

// measureBenchmarks measures the repository's go test benchmarks: it builds both sides, counts
// instructions, skips benchmarks with the same code and count, and times the others. If there are no
// benchmarks, Nothing of the result has the reason.
func measureBenchmarks(ctx context.Context, env cmdenv.Env, request gate.Request, p *session.Progress) (m gate.Measured, err error) {
	rules := request.Project.Bench
	o := gateOptions(request, rules.Budget)
	maxTime := cmp.Or(rules.Max, session.BenchMost)
	o.Env, o.KeepEnv = rules.Env, true // the values are in the repository anyway
	benchRequest := newBenchRequest(request)
	hasNoBenchmarks := func(err error) bool { // if so, it sets m
		var usage *benchstudy.UsageError
		if errors.As(err, &usage) && usage.Nothing {
			m = gate.Measured{Base: request.Base, Head: request.Head, Nothing: usage.What}
			return true
		}
		return false
	}
	if err := benchRequest.Check(ctx); hasNoBenchmarks(err) { // before waiting for the lock
		return m, nil
	} else if err != nil {
		return m, session.BenchError(ctx, err)
	}
	benchEnv := env
	benchEnv.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return suite.Sources{}, nil } // replaced when both sides are built
	err = session.With(ctx, benchEnv, o, p, func(ctx context.Context, s *session.Session) error {
		setup := benchstudy.Setup{
			Cache: s.Dirs.Cache, RunTag: s.RunTag, Guardian: s.Guardian,
			Say: func(text string) { p.Status("build", text) },
		}
		if o.User {
			setup.Budget = o.Budget
		}
		built, err := benchstudy.NewBench(ctx, benchRequest, setup)
		if hasNoBenchmarks(err) {
			return nil
		}
		if err != nil {
			return session.BenchError(ctx, err)
		}
		defer built.Close()
		if err := built.Count(ctx, benchstudy.Counting{Counter: request.Counts, TimeLimit: s.CountsTime(maxTime), Callers: true}, setup); err != nil {
			return session.BenchError(ctx, err)
		}
		m.Base, m.Head = built.Sources.Titles[benchstudy.Base], built.Sources.Titles[benchstudy.Head]
		if !request.All && !request.Record {
			built.SkipSame()
		}
		if len(built.Study.Workloads) == 0 { // the counts have decided all benchmarks
			m.Results, m.Notes = []*tare.Result{built.UntimedResult()}, built.Notes
			m.Skipped = listSkipped(built, m.Results[0])
			return nil
		}
		if err := s.FitBench(built, maxTime); err != nil {
			return session.BenchError(ctx, err)
		}
		study := built.Study
		study.Criteria = nil
		for _, c := range request.Criteria(benchstudy.Head, study.Workloads) {
			if slices.Contains(study.Metrics, c.Metric) {
				study.Criteria = append(study.Criteria, c)
			}
		}
		s.Lab.Run = func(ctx context.Context, study tare.Study, o lab.Options) (*tare.Result, error) {
			res, err := env.Lab.Run(ctx, study, o)
			if res != nil {
				built.Finish(res)
				setup.Say, setup.Dir = func(text string) { p.Status("profile", text) }, o.Dir
				if request.Profile {
					built.Explain(ctx, res, benchstudy.ProfileDifferent, setup)
				}
			}
			return res, err
		}
		s.Sources = built.Sources
		if err := measureInTwoParts(ctx, s, built, study); err != nil {
			return err
		}
		m.Results, m.Notes = s.Results, built.Notes
		if len(m.Results) > 0 { // a second result repeats a part of the first
			m.Skipped = append(m.Skipped, listSkipped(built, m.Results[0])...)
		}
		return nil
	})
	return m, err
}

// listSkipped returns the comparisons that a result lacks. Broken is set if a benchmark fails on
// another side than the base.
func listSkipped(built *benchstudy.Bench, res *tare.Result) (all []gate.Skipped) {
	for _, l := range res.NotWeighed {
		entry := gate.Skipped{What: l.What, Why: l.Why}
		for _, b := range built.Skipped() {
			if b.ID == l.What && b.String() == l.Why {
				brokenByHead := b.Broken && b.Side != benchstudy.Base
				entry.Broken = entry.Broken || brokenByHead
				entry.OneSided = b.OneSided
			}
		}
		all = append(all, entry)
	}
	return all
}

const (
	// firstRounds is the number of rounds of all benchmarks before the time goes to undecided ones.
	firstRounds = 18
	// maxFirstPercent is the largest part of the budget for these rounds, in percent. If they take
	// longer, all benchmarks get the complete budget.
	maxFirstPercent = 80
)

// measureInTwoParts measures all benchmarks for a part of the budget, at least half, and undecided
// ones for the rest. There is one part for a fixed number of rounds and for a single benchmark.
func measureInTwoParts(ctx context.Context, w *session.Session, built *benchstudy.Bench, study tare.Study) error {
	budget, limit := w.Options.Budget, w.Options.Limit
	first := max(budget/2, built.EstimateTime(firstRounds))
	hasTime := first <= budget*maxFirstPercent/100
	inTwoParts := w.Options.Rounds == 0 && len(study.Workloads) > 1 && hasTime
	if inTwoParts {
		w.Options.Budget, w.Options.User = first, true
	}
	if err := w.WeighQuietly(ctx, []cmdenv.Study{{Study: study}}); err != nil || !inTwoParts || len(w.Results) == 0 {
		return err
	}
	res := w.Results[0]
	undecided := gate.UndecidedWorkloads(res)
	rest := budget - time.Duration(res.Seconds*float64(time.Second))
	wasAnswered := res.Stopped == lab.Decided // the run ended because every criterion had an answer
	if len(undecided) == 0 || len(undecided) == len(study.Workloads) && wasAnswered || rest < plan.Least(nil) {
		return nil
	}
	study.Workloads = slices.DeleteFunc(slices.Clone(study.Workloads), func(w tare.Workload) bool { return !slices.Contains(undecided, w.ID) })
	study.Criteria = slices.DeleteFunc(slices.Clone(study.Criteria), func(c tare.Criterion) bool {
		return c.Workload != "" && !slices.Contains(undecided, c.Workload)
	})
	w.Progress.Say(fmt.Sprintf("%s inconclusive: they get the remaining time", format.Count(len(undecided), "benchmark")))
	w.Options.Budget, w.Options.Limit, w.Options.Spent = rest, max(rest, limit-(budget-rest)), 0
	return w.WeighQuietly(ctx, []cmdenv.Study{{Study: study}})
}

// benchEnvironment sets the project's environment in this process, for builds and benchmarks of both
// sides, until restore is called. Build tags go into GOFLAGS. It omits variables of tare and of the
// CI, which only the benchmarks get, because a change must not control tare.
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
		if old, isSet := os.LookupEnv(name); isSet {
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

// tagFlags returns GOFLAGS with the build tags of a project after the flags of the environment, or ""
// if the project has no tags.
func tagFlags(b project.Bench, environ []string) string {
	if len(b.Tags) == 0 {
		return ""
	}
	flags := "-tags=" + strings.Join(b.Tags, ",")
	for _, kv := range slices.Concat(environ, b.Env) {
		if others, ok := strings.CutPrefix(kv, "GOFLAGS="); ok && others != "" {
			flags = others + " " + flags
		}
	}
	return flags
}
