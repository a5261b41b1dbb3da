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

// This file measures a change on this machine: the benchmarks of both revisions, and then the other
// parts of tare.yaml.

// measureSides measures the benchmarks on both sides of a change, and then the other parts of
// tare.yaml.
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
	if request.Shard.Index > 1 { // of several parts, only the first measures more than benchmarks
		return m, nil
	}
	return m, measureExtraStudies(ctx, env, request, p, &m)
}

// gateOptions returns the options of a run for a gate. defaultBudget applies if the flags set neither a
// budget nor rounds. If it is 0, the study's own applies.
func gateOptions(request gate.Request, defaultBudget time.Duration) session.Options {
	o := session.Options{Measuring: lab.Measuring{Isolation: tare.Lockstep, Rounds: request.Rounds, Seed: request.Seed}, NoLock: request.NoLock, Quiet: request.Quiet}
	o.Budget = request.Budget
	if o.Budget == 0 && o.Rounds == 0 {
		o.Budget = defaultBudget
	}
	o.User = o.Budget > 0
	return o
}

func newBenchRequest(request gate.Request) benchstudy.Request {
	b := request.Project.Bench
	return benchstudy.Request{
		Dir: request.Project.Dir, Packages: b.Packages, Base: request.Base, Head: request.Head, Bench: b.Run,
		Changed: request.Changed, Shard: request.Shard,
	}
}

// measureBenchmarks measures the repository's go test benchmarks. If there are none, m.Nothing has the
// reason.
func measureBenchmarks(ctx context.Context, env cmdenv.Env, request gate.Request, p *session.Progress) (m gate.Measured, err error) {
	o := gateOptions(request, request.Project.Bench.Budget)
	o.Env, o.KeepEnv = request.Project.Bench.Env, true // the values are in the repository anyway
	benchRequest := newBenchRequest(request)
	err = benchRequest.Check(ctx) // before the wait for other runs, so that mistakes show at once
	if why, ok := whyNoBenchmarks(err); ok {
		return gate.Measured{Base: request.Base, Head: request.Head, Nothing: why}, nil
	}
	if err != nil {
		return m, session.BenchError(ctx, err)
	}
	benchEnv := env
	// The session requires sources of programs. finishResults replaces them later.
	benchEnv.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return suite.Sources{}, nil }
	err = session.With(ctx, benchEnv, o, p, func(ctx context.Context, s *session.Session) error {
		setup := benchstudy.Setup{
			Cache: s.Dirs.Cache, RunTag: s.RunTag, Guardian: s.Guardian,
			Say: func(text string) { p.Status("build", text) },
		}
		if o.User {
			setup.Budget = o.Budget
		}
		built, err := benchstudy.NewBench(ctx, benchRequest, setup)
		if why, ok := whyNoBenchmarks(err); ok {
			m = gate.Measured{Base: request.Base, Head: request.Head, Nothing: why}
			return nil
		}
		if err != nil {
			return session.BenchError(ctx, err)
		}
		defer built.Close()
		g := benchGate{Session: s, request: request, built: built, setup: setup, maxTime: cmp.Or(request.Project.Bench.Max, session.BenchMost)}
		m, err = g.countAndTime(ctx, env)
		return err
	})
	return m, err
}

// whyNoBenchmarks returns the reason why a selection has no benchmarks. ok is false if err is
// another error.
func whyNoBenchmarks(err error) (why string, ok bool) {
	var usage *benchstudy.UsageError
	if errors.As(err, &usage) && usage.Nothing {
		return usage.What, true
	}
	return "", false
}

// benchGate measures the benchmarks of a gate after both sides are built.
type benchGate struct {
	*session.Session
	request gate.Request
	built   *benchstudy.Bench
	setup   benchstudy.Setup
	maxTime time.Duration // if the user has set no budget
}

// countAndTime counts the instructions of all benchmarks, and times them. Usually it does not time
// those with the same code and count on both sides.
func (g benchGate) countAndTime(ctx context.Context, env cmdenv.Env) (gate.Measured, error) {
	built := g.built
	m := gate.Measured{Base: built.Sources.Titles[benchstudy.Base], Head: built.Sources.Titles[benchstudy.Head]}
	skipsSame := !g.request.All && !g.request.Record
	counting := benchstudy.Counting{
		Counter: g.request.Counts, Callers: true, SkipsSame: skipsSame, Decides: g.request.Project.Gate.Instructions > 0,
	}
	counting.TimeLimit = g.CountsTime(built, g.maxTime, counting)
	if err := built.Count(ctx, counting, g.setup); err != nil {
		return m, session.BenchError(ctx, err)
	}
	if skipsSame {
		built.SkipSame()
	}
	if len(built.Study.Workloads) == 0 { // the counts have decided all benchmarks
		m.Results = []*tare.Result{built.UntimedResult()}
	} else {
		if err := g.FitBench(built, g.maxTime); err != nil {
			return m, session.BenchError(ctx, err)
		}
		g.finishResults(env)
		err := measureInTwoParts(ctx, g.Session, built, g.newStudy())
		switch {
		case built.SkipTimes(err):
			m.Results = []*tare.Result{built.UntimedResult()}
		case err != nil:
			return m, err
		default:
			m.Results = g.Results
		}
	}
	m.Notes = built.Notes
	if len(m.Results) > 0 { // a second result has only a part of the benchmarks of the first
		m.Skipped = listSkipped(built, m.Results[0])
	}
	return m, nil
}

// newStudy returns the study of the benchmarks, which ends when all limits are decided.
func (g benchGate) newStudy() tare.Study {
	study := g.built.Study
	study.Criteria = nil
	for _, c := range g.request.Criteria(benchstudy.Head, study.Workloads) {
		if slices.Contains(study.Metrics, c.Metric) {
			study.Criteria = append(study.Criteria, c)
		}
	}
	return study
}

func (g benchGate) finishResults(env cmdenv.Env) {
	g.Sources = g.built.Sources
	g.Lab.Run = func(ctx context.Context, study tare.Study, o lab.Options) (*tare.Result, error) {
		res, err := env.Lab.Run(ctx, study, o)
		if res != nil {
			g.built.Finish(res)
			if g.request.Profile {
				setup := g.setup
				setup.Say, setup.Dir = func(text string) { g.Progress.Status("profile", text) }, o.Dir
				g.built.Explain(ctx, res, benchstudy.ProfileDifferent, setup)
			}
		}
		return res, err
	}
}

// listSkipped returns the comparisons that a result lacks. A benchmark that failed on the head is
// Broken and blocks the change.
func listSkipped(built *benchstudy.Bench, res *tare.Result) (all []gate.Skipped) {
	for _, l := range res.NotWeighed {
		entry := gate.Skipped{What: l.What, Why: l.Why}
		for _, b := range built.Skipped() {
			if b.ID == l.What && b.String() == l.Why { // b is the reason for l
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
	// firstRounds is the number of rounds of all benchmarks. The rest of the time is for undecided
	// ones.
	firstRounds = 18
	// maxFirstPercent is the largest part of the budget for these rounds, in percent. If they take
	// longer, all benchmarks get the complete budget.
	maxFirstPercent = 80
)

// measureInTwoParts measures all benchmarks for a part of the budget, at least half. Then it measures
// undecided ones for the rest.
func measureInTwoParts(ctx context.Context, w *session.Session, built *benchstudy.Bench, study tare.Study) error {
	budget, limit := w.Options.Budget, w.Options.Limit
	firstPart := max(budget/2, built.EstimateTime(firstRounds))
	hasTime := firstPart <= budget*maxFirstPercent/100
	inTwoParts := w.Options.Rounds == 0 && len(study.Workloads) > 1 && hasTime
	if inTwoParts {
		w.Options.Budget, w.Options.User = firstPart, true
	}
	err := w.MeasureAllQuietly(ctx, []cmdenv.Study{{Study: study}})
	if err != nil || !inTwoParts || len(w.Results) == 0 {
		return err
	}
	res := w.Results[0]
	undecided := gate.UndecidedWorkloads(res)
	rest := budget - time.Duration(res.Seconds*float64(time.Second))
	// If the run ended early although all are undecided, more time would change nothing.
	isFinal := res.Stopped == lab.Decided && len(undecided) == len(study.Workloads)
	if len(undecided) == 0 || isFinal || rest < plan.Least(nil) {
		return nil
	}
	study.Workloads = slices.DeleteFunc(slices.Clone(study.Workloads), func(w tare.Workload) bool { return !slices.Contains(undecided, w.ID) })
	study.Criteria = slices.DeleteFunc(slices.Clone(study.Criteria), func(c tare.Criterion) bool {
		return c.Workload != "" && !slices.Contains(undecided, c.Workload)
	})
	w.Progress.Say(fmt.Sprintf("%s inconclusive: they get the remaining time", format.Count(len(undecided), "benchmark")))
	w.Options.Budget, w.Options.Limit, w.Options.Spent = rest, max(rest, limit-(budget-rest)), 0
	return w.MeasureAllQuietly(ctx, []cmdenv.Study{{Study: study}})
}

// benchEnvironment sets the environment variables of tare.yaml in this process, for builds and
// benchmarks. It adds build tags to GOFLAGS. It omits variables that control tare or the CI: a change
// must not control tare. The caller must call restore.
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

// tagFlags returns the GOFLAGS of the environment with the build tags of a project, or "" without tags.
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
