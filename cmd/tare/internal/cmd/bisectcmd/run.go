package bisectcmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/bisect"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/gobench"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/stats"
)

// This file carries out tare bisect. It builds and measures commits until package bisect knows the
// first one that makes a benchmark slower, or allocate more.

func runBisect(ctx context.Context, env cmdenv.Env, o options) error {
	h, err := o.findHistory(ctx) // before session.With waits for other runs, so that mistakes show at once
	if err != nil {
		return session.BenchError(ctx, err)
	}
	if o.dryRun {
		return session.BenchError(ctx, o.planSearch(ctx, env, h))
	}
	p := session.NewProgress(env, o.quiet)
	defer p.End()
	benchEnv := env
	// The session requires sources of programs. Those of a comparison are set when both sides are
	// built.
	benchEnv.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return suite.Sources{}, nil }
	run := session.Options{Measuring: lab.Measuring{Isolation: tare.Lockstep, Procs: o.procs, Seed: o.seed}, NoLock: o.noLock, Quiet: o.quiet}
	var exit int
	err = session.With(ctx, benchEnv, run, p, func(ctx context.Context, w *session.Session) error {
		s := &searcher{options: o, session: w}
		defer s.closeBuild()
		if err := s.beginSearch(ctx, h); err != nil {
			return session.BenchError(ctx, err)
		}
		err := s.state.Search.Run(ctx, s.measureCommit, s.saveState)
		p.Pause()
		if err != nil {
			return session.BenchError(ctx, err)
		}
		exit = s.state.exitCode()
		if o.format == "json" {
			return cmdenv.PrintJSON(env.Out, s.state.toDocument())
		}
		return s.state.writeText(env.Out)
	})
	if err != nil {
		return err
	}
	return cmdenv.Code(exit)
}

// searcher builds and measures commits. [bisect.Search] decides which ones.
type searcher struct {
	options
	session *session.Session
	state   *state
	path    string // file of the stored state

	built           *benchstudy.Bench // test binaries of the good revision and of commit; nil if none are built
	commit          string            // the last built commit
	printedForecast bool
}

func (s *searcher) closeBuild() {
	if s.built != nil {
		s.built.Close()
	}
}

type commitRange struct {
	repo      gitrev.Repo
	good, bad gitrev.Revision
	commits   []gitrev.Commit // reachable from bad and not from good, bad first
}

func (o options) findHistory(ctx context.Context) (h commitRange, err error) {
	if h.repo, err = gitrev.Find(ctx, "."); err != nil {
		return h, cmdenv.UsageOf(err, "")
	}
	if h.good, err = h.repo.Resolve(ctx, o.good); err == nil {
		h.bad, err = h.repo.Resolve(ctx, o.bad)
	}
	if err != nil {
		return h, cmdenv.UsageOf(err, "git log shows which there are, and a shallow clone has only the newest")
	}
	h.commits, err = h.repo.Between(ctx, h.good, h.bad, o.firstParent)
	var noAncestor *gitrev.ApartError // good is not an ancestor of bad
	if errors.As(err, &noAncestor) {
		return h, cmdenv.UsageOf(err, "give the commit that they come from as --good")
	}
	if err != nil {
		return h, err
	}
	if len(h.commits) == 0 {
		return h, cmdenv.Usage(fmt.Sprintf("there is no commit between %s and %s", h.good, h.bad), "")
	}
	return h, o.selectionOf(h.bad.Commit, o.bench).Check(ctx)
}

func (o options) findState(h commitRange, cache string) (s *state, path string, err error) {
	s = newState(o, h)
	path = filepath.Join(cache, "bisect", s.hashKey()+".json")
	if !o.restart {
		s, err = loadState(path, s)
	}
	return s, path, err
}

func (h commitRange) describeSearch(s *state) string {
	return fmt.Sprintf("%s after %s up to %s: %s with %s, the first of them of %s",
		format.Count(len(h.commits), "commit"), h.good, h.bad, format.Count(s.Search.Plan.Comparisons(), "comparison"), shortID(h.good.Commit), shortID(h.bad.Commit))
}

func describeDone(n int) string {
	return fmt.Sprintf("%s of an earlier call are used; --restart would forget them", format.Count(n, "comparison"))
}

// beginSearch resumes the search of an earlier call or starts one.
func (s *searcher) beginSearch(ctx context.Context, h commitRange) (err error) {
	if s.state, s.path, err = s.findState(h, s.session.Dirs.Cache); err != nil {
		return err
	}
	s.state.typed = s.typed
	s.session.Progress.Say(h.describeSearch(s.state))
	if done := s.state.countDone(); done > 0 {
		s.session.Progress.Say(describeDone(done))
		return nil
	}
	return s.chooseBenchmark(ctx, h.bad.Commit)
}

// chooseBenchmark selects the benchmark that changes most at the bad revision.
func (s *searcher) chooseBenchmark(ctx context.Context, bad string) error {
	if err := s.buildCommit(ctx, bad, s.bench); err != nil {
		return err
	}
	quantity, err := s.findQuantity(ctx, bad)
	if err != nil {
		return err
	}
	for _, w := range s.built.Study.Workloads {
		if w.ID == quantity.Benchmark {
			s.state.Name = w.Op
		}
	}
	s.built.KeepOnly(quantity.Benchmark)
	s.state.Quantity = quantity
	s.state.Search.Plan.CountDifferences = quantity.IsDifference()
	s.state.Search.Effect = s.effectOf(quantity)
	if quantity.IsCounted() {
		s.session.Progress.Say(fmt.Sprintf("%s: one count of instructions a comparison, no rounds", quantity.Benchmark))
	} else {
		s.planRounds(quantity)
	}
	return s.saveState()
}

// effectOf returns the effect to search for, in the unit of the effects of rounds. That is the
// logarithm of a ratio, or a number of objects or bytes per operation.
func (s *searcher) effectOf(quantity bisect.Quantity) float64 {
	switch {
	case !quantity.IsDifference():
		return math.Abs(math.Log1p(s.effect))
	case s.metric == "allocs" && !s.fixed: // without --effect: one allocation more
		return 1
	}
	return max(1, math.Abs(s.effect)*s.state.Base) // Base is the count of the good revision
}

// Number of rounds that findQuantity measures to select a benchmark.
const (
	selectionRounds      = 8
	selectionCountRounds = 2 // counts hardly vary between rounds
)

// findQuantity returns the benchmark and metric to search for. If several match, it measures which
// changes most.
func (s *searcher) findQuantity(ctx context.Context, bad string) (bisect.Quantity, error) {
	var all []bisect.Quantity
	for _, w := range s.built.Study.Workloads {
		all = append(all, bisect.Quantity{Benchmark: w.ID, Metric: s.metric, Sign: math.Copysign(1, s.effect)})
	}
	first := all[0]
	if len(all) == 1 && !first.IsDifference() { // nothing to select, and no count of the good revision needed
		return first, nil
	}
	rounds := selectionRounds
	if first.IsDifference() {
		rounds = selectionCountRounds
	}
	if !first.IsCounted() {
		s.session.Progress.Say(fmt.Sprintf("first %s of %s matching %s, about %v", format.Count(rounds, "round"), format.Count(len(all), "benchmark"), s.bench, roundSeconds(s.built.EstimateTime(rounds))))
	}
	res, err := s.measureRounds(ctx, bad, rounds, s.maxTime)
	if err != nil {
		return first, err
	}
	quantity := bisect.ClearestChange(res, all)
	s.state.Base = quantity.BaseValue(res)
	return quantity, nil
}

func (s *searcher) planRounds(quantity bisect.Quantity) {
	plan := &s.state.Search.Plan
	maxRounds := stats.MaxRounds
	for maxRounds > plan.MinRounds() && s.built.EstimateTime(maxRounds) > s.maxTime {
		maxRounds--
	}
	plan.MaxRounds = maxRounds
	minRounds := plan.MinRounds() // a comparison can end after these at the earliest
	shortest, longest := s.built.EstimateTime(minRounds), s.built.EstimateTime(maxRounds)
	n := time.Duration(plan.Comparisons())
	s.session.Progress.Say(fmt.Sprintf("%s: %d to %s a comparison, %v to %v; %v to %v in all, builds not included",
		quantity.Benchmark, minRounds, format.Count(maxRounds, "round"), roundSeconds(shortest), roundSeconds(longest), roundSeconds(n*shortest), roundSeconds(n*longest)))
	if shortest > s.maxTime {
		s.session.Progress.Say(fmt.Sprintf("--max %v may end a comparison before it can tell: %s take about %v", s.maxTime, format.Count(minRounds, "round"), roundSeconds(shortest)))
	}
}

// buildCommit builds the good revision and a commit, with the benchmarks that match pattern.
func (s *searcher) buildCommit(ctx context.Context, commit, pattern string) error {
	s.closeBuild()
	s.built = nil
	setup := s.buildSetup()
	setup.Say = func(text string) { s.session.Progress.Status("build", shortID(commit)+": "+text) }
	b, err := benchstudy.NewBench(ctx, s.selectionOf(commit, pattern), setup)
	if err != nil {
		return err
	}
	s.built, s.commit = b, commit
	return nil
}

// measureCommit builds a commit, unless it is the last built one, and measures rounds. If the commit
// cannot be measured, the error is a *bisect.SkipError.
func (s *searcher) measureCommit(ctx context.Context, commit string, rounds int) (bisect.Batch, error) {
	// There is a forecast after the comparison of the bad revision, which shows the size of the effect.
	n, hasForecast := s.state.Search.ForecastRounds()
	needsTime := s.built != nil && !s.isCounted()
	if hasForecast && needsTime && !s.printedForecast {
		s.printedForecast = true
		s.session.Progress.Say(s.state.describeBad() + fmt.Sprintf("; %s to go, of about %s and %v each", format.Count(s.state.countRemaining(), "comparison"), format.Count(n, "round"), roundSeconds(s.built.EstimateTime(n))))
	}
	if s.built == nil || s.commit != commit {
		if err := s.buildCommit(ctx, commit, gobench.Exactly(s.state.Name)); err != nil {
			return bisect.Batch{}, toSkipError(ctx, err)
		}
		if !s.built.KeepOnly(s.state.Quantity.Benchmark) {
			return bisect.Batch{}, &bisect.SkipError{Why: "it has no " + s.state.Quantity.Benchmark}
		}
	}
	start := s.session.Now()
	res, err := s.measureRounds(ctx, commit, rounds, s.maxTime-s.state.Search.MeasuringTime(commit))
	if err != nil {
		return bisect.Batch{}, err
	}
	batch, err := s.state.Quantity.Batch(res)
	batch.Took = s.session.Now().Sub(start)
	batch.IsLast = batch.IsLast || res.RoundsDone < rounds
	return batch, err
}

// measureRounds measures rounds of the built commit, at least one and as many as maxTime allows. For
// instructions it makes one count instead. It adds the time to the state.
func (s *searcher) measureRounds(ctx context.Context, commit string, rounds int, maxTime time.Duration) (*tare.Result, error) {
	start := s.session.Now()
	defer func() { s.state.Seconds += s.session.Now().Sub(start).Seconds() }()
	if s.isCounted() {
		return s.countInstructions(ctx, maxTime)
	}
	return s.session.Batch(ctx, s.built, s.built.Study, rounds, maxTime, func(e lab.Event) {
		if e.Phase == "round" || e.Phase == "pilot" {
			s.session.Progress.Status("round", fmt.Sprintf("%s: round %d of %d", shortID(commit), e.Round, rounds))
		}
	})
}

func (s *searcher) countInstructions(ctx context.Context, maxTime time.Duration) (*tare.Result, error) {
	counter, missing := counts.FindCounter(ctx, counts.Auto)
	if counter == nil && ctx.Err() == nil {
		return nil, cmdenv.Usage(missing, "")
	}
	setup := s.buildSetup()
	setup.Say = func(text string) { s.session.Progress.Status("count", shortID(s.commit)+": "+text) }
	if err := s.built.Count(ctx, benchstudy.Counting{Counter: counts.Auto, TimeLimit: maxTime}, setup); err != nil {
		return nil, err
	}
	return s.built.UntimedResult(), nil
}

func (s *searcher) buildSetup() benchstudy.Setup {
	return benchstudy.Setup{
		Cache: s.session.Dirs.Cache, RunTag: s.session.RunTag, Guardian: s.session.Guardian, Procs: s.procs,
		Say: func(text string) { s.session.Progress.Status("build", text) },
	}
}

func (s *searcher) saveState() error {
	tests := s.state.Search.Tests
	if n := len(tests); n > 0 && tests[n-1].Verdict != "" {
		t := tests[n-1]
		s.session.Progress.Say(strings.Join(strings.Fields(strings.Join(s.state.tableRow(t), "  ")), " "))
	}
	return s.state.saveTo(s.path)
}

// toSkipError turns an error about a commit into a *bisect.SkipError, so that the search skips the
// commit. It returns other errors unchanged.
func toSkipError(ctx context.Context, err error) error {
	var usage *benchstudy.UsageError
	var build *suite.BuildError
	isBroken := errors.As(err, &build) && build.Side == benchstudy.Head
	if ctx.Err() == nil && (errors.As(err, &usage) || isBroken) {
		return &bisect.SkipError{Why: format.Line(err.Error(), 0)}
	}
	return err
}

func shortID(commit string) string { return commit[:min(9, len(commit))] }

func roundSeconds(d time.Duration) time.Duration {
	return max(time.Second, d.Round(time.Second))
}
