// Package profilediff explains a difference between two builds of a benchmark: after all timing it profiles
// both alternately, with the same number of operations, round by round, and names the functions and
// allocation sites whose part of the difference has an interval over rounds that excludes zero. For
// these it reports the compiler's decisions, and the calls in the source, that only one side has.
package profilediff

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/profile"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/gobench"
)

// Rounds of profiles, and how long the slower side runs in one: nine bound the
// error over a dozen functions.
const (
	Rounds    = 9
	roundTime = 700 * time.Millisecond
	allocOps  = 64 // operations between two counts of allocations
	maxWait   = time.Minute

	maxPrinted = 1 << 20 // of a benchmark's output; its result is at the end
)

// Side is one build.
type Side struct {
	ID     string
	Dir    string   // where the benchmark runs
	Env    []string // complete
	Binary func(ctx context.Context, round int) (path string, done func(), err error)
	Source func(ctx context.Context, packages []string) (Source, error) // the compiler's output; nil if it is not known
}

// Question selects one benchmark to explain.
type Question struct {
	Workload   string
	Name       string  // of the benchmark, e.g. BenchmarkParse/small
	NSPerOp    float64 // of the slower side, roughly
	Rounds     int     // 0 means Rounds
	Allocs     float64 // per operation, of head more than of base, as measured; NaN if not measured
	Base, Head Side
	Users      func(path string) bool                      // packages whose functions are named
	Work       string                                      // directory for profiles
	Spec       trial.Spec                                  // of the run, for its processes
	Keep       func(flame []byte) (file string, err error) // stores a flame graph of the differences; nil if none is drawn
}

// Explain returns the explanation. An error is one of the context's; other failures are part of the
// explanation.
func Explain(ctx context.Context, q Question) (tare.Explanation, error) {
	if q.Rounds == 0 {
		q.Rounds = Rounds
	}
	e := tare.Explanation{
		Workload: q.Workload, Contender: q.Head.ID, Against: q.Base.ID, Rounds: q.Rounds, Ops: opsPerRound(q.NSPerOp),
		Functions: []tare.Origin{}, Sites: []tare.Origin{}, Decisions: []tare.Decision{}, Calls: []tare.Decision{},
	}
	if err := profileBoth(ctx, q, &e); err != nil {
		if ctx.Err() != nil {
			return e, ctx.Err()
		}
		e.Why = format.Line(err.Error(), 300)
	}
	return e, nil
}

// opsPerRound returns the number of operations that fill a round, for ns per operation.
func opsPerRound(ns float64) int64 {
	return max(1, int64(float64(roundTime.Nanoseconds())/max(ns, 0.1)))
}

func profileBoth(ctx context.Context, q Question, e *tare.Explanation) error {
	var cpu Rows
	var allocated []allocCounts // by round
	var walls [2][]float64
	var seen [2]profile.Profile // of CPU time, over all rounds
	for round := range q.Rounds {
		var costs [2][]profile.Cost
		var sites allocCounts
		count := round < maxCounted && !isSettled(allocated)
		for turn := range 2 {
			i := (round + turn) % 2 // who goes first alternates
			side := []Side{q.Base, q.Head}[i]
			path, done, err := side.Binary(ctx, round)
			if err != nil {
				return err
			}
			var wall float64
			costs[i], wall, err = q.runProfile(ctx, side, path, tare.ProfileCPU, e.Ops, &seen[i])
			if err == nil && count {
				sites[i], err = q.countAllocs(ctx, side, path, e.Ops)
			}
			done()
			if err != nil {
				return fmt.Errorf("%s: %w", side.ID, err)
			}
			walls[i] = append(walls[i], wall)
		}
		cpu.Add(costs[0], costs[1], float64(e.Ops))
		if count {
			allocated = append(allocated, sites)
		}
	}
	e.WallFrom, e.WallTo = median(walls[0]), median(walls[1])
	e.From, e.To = cpu.Totals()
	e.Functions = cpu.Named()
	e.Sites, e.Unseen = closestRows(allocated).Exact(q.Allocs)
	least := hotShare / 5
	if e.Waits() { // waiting uses no CPU time
		least = 0
	}
	if err := q.drawFlame(e, seen); err != nil {
		return err
	}
	return q.compareSources(ctx, e, cpu.Hot(least))
}

// allocCounts contains the allocations of both sides in one round.
type allocCounts [2][]profile.Cost

// difference returns how many more the head has.
func (c allocCounts) difference() (d float64) {
	for i, sign := range []float64{-1, 1} {
		for _, site := range c[i] {
			d += sign * site.Value
		}
	}
	return d
}

// maxCounted limits the rounds in which allocations are counted, if two of them have to be alike.
// Allocations hardly ever vary by chance, but a profile can lack those made during a collection.
const maxCounted = 4

// closestRounds returns the two rounds that differ least, and by how much.
func closestRounds(of []allocCounts) (a, b int, distance float64) {
	distance = math.Inf(1)
	for i := range of {
		for j := range i {
			if d := math.Abs(of[i].difference() - of[j].difference()); d < distance {
				a, b, distance = j, i, d
			}
		}
	}
	return a, b, distance
}

// isSettled reports whether two rounds are alike.
func isSettled(of []allocCounts) bool {
	_, _, distance := closestRounds(of)
	return distance < minObjects/2
}

// closestRows returns the two rounds that are most alike.
func closestRows(of []allocCounts) *Rows {
	var r Rows
	a, b, _ := closestRounds(of)
	for i, c := range of {
		if i == a || i == b {
			r.Add(c[0], c[1], 1)
		}
	}
	return &r
}

// drawFlame draws where both sides spend their CPU time, in one graph.
func (q Question) drawFlame(e *tare.Explanation, seen [2]profile.Profile) (err error) {
	if q.Keep == nil || seen[0].Total+seen[1].Total == 0 {
		return nil
	}
	ops := e.Ops * int64(q.Rounds)
	title := fmt.Sprintf("%s: %s against %s, CPU time", q.Workload, q.Head.ID, q.Base.ID)
	e.Flame, err = q.Keep(profile.FlameOfDifference(title,
		profile.Side{Name: q.Base.ID, Profile: &seen[0], Ops: ops}, profile.Side{Name: q.Head.ID, Profile: &seen[1], Ops: ops}))
	return err
}

// countAllocs counts allocations per operation and by site: those of many operations less those of
// few, so that set-up is in neither.
func (q Question) countAllocs(ctx context.Context, side Side, path string, most int64) ([]profile.Cost, error) {
	n := min(most, allocOps)
	if n < 2 {
		costs, _, err := q.runProfile(ctx, side, path, tare.ProfileMem, 1, nil)
		return costs, err
	}
	few, _, err := q.runProfile(ctx, side, path, tare.ProfileMem, n, nil)
	if err != nil {
		return nil, err
	}
	many, _, err := q.runProfile(ctx, side, path, tare.ProfileMem, 3*n, nil)
	for i := range many {
		for _, f := range few {
			if f.Function == many[i].Function && f.Through == many[i].Through && f.Line == many[i].Line {
				many[i].Value -= f.Value
			}
		}
		many[i].Value /= float64(2 * n)
	}
	return many, err
}

// runProfile runs the benchmark once and returns its profile, and its time in ns/op. It adds the
// complete profile to seen, unless that is nil.
func (q Question) runProfile(ctx context.Context, side Side, path, of string, ops int64, seen *profile.Profile) ([]profile.Cost, float64, error) {
	file := filepath.Join(q.Work, "profile."+of)
	limited, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	spec := q.Spec
	spec.Path, spec.Dir, spec.Env, spec.Stdout = path, side.Dir, side.Env, maxPrinted
	spec.Args = []string{"-test.paniconexit0", "-test.run=^$", "-test.bench=" + gobench.Exactly(q.Name), "-test.skip=" + gobench.Exactly(q.Name) + "/.", "-test.count=1",
		fmt.Sprintf("-test.benchtime=%dx", ops), "-test." + of + "profile=" + file}
	if of == tare.ProfileMem {
		spec.Args = append(spec.Args, "-test.memprofilerate=1")
	}
	printed, queued, err := runBenchmark(limited, spec)
	var failed *tare.TrialError
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return nil, 0, fmt.Errorf("profiling %s took more than %v", q.Name, maxWait)
	case errors.As(err, &failed) && failed.Class == tare.ErrExit:
		return nil, 0, fmt.Errorf("profile %s: %w: %s", q.Name, err, format.Line(printed, 200))
	case err != nil:
		return nil, 0, fmt.Errorf("profile %s: %w", q.Name, err)
	}
	figures := gobench.PrintedResults(printed, q.Name, 0, ops)
	if len(figures) == 0 {
		return nil, 0, errors.New("profile " + q.Name + ": it printed no result")
	}
	wall := max(0, figures[0]-float64(queued)/float64(ops))
	doc, err := atomicfile.ReadFile(file, profile.MaxDocument)
	if err != nil {
		return nil, 0, fmt.Errorf("read the profile of %s: %w", q.Name, err)
	}
	if seen != nil {
		one, err := profile.Read(doc, of)
		if err != nil {
			return nil, 0, err
		}
		seen.Of, seen.Unit = one.Of, one.Unit
		seen.Add(one)
	}
	costs, err := profile.Attribute(doc, of, q.Users)
	return costs, wall, err
}

// queueEvery is the interval at which the wait of a benchmark for a processor is read: waits after
// the last reading are missing.
const queueEvery = 20 * time.Millisecond

// runBenchmark runs a benchmark, with the bounds of a trial, and returns its output, and how long
// its threads waited for a processor. On a busy machine that is most of its time, and not the
// benchmark's own waiting.
func runBenchmark(ctx context.Context, spec trial.Spec) (printed string, queued time.Duration, err error) {
	c, err := trial.StartCommand(ctx, spec)
	if err != nil {
		return "", 0, err
	}
	defer c.Close(ctx)
	tick := time.NewTicker(queueEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.Exited():
			printed, err = c.Output("profiling")
			return printed, queued, err
		case <-ctx.Done():
			return "", queued, ctx.Err()
		case <-tick.C:
			if d, ok := machine.RunQueueWait(c.PID()); ok {
				queued = max(queued, d)
			}
		}
	}
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(x))
	return (s[len(s)/2] + s[(len(s)-1)/2]) / 2
}
