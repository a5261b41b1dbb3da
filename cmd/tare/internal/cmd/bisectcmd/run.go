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
	"github.com/tarebench/tare/cmd/tare/internal/bring"
	"github.com/tarebench/tare/cmd/tare/internal/bring/bisect"
	"github.com/tarebench/tare/cmd/tare/internal/bring/suite"
	"github.com/tarebench/tare/cmd/tare/internal/bring/tree"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/gobench"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/stats"
)

// run is tare bisect.
func run(ctx context.Context, env cmdenv.Env, o options) error {
	h, err := o.findHistory(ctx) // before the lock
	if err != nil {
		return session.BenchError(ctx, err)
	}
	p := session.NewProgress(env, o.quiet)
	defer p.End()
	alone := env
	alone.Lab.Sources = func(cmdenv.Workshop) (lab.Sources, error) { return suite.Sources{}, nil } // they come when both sides are built
	var exit int
	err = session.With(ctx, alone, session.Options{Measuring: lab.Measuring{Isolation: tare.Lockstep, Procs: o.procs, Seed: o.seed}, NoLock: o.noLock, Quiet: o.quiet}, p, func(ctx context.Context, w *session.Session) error {
		s := &searcher{options: o, w: w}
		defer s.close()
		if err := s.begin(ctx, h); err != nil {
			return session.BenchError(ctx, err)
		}
		if o.dryRun {
			return nil
		}
		err := s.state.Search.Run(ctx, s.measure, s.save)
		p.Pause()
		if err != nil {
			return session.BenchError(ctx, err)
		}
		exit = s.state.exit()
		if o.format == "json" {
			return cmdenv.PrintJSON(env.Out, s.state.document())
		}
		return s.state.print(env.Out)
	})
	if err != nil {
		return err
	}
	return cmdenv.Code(exit)
}

// searcher measures for a search.
type searcher struct {
	options
	w     *session.Session
	state *state
	path  string // of the state

	built  *bring.Bench // the commit that was measured last
	commit string
	said   bool // what is left to do was printed
}

func (s *searcher) close() {
	if s.built != nil {
		s.built.Close()
	}
}

// history is what is searched.
type history struct {
	repo    tree.Repo
	ends    [2]tree.Revision // good and bad
	commits []tree.Commit    // that bad has and good has not
}

// findHistory finds the commits to search, and checks that the bad revision has such
// a benchmark.
func (o options) findHistory(ctx context.Context) (h history, err error) {
	if h.repo, err = tree.Find(ctx, "."); err != nil {
		return h, cmdenv.Usage(err.Error(), "")
	}
	for i, name := range []string{o.good, o.bad} {
		if h.ends[i], err = h.repo.Resolve(ctx, name); err != nil {
			return h, cmdenv.Usage(err.Error(), "git log shows which there are, and a shallow clone has only the newest")
		}
	}
	h.commits, err = h.repo.Between(ctx, h.ends[0], h.ends[1], o.firstParent)
	var apart *tree.ApartError
	if errors.As(err, &apart) {
		return h, cmdenv.Usage(err.Error(), "give the commit that they come from as --good")
	}
	if err != nil {
		return h, err
	}
	if len(h.commits) == 0 {
		return h, cmdenv.Usage(fmt.Sprintf("there is no commit between %s and %s", h.ends[0], h.ends[1]), "")
	}
	return h, o.asked(h.ends[1].Commit, o.bench).Check(ctx)
}

// begin takes up what an earlier call left, and prints what the search costs.
func (s *searcher) begin(ctx context.Context, h history) (err error) {
	ends, commits := h.ends, h.commits
	fresh := newState(s.options, h.repo, ends, commits)
	s.path = filepath.Join(s.w.Dirs.Cache, "bisect", fresh.key()+".json")
	s.state = fresh
	if !s.restart {
		if s.state, err = load(s.path, fresh); err != nil {
			return err
		}
	}
	s.state.own = s.own
	s.w.Progress.Say(fmt.Sprintf("%s after %s up to %s: %s with %s, the first of them of %s",
		format.Count(len(commits), "commit"), ends[0], ends[1], format.Count(fresh.Search.Plan.Comparisons(), "comparison"), short(ends[0].Commit), short(ends[1].Commit)))
	if done := s.state.done(); done > 0 {
		s.w.Progress.Say(fmt.Sprintf("%s of an earlier call are used; --restart would forget them", format.Count(done, "comparison")))
		return nil
	}
	return s.choose(ctx, ends[1].Commit)
}

// choose builds the bad revision, decides by which benchmark is searched, and
// prints what that costs.
func (s *searcher) choose(ctx context.Context, bad string) error {
	if err := s.build(ctx, bad, s.bench); err != nil {
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
			s.w.Progress.Say(fmt.Sprintf("first %s of %s matching %s, about %v", format.Count(rounds, "round"), format.Count(len(all), "benchmark"), s.bench, seconds(s.built.Takes(rounds))))
		}
		res, err := s.rounds(ctx, bad, rounds, s.most)
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
		return s.save()
	}
	most := stats.MaxRounds
	for most > search.Plan.Fewest() && s.built.Takes(most) > s.most {
		most--
	}
	search.Plan.Rounds = most
	n, least := search.Plan.Comparisons(), search.Plan.Fewest()
	s.w.Progress.Say(fmt.Sprintf("%s: %d to %s a comparison, %v to %v; %v to %v in all, builds not included",
		q.Benchmark, least, format.Count(most, "round"), seconds(s.built.Takes(least)), seconds(s.built.Takes(most)),
		seconds(time.Duration(n)*s.built.Takes(least)), seconds(time.Duration(n)*s.built.Takes(most))))
	if s.built.Takes(least) > s.most {
		s.w.Progress.Say(fmt.Sprintf("--max %v may end a comparison before it can tell: %s take about %v", s.most, format.Count(least, "round"), seconds(s.built.Takes(least))))
	}
	if s.dryRun {
		return nil
	}
	return s.save()
}

// Rounds that decide by which of several benchmarks is searched.
const (
	scoutRounds = 8
	scoutCounts = 2
)

// build builds the good revision and a commit.
func (s *searcher) build(ctx context.Context, commit, pattern string) error {
	s.close()
	s.built = nil
	place := s.place()
	place.Say = func(text string) { s.w.Progress.Status("build", short(commit)+": "+text) }
	b, err := bring.NewBench(ctx, s.asked(commit, pattern), place)
	if err != nil {
		return err
	}
	s.built, s.commit = b, commit
	return nil
}

// measure takes rounds of a commit.
func (s *searcher) measure(ctx context.Context, commit string, rounds int) (bisect.Batch, error) {
	if n, ok := s.state.Search.Forecast(); ok && !s.said && s.built != nil && !s.isCounted() {
		s.said = true
		s.w.Progress.Say(s.state.shows() + fmt.Sprintf("; %s to go, of about %s and %v each", format.Count(s.state.left(), "comparison"), format.Count(n, "round"), seconds(s.built.Takes(n))))
	}
	if s.built == nil || s.commit != commit {
		if err := s.build(ctx, commit, gobench.Exactly(s.state.Name)); err != nil {
			return bisect.Batch{}, passedOver(ctx, err)
		}
		if !s.built.Keep(s.state.Of.Benchmark) {
			return bisect.Batch{}, &bisect.SkipError{Why: "it has no " + s.state.Of.Benchmark}
		}
	}
	began := s.w.Now()
	res, err := s.rounds(ctx, commit, rounds, s.most-s.state.Search.Took(commit))
	if err != nil {
		return bisect.Batch{}, err
	}
	batch, err := s.state.Of.Batch(res)
	batch.Took = s.w.Now().Sub(began)
	batch.Last = batch.Last || res.RoundsDone < rounds
	return batch, err
}

// rounds measures rounds of what is built, as many as there is time for and at least
// one.
func (s *searcher) rounds(ctx context.Context, commit string, rounds int, most time.Duration) (*tare.Result, error) {
	begun := s.w.Now()
	if s.isCounted() {
		res, err := s.count(ctx, most)
		s.state.Seconds += s.w.Now().Sub(begun).Seconds()
		return res, err
	}
	res, err := s.w.Batch(ctx, s.built, s.built.Study, rounds, most, func(e lab.Event) {
		if e.Phase == "round" || e.Phase == "pilot" {
			s.w.Progress.Status("round", fmt.Sprintf("%s: round %d of %d", short(commit), e.Round, rounds))
		}
	})
	s.state.Seconds += s.w.Now().Sub(begun).Seconds()
	return res, err
}

// count counts what is built, in at most most, and times nothing.
func (s *searcher) count(ctx context.Context, most time.Duration) (*tare.Result, error) {
	if c, why := counts.Find(ctx, counts.Auto); c == nil && ctx.Err() == nil {
		return nil, cmdenv.Usage(why, "")
	}
	place := s.place()
	place.Say = func(text string) { s.w.Progress.Status("count", short(s.commit)+": "+text) }
	if err := s.built.Count(ctx, counts.Auto, place, most); err != nil {
		return nil, err
	}
	return s.built.Untimed(), nil
}

// place is where commits are built.
func (s *searcher) place() bring.Place {
	return bring.Place{
		Cache: s.w.Dirs.Cache, Run: s.w.RunTag, Guardian: s.w.Guardian, Procs: s.procs,
		Say: func(text string) { s.w.Progress.Status("build", text) },
	}
}

// save writes the state down, and prints a comparison that is over.
func (s *searcher) save() error {
	if n := len(s.state.Search.Tests); n > 0 && s.state.Search.Tests[n-1].Verdict != "" {
		t := s.state.Search.Tests[n-1]
		s.w.Progress.Say(strings.Join(strings.Fields(strings.Join(s.state.row(t), "  ")), " "))
	}
	return s.state.save(s.path)
}

// passedOver is err as a reason to pass a commit over, if it is the commit's.
func passedOver(ctx context.Context, err error) error {
	var usage *bring.UsageError
	var build *suite.BuildError
	if ctx.Err() == nil && (errors.As(err, &usage) || errors.As(err, &build) && build.Side == bring.Head) {
		return &bisect.SkipError{Why: format.Line(err.Error(), 0)}
	}
	return err
}

func short(commit string) string { return commit[:min(9, len(commit))] }

func seconds(d time.Duration) time.Duration {
	return max(time.Second, cmp.Or(d.Round(time.Second), time.Second))
}
