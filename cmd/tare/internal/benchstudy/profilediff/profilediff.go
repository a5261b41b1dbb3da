// Package profilediff explains why a benchmark differs between two builds. For example: "parse.scan
// takes 90 of the 120 ns more, and the compiler does not inline it any more". It profiles both
// builds in turn, with the same number of operations. It names functions and allocations that
// differ significantly. It also reports decisions of the compiler, and calls in the source, that
// only one build has.
package profilediff

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/profile"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/gobench"
	"github.com/tarebench/tare/stats"
)

// Bounds of profiling.
const (
	Rounds     = 9                      // nine can bound the error over a dozen functions
	roundTime  = 700 * time.Millisecond // run of the slower side
	allocOps   = 64                     // operations of the shorter run that counts allocations
	maxWait    = time.Minute
	maxPrinted = 1 << 20 // the result is at the end of the output
	minNSPerOp = 0.1     // least ns of an operation, to divide by
)

// Side is one build.
type Side struct {
	ID     string
	Dir    string                                                                     // working directory of the benchmark
	Env    []string                                                                   // complete environment
	Binary func(ctx context.Context, round int) (path string, done func(), err error) // done removes the binary
	Source func(ctx context.Context, packages []string) (Source, error)               // compiler's output; may be nil
}

// Question selects one benchmark to explain.
type Question struct {
	Workload   string  // id of the benchmark in results
	Name       string  // e.g. BenchmarkParse/small
	NSPerOp    float64 // approximate time of the slower side
	Rounds     int     // 0 means Rounds
	Allocs     float64 // measured per operation, head − base, or NaN
	Base, Head Side
	IsUser     func(path string) bool                      // whether functions of a package are named
	Work       string                                      // directory for profiles
	Spec       trial.Spec                                  // configuration of the processes
	SaveFlame  func(flame []byte) (file string, err error) // stores a graph of the differences; may be nil
}

// Explain returns the explanation of the difference. It fails only if ctx is done. Other failures
// are part of the explanation.
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

func opsPerRound(ns float64) int64 {
	return max(1, int64(float64(roundTime.Nanoseconds())/max(ns, minNSPerOp)))
}

// profileBoth profiles both sides in every round and completes e. In a few of the first rounds it
// also counts allocations.
func profileBoth(ctx context.Context, q Question, e *tare.Explanation) error {
	var cpu Rows
	var allocated []allocCounts
	var walls [2][]float64        // ns per operation by side and round
	var merged [2]profile.Profile // all rounds together, by side
	for round := range q.Rounds {
		var costs [2][]profile.Cost
		var allocs allocCounts
		countsAllocs := round < maxCounted && !isAgreed(allocated)
		for turn := range 2 {
			side := (round + turn) % 2 // the sides take turns to go first
			measured, err := q.profileSide(ctx, []Side{q.Base, q.Head}[side], round, e.Ops, countsAllocs, &merged[side])
			if err != nil {
				return err
			}
			costs[side], allocs[side] = measured.cpu, measured.allocs
			walls[side] = append(walls[side], measured.wall)
		}
		cpu.Add(costs[inBase], costs[inHead], float64(e.Ops))
		if countsAllocs {
			allocated = append(allocated, allocs)
		}
	}
	e.WallFrom, e.WallTo = stats.Median(walls[inBase]), stats.Median(walls[inHead])
	e.From, e.To = cpu.Totals()
	e.Functions = cpu.Significant()
	e.Sites, e.Unseen = closestRows(allocated).Constant(q.Allocs)
	minShare := hotShare / 5 // the source of other functions may explain the difference
	if e.Waits() {           // a function that waits uses no CPU time
		minShare = 0
	}
	if err := q.drawFlame(e, merged); err != nil {
		return err
	}
	return q.compareSources(ctx, e, cpu.HotFunctions(minShare))
}

type sideProfile struct {
	cpu    []profile.Cost // sums over ops operations, by function
	allocs []profile.Cost // per operation; nil if not counted
	wall   float64        // ns per operation
}

// profileSide runs one side of a round for ops operations, and counts its allocations if
// countsAllocs is set. It adds the CPU profile to merged.
func (q Question) profileSide(ctx context.Context, side Side, round int, ops int64, countsAllocs bool, merged *profile.Profile) (m sideProfile, err error) {
	path, done, err := side.Binary(ctx, round)
	if err != nil {
		return m, err
	}
	defer done()
	m.cpu, m.wall, err = q.runProfile(ctx, side, path, tare.ProfileCPU, ops, merged)
	if err == nil && countsAllocs {
		m.allocs, err = q.countAllocs(ctx, side, path, ops)
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", side.ID, err)
	}
	return m, nil
}

// allocCounts contains allocations per operation in one round, of base and head.
type allocCounts [2][]profile.Cost

// difference returns the allocations of head minus those of base.
func (c allocCounts) difference() (d float64) {
	for _, site := range c[inBase] {
		d -= site.Value
	}
	for _, site := range c[inHead] {
		d += site.Value
	}
	return d
}

// maxCounted limits the rounds in which allocations are counted, until two rounds agree. A profile
// can lack allocations that were made during a collection.
const maxCounted = 4

// closestRounds returns the two rounds whose differences between the sides are most alike. distance
// is that of these differences, or +Inf if there is only one round.
func closestRounds(rounds []allocCounts) (a, b int, distance float64) {
	distance = math.Inf(1)
	for i := range rounds {
		for j := range i {
			if d := math.Abs(rounds[i].difference() - rounds[j].difference()); d < distance {
				a, b, distance = j, i, d
			}
		}
	}
	return a, b, distance
}

// isAgreed reports whether two rounds have about the same difference, so that no more are needed.
func isAgreed(rounds []allocCounts) bool {
	_, _, distance := closestRounds(rounds)
	return distance < minObjects/2
}

func closestRows(rounds []allocCounts) *Rows {
	var r Rows
	a, b, _ := closestRounds(rounds)
	for i, c := range rounds {
		if i == a || i == b {
			r.Add(c[inBase], c[inHead], 1)
		}
	}
	return &r
}

// drawFlame draws one flame graph of the CPU time of both sides and stores it. Without q.SaveFlame
// or without samples it does nothing.
func (q Question) drawFlame(e *tare.Explanation, merged [2]profile.Profile) (err error) {
	if q.SaveFlame == nil || merged[inBase].Total+merged[inHead].Total == 0 {
		return nil
	}
	ops := e.Ops * int64(q.Rounds)
	title := fmt.Sprintf("%s: %s against %s, CPU time", q.Workload, q.Head.ID, q.Base.ID)
	base := profile.Side{Name: q.Base.ID, Profile: &merged[inBase], Ops: ops}
	head := profile.Side{Name: q.Head.ID, Profile: &merged[inHead], Ops: ops}
	e.Flame, err = q.SaveFlame(profile.DifferenceFlame(title, base, head))
	return err
}

// countAllocs returns the allocations per operation by function. It subtracts a run of n operations
// from one of 3n, so that the set-up does not count. If a round has one operation, it counts a
// single run.
func (q Question) countAllocs(ctx context.Context, side Side, path string, opsPerRound int64) ([]profile.Cost, error) {
	n := min(opsPerRound, allocOps)
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

// runProfile runs the benchmark once, with a profile of kind [tare.ProfileCPU] or [tare.ProfileMem].
// It returns the costs by function, and the ns/op without waits for a processor. It adds the profile
// to merged unless that is nil.
func (q Question) runProfile(ctx context.Context, side Side, path, kind string, ops int64, merged *profile.Profile) ([]profile.Cost, float64, error) {
	file := filepath.Join(q.Work, "profile."+kind)
	limited, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	spec := q.Spec
	spec.Path, spec.Dir, spec.Env, spec.Stdout = path, side.Dir, side.Env, maxPrinted
	spec.Args = []string{
		"-test.paniconexit0", "-test.run=^$", "-test.count=1",
		"-test.bench=" + gobench.Exactly(q.Name), "-test.skip=" + gobench.Exactly(q.Name) + "/.", // no sub-benchmarks
		fmt.Sprintf("-test.benchtime=%dx", ops), "-test." + kind + "profile=" + file,
	}
	if kind == tare.ProfileMem { // every allocation, not a sample
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
	times := gobench.PrintedResults(printed, q.Name, 0, ops)
	if len(times) == 0 {
		return nil, 0, errors.New("profile " + q.Name + ": it printed no result")
	}
	wall := max(0, times[0]-float64(queued)/float64(ops))
	doc, err := atomicfile.ReadFile(file, profile.MaxDocument)
	if err != nil {
		return nil, 0, fmt.Errorf("read the profile of %s: %w", q.Name, err)
	}
	if merged != nil {
		complete, err := profile.Read(doc, kind)
		if err != nil {
			return nil, 0, err
		}
		merged.Kind, merged.Unit = complete.Kind, complete.Unit
		merged.Add(complete)
	}
	costs, err := profile.Attribute(doc, kind, q.IsUser)
	return costs, wall, err
}

// queueInterval is the interval at which the time that a benchmark waited for a processor is read.
const queueInterval = 20 * time.Millisecond

// runBenchmark runs a benchmark. queued is the time that its threads waited for a processor, or 0
// if unknown.
func runBenchmark(ctx context.Context, spec trial.Spec) (printed string, queued time.Duration, err error) {
	command, err := trial.StartCommand(ctx, spec)
	if err != nil {
		return "", 0, err
	}
	defer command.Close(ctx)
	ticker := time.NewTicker(queueInterval)
	defer ticker.Stop()
	for {
		select {
		case <-command.Exited():
			printed, err = command.Output("profiling")
			return printed, queued, err
		case <-ctx.Done():
			return "", queued, ctx.Err()
		case <-ticker.C:
			if d, ok := machine.RunQueueWait(command.PID()); ok {
				queued = max(queued, d)
			}
		}
	}
}
