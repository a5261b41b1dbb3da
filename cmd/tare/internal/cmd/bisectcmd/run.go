package bisectcmd

import (
	"cmp"
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

// runBisect searches the commits and prints the result.
func runBisect(ctx context.Context, env cmdenv.Env, o options) error {
	h, err := o.findHistory(ctx) // before waiting for the lock
	if err != nil {
		return session.BenchError(ctx, err)
	}
	p := session.NewProgress(env, o.quiet)
	defer p.End()
	alone := env
	alone.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return suite.Sources{}, nil } // set when both sides are built
	var exit int
	err = session.With(ctx, alone, session.Options{Measuring: lab.Measuring{Isolation: tare.Lockstep, Procs: o.procs, Seed: o.seed}, NoLock: o.noLock, Quiet: o.quiet}, p, func(ctx context.Context, w *session.Session) error {
		s := &searcher{options: o, w: w}
		defer s.closeBuild()
		if err := s.beginSearch(ctx, h); err != nil {
			return session.BenchError(ctx, err)
		}
		if o.dryRun {
			return nil
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

// searcher builds and measures commits for a search.
type searcher struct {
	options
	w     *session.Session
	state *state
	path  string // of the stored state

	built           *benchstudy.Bench // the last built commit
	commit          string
	printedForecast bool // the forecast was printed
}

func (s *searcher) closeBuild() {
	if s.built != nil {
		s.built.Close()
	}
}

// commitRange holds the commits of the search.
type commitRange struct {
	repo    gitrev.Repo
	ends    [2]gitrev.Revision // good and bad
	commits []gitrev.Commit    // reachable from bad and not from good
}

// findHistory finds the commits to search, and checks that the bad revision has the benchmark.
func (o options) findHistory(ctx context.Context) (h commitRange, err error) {
	if h.repo, err = gitrev.Find(ctx, "."); err != nil {
		return h, cmdenv.UsageOf(err, "")
	}
	for i, name := range []string{o.good, o.bad} {
		if h.ends[i], err = h.repo.Resolve(ctx, name); err != nil {
			return h, cmdenv.UsageOf(err, "git log shows which there are, and a shallow clone has only the newest")
		}
	}
	h.commits, err = h.repo.Between(ctx, h.ends[0], h.ends[1], o.firstParent)
	var apart *gitrev.ApartError
	if errors.As(err, &apart) {
		return h, cmdenv.UsageOf(err, "give the commit that they come from as --good")
	}
	if err != nil {
		return h, err
	}
	if len(h.commits) == 0 {
		return h, cmdenv.Usage(fmt.Sprintf("there is no commit between %s and %s", h.ends[0], h.ends[1]), "")
	}
	return h, o.selectionOf(h.ends[1].Commit, o.bench).Check(ctx)
}

// beginSearch resumes the search of an earlier call or starts one, and prints its cost.
func (s *searcher) beginSearch(ctx context.Context, h commitRange) (err error) {
	ends, commits := h.ends, h.commits
	fresh := newState(s.options, h.repo, ends, commits)
	s.path = filepath.Join(s.w.Dirs.Cache, "bisect", fresh.hashKey()+".json")
	s.state = fresh
	if !s.restart {
		if s.state, err = loadState(s.path, fresh); err != nil {
			return err
		}
	}
	s.state.own = s.own
	s.w.Progress.Say(fmt.Sprintf("%s after %s up to %s: %s with %s, the first of them of %s",
		format.Count(len(commits), "commit"), ends[0], ends[1], format.Count(fresh.Search.Plan.Comparisons(), "comparison"), shortID(ends[0].Commit), shortID(ends[1].Commit)))
	if done := s.state.countDone(); done > 0 {
		s.w.Progress.Say(fmt.Sprintf("%s of an earlier call are used; --restart would forget them", format.Count(done, "comparison")))
		return nil
	}
	return s.chooseBenchmark(ctx, ends[1].Commit)
}

// chooseBenchmark builds the bad revision, selects the benchmark that changes most, and prints
// the cost of the search.
func (s *searcher) chooseBenchmark(ctx context.Context, bad string) error {
	if err := s.buildCommit(ctx, bad, s.bench); err != nil {
		return err
	}
	var all []bisect.Quantity
	for _, w := range s.built.Study.Workloads {
		all = append(all, bisect.Quantity{Benchmark: w.ID, Metric: s.metric, Sign: math.Copysign(1, s.effect)})
	}
	q := all[0]
	if !s.dryRun && (len(all) > 1 || q.Counts()) {
		rounds := scoutRounds
		if q.Counts() {
			rounds = scoutCounts
		}
		if !q.IsCounted() {
			s.w.Progress.Say(fmt.Sprintf("first %s of %s matching %s, about %v", format.Count(rounds, "round"), format.Count(len(all), "benchmark"), s.bench, roundSeconds(s.built.Takes(rounds))))
		}
		res, err := s.measureRounds(ctx, bad, rounds, s.most)
		if err != nil {
			return err
		}
		q = bisect.Widest(res, all)
		s.state.Base = q.Base(res)
	}
	for _, w := range s.built.Study.Workloads {
		if w.ID == q.Benchmark {
			s.state.Name = w.Op
		}
	}
	s.built.Keep(q.Benchmark)
	s.state.Of = q
	search := &s.state.Search
	search.Plan.Counts = q.Counts()
	search.Effect = math.Abs(math.Log1p(s.effect))
	if q.Counts() {
		if search.Effect = math.Abs(s.effect) * s.state.Base; s.metric == "allocs" && !s.fixed {
			search.Effect = 0
		}
		search.Effect = max(1, search.Effect)
	}
	if q.IsCounted() {
		s.w.Progress.Say(fmt.Sprintf("%s: one count of instructions a comparison, no rounds", q.Benchmark))
		if s.dryRun {
			return nil
		}
		return s.saveState()
	}
	most := stats.MaxRounds
	for most > search.Plan.Fewest() && s.built.Takes(most) > s.most {
		most--
	}
	search.Plan.Rounds = most
	n, least := search.Plan.Comparisons(), search.Plan.Fewest()
	s.w.Progress.Say(fmt.Sprintf("%s: %d to %s a comparison, %v to %v; %v to %v in all, builds not included",
		q.Benchmark, least, format.Count(most, "round"), roundSeconds(s.built.Takes(least)), roundSeconds(s.built.Takes(most)),
		roundSeconds(time.Duration(n)*s.built.Takes(least)), roundSeconds(time.Duration(n)*s.built.Takes(most))))
	if s.built.Takes(least) > s.most {
		s.w.Progress.Say(fmt.Sprintf("--max %v may end a comparison before it can tell: %s take about %v", s.most, format.Count(least, "round"), roundSeconds(s.built.Takes(least))))
	}
	if s.dryRun {
		return nil
	}
	return s.saveState()
}

// Rounds for the selection of the benchmark.
const (
	scoutRounds = 8
	scoutCounts = 2
)

// buildCommit builds the good revision and a commit.
func (s *searcher) buildCommit(ctx context.Context, commit, pattern string) error {
	s.closeBuild()
	s.built = nil
	place := s.buildPlace()
	place.Say = func(text string) { s.w.Progress.Status("build", shortID(commit)+": "+text) }
	b, err := benchstudy.NewBench(ctx, s.selectionOf(commit, pattern), place)
	if err != nil {
		return err
	}
	s.built, s.commit = b, commit
	return nil
}

// measureCommit measures rounds of a commit.
func (s *searcher) measureCommit(ctx context.Context, commit string, rounds int) (bisect.Batch, error) {
	if n, ok := s.state.Search.Forecast(); ok && !s.printedForecast && s.built != nil && !s.isCounted() {
		s.printedForecast = true
		s.w.Progress.Say(s.state.describeBad() + fmt.Sprintf("; %s to go, of about %s and %v each", format.Count(s.state.countLeft(), "comparison"), format.Count(n, "round"), roundSeconds(s.built.Takes(n))))
	}
	if s.built == nil || s.commit != commit {
		if err := s.buildCommit(ctx, commit, gobench.Exactly(s.state.Name)); err != nil {
			return bisect.Batch{}, toSkipError(ctx, err)
		}
		if !s.built.Keep(s.state.Of.Benchmark) {
			return bisect.Batch{}, &bisect.SkipError{Why: "it has no " + s.state.Of.Benchmark}
		}
	}
	began := s.w.Now()
	res, err := s.measureRounds(ctx, commit, rounds, s.most-s.state.Search.Took(commit))
	if err != nil {
		return bisect.Batch{}, err
	}
	batch, err := s.state.Of.Batch(res)
	batch.Took = s.w.Now().Sub(began)
	batch.Last = batch.Last || res.RoundsDone < rounds
	return batch, err
}

// measureRounds measures rounds of the built commit, at least one and as many as most allows.
func (s *searcher) measureRounds(ctx context.Context, commit string, rounds int, most time.Duration) (*tare.Result, error) {
	begun := s.w.Now()
	if s.isCounted() {
		res, err := s.countInstructions(ctx, most)
		s.state.Seconds += s.w.Now().Sub(begun).Seconds()
		return res, err
	}
	res, err := s.w.Batch(ctx, s.built, s.built.Study, rounds, most, func(e lab.Event) {
		if e.Phase == "round" || e.Phase == "pilot" {
			s.w.Progress.Status("round", fmt.Sprintf("%s: round %d of %d", shortID(commit), e.Round, rounds))
		}
	})
	s.state.Seconds += s.w.Now().Sub(begun).Seconds()
	return res, err
}

// countInstructions counts instructions of the built commit, in at most most, without timing.
func (s *searcher) countInstructions(ctx context.Context, most time.Duration) (*tare.Result, error) {
	if c, why := counts.Find(ctx, counts.Auto); c == nil && ctx.Err() == nil {
		return nil, cmdenv.Usage(why, "")
	}
	place := s.buildPlace()
	place.Say = func(text string) { s.w.Progress.Status("count", shortID(s.commit)+": "+text) }
	if err := s.built.Count(ctx, counts.Auto, place, most); err != nil {
		return nil, err
	}
	return s.built.Untimed(), nil
}

// buildPlace returns the build directories and limits.
func (s *searcher) buildPlace() benchstudy.Place {
	return benchstudy.Place{
		Cache: s.w.Dirs.Cache, Run: s.w.RunTag, Guardian: s.w.Guardian, Procs: s.procs,
		Say: func(text string) { s.w.Progress.Status("build", text) },
	}
}

// saveState saves the state, and prints a finished comparison.
func (s *searcher) saveState() error {
	if n := len(s.state.Search.Tests); n > 0 && s.state.Search.Tests[n-1].Verdict != "" {
		t := s.state.Search.Tests[n-1]
		s.w.Progress.Say(strings.Join(strings.Fields(strings.Join(s.state.tableRow(t), "  ")), " "))
	}
	return s.state.saveTo(s.path)
}

// toSkipError turns an error of a commit into a reason to skip it. Other errors stay as they
// are.
func toSkipError(ctx context.Context, err error) error {
	var usage *benchstudy.UsageError
	var build *suite.BuildError
	if ctx.Err() == nil && (errors.As(err, &usage) || errors.As(err, &build) && build.Side == benchstudy.Head) {
		return &bisect.SkipError{Why: format.Line(err.Error(), 0)}
	}
	return err
}

func shortID(commit string) string { return commit[:min(9, len(commit))] }

func roundSeconds(d time.Duration) time.Duration {
	return max(time.Second, cmp.Or(d.Round(time.Second), time.Second))
}
