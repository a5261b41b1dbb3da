package benchstudy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/gobench"
)

// This file counts the instructions that each benchmark executes on both sides, e.g. 1200 per
// operation in base and 1250 in head. Unlike times, counts hardly vary.

// callersShare divides the time for counts: counts of calls get one part.
const callersShare = 6

// largeSuite is the number of benchmarks above which counts get more time. In a short budget they
// decide more benchmarks than times do.
const largeSuite = 20

// FewBenchmarks is the number of benchmarks up to which each is counted a third time. So few do not
// show how much counts vary.
const FewBenchmarks = 2

type comparisonCounts struct {
	counter    *counts.Counter
	pairs      map[string]*counts.Pair // by benchmark id
	work       []tare.Work
	rows       []tare.Comparison
	calls      map[string]*callGraph // by benchmark id; only of some that differ
	whyNoCalls map[string]string     // by benchmark id
}

// Counting configures how instructions are counted.
type Counting struct {
	Counter   counts.Choice
	TimeLimit time.Duration // 0 means no limit; builds do not count
	Callers   bool          // count the calls of some benchmarks that differ, too
	SkipsSame bool          // SkipSame will be called
	Decides   bool          // the counts have a limit
}

// CountsTime returns the part of a time budget that is spent on counting instructions.
func (b *Bench) CountsTime(budget time.Duration, options Counting) time.Duration {
	switch isLarge := b.isLargeSuite(options.SkipsSame); {
	case isLarge && options.Decides:
		return budget / 4 * 3
	case isLarge:
		return budget / 2
	}
	return budget / 4
}

// isLargeSuite reports whether more than largeSuite benchmarks need counts. With skipsSame, even
// benchmarks with the same code on both sides need them, because they must be timed otherwise.
func (b *Bench) isLargeSuite(skipsSame bool) bool {
	differing, same := b.divideByCode()
	if skipsSame {
		return len(differing)+len(same) > largeSuite
	}
	return len(differing) > largeSuite
}

// Count counts the instructions of all benchmarks on both sides. A benchmark that cannot be counted
// gets a note, and is timed all the same.
func (b *Bench) Count(ctx context.Context, options Counting, setup Setup) error {
	counter, why := counts.FindCounter(ctx, options.Counter)
	if counter == nil {
		if why != "" {
			b.note(NotCounted(), "", why)
		}
		return ctx.Err()
	}
	if why := b.whyUncountable(counter); why != "" {
		b.note(NotCounted(), "", "instructions are not counted: "+why)
		return nil
	}
	c := &comparisonCounts{counter: counter, pairs: map[string]*counts.Pair{}}
	builds := &countBuilds{bench: b, setup: setup, counter: counter, isBrief: b.isLargeSuite(options.SkipsSame), links: map[sidePackage]*gobench.Link{}, failed: map[string]error{}, built: map[countedBinary]string{}}
	defer builds.removeBinaries()
	for i, m := range b.benchmarks {
		if i == 0 || b.benchmarks[i-1].Package != m.Package {
			if err := builds.buildPackage(ctx, m.Package); err != nil {
				return err
			}
		}
	}
	began := time.Now()
	failures := builds.countInTime(ctx, c, options)
	b.Spent += time.Since(began)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, m := range b.benchmarks {
		if why := failures[m.ID()]; why != "" {
			b.note(NotCounted(), m.ID(), why)
		}
	}
	b.counted = c
	return nil
}

// countInTime counts instructions and then calls. It returns why benchmarks are not counted, by id.
func (b *countBuilds) countInTime(ctx context.Context, c *comparisonCounts, options Counting) map[string]string {
	countsCalls := options.Callers && b.counter.HasFunctions()
	limit := cmp.Or(options.TimeLimit, math.MaxInt64) // limit of both steps
	instructionsLimit := limit
	if countsCalls {
		instructionsLimit -= limit / callersShare
	}
	callsCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	instructionsCtx, cancel := context.WithTimeout(ctx, instructionsLimit)
	defer cancel()
	failures := b.countOnce(instructionsCtx, c)
	b.repeatCounts(instructionsCtx, c, failures)
	c.compareSides(b.bench.benchmarks)
	if countsCalls {
		c.calls, c.whyNoCalls = b.countCallers(callsCtx, c)
	}
	return failures
}

func (b *Bench) whyUncountable(c *counts.Counter) string {
	for _, id := range []string{Base, Head} {
		s := b.Sources.Suites[id]
		if setting := counts.WhyUncountable(s.Side.Env); setting != "" {
			return fmt.Sprintf("%s has %s, and the collector is off while they are", id, setting)
		}
		if why := c.WhyUnsupported(s.Go); why != "" {
			return id + " is " + why
		}
	}
	return ""
}

// sidePackage is a package on one side. pkg is its packageKey.
type sidePackage struct{ side, pkg string }

// countedBinary is the binary for one repeat of a count, from 0.
type countedBinary struct {
	sidePackage
	repeat int
}

// countBuilds links binaries to count. Each repeat has another order of functions, as timed rounds
// do.
type countBuilds struct {
	bench   *Bench
	setup   Setup
	counter *counts.Counter
	isBrief bool // many benchmarks share the time

	mu           sync.Mutex
	links        map[sidePackage]*gobench.Link // nil if the binary is not linked again
	failed       map[string]error              // build errors by package
	built        map[countedBinary]string      // paths of binaries
	packageLocks map[string]*sync.Mutex        // locks for packages of which only one process can run
}

// buildPackage finds the linker calls of a package on both sides. It stores errors of the compiler
// in b.failed.
func (b *countBuilds) buildPackage(ctx context.Context, key string) error {
	for _, id := range []string{Base, Head} {
		s := b.bench.Sources.Suites[id]
		pkg := packageKey(key)
		if b.links[sidePackage{id, pkg}] != nil {
			continue
		}
		link := s.Packages[key].Link
		if tag := b.counter.BuildTag(); tag != "" {
			b.setup.Say(fmt.Sprintf("%s: building %s for %s", id, pkg, b.counter.Name))
			files, err := counts.RuntimeFiles(s.ReplaceableRoot())
			if err == nil {
				link, err = s.BuildCounted(ctx, key, tag, files, filepath.Join(b.bench.workDir, "counted", id, fmt.Sprint(len(b.links))))
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				b.failed[pkg] = fmt.Errorf("built for %s, %w", b.counter.Name, err)
			}
		}
		b.links[sidePackage{id, pkg}] = link
	}
	return nil
}

// packageKey returns the key of the internal tests, whose binary also has the external tests.
func packageKey(key string) string { return strings.TrimSuffix(key, "_test") }

func (b *countBuilds) linkBinary(ctx context.Context, side, key string, repeat int) (string, error) {
	pkg := packageKey(key)
	if err := b.failed[pkg]; err != nil {
		return "", err
	}
	link := b.links[sidePackage{side, pkg}]
	if link == nil {
		return b.bench.Sources.Suites[side].Packages[key].Binary, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id := countedBinary{sidePackage{side, pkg}, repeat}
	if path := b.built[id]; path != "" {
		return path, nil
	}
	order := uint64(2*repeat + 1) // odd for base, even for head: all orders differ
	if side == Head {
		order++
	}
	path, err := link.Binary(ctx, order<<33+b.setup.Seed<<1)
	if err == nil {
		b.built[id] = path
	}
	return path, err
}

func (b *countBuilds) removeBinaries() {
	for _, path := range b.built {
		_ = os.Remove(path)
	}
	_ = os.RemoveAll(filepath.Join(b.bench.workDir, "counted"))
}

// countOnce counts all benchmarks once on each side, and returns why some are not counted, by id.
// Those whose code differs come first, as time may run out.
func (b *countBuilds) countOnce(ctx context.Context, c *comparisonCounts) map[string]string {
	failures := map[string]string{}
	b.packageLocks = map[string]*sync.Mutex{}
	for _, m := range b.bench.benchmarks {
		if m.WhyAlone != "" {
			b.packageLocks[m.Package] = &sync.Mutex{}
		}
	}
	differing, same := b.bench.divideByCode()
	order := slices.Concat(differing, same)
	var mu sync.Mutex
	done := 0
	b.setup.Say(fmt.Sprintf("counting instructions: 0 of %d benchmarks", len(order)))
	counts.Concurrently(order, func(m suite.Benchmark) {
		pair, err := b.startPair(ctx, m)
		mu.Lock()
		defer mu.Unlock()
		done++
		b.setup.Say(fmt.Sprintf("counting instructions: %d of %d benchmarks", done, len(order)))
		if err != nil {
			failures[m.ID()] = WhyNotCounted(ctx, err)
		} else {
			c.pairs[m.ID()] = pair
		}
	})
	return failures
}

func (b *countBuilds) startPair(ctx context.Context, m suite.Benchmark) (*counts.Pair, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	defer b.lockPackage(m.Package)()
	estimate := counts.Estimate{
		NSPerOp: m.IterationNS(), BytesPerOp: m.BytesPerOp, SameCode: b.bench.isSameCode(m.ID()),
		FewOthers: len(b.bench.benchmarks) <= FewBenchmarks, Brief: b.isBrief,
	}
	return b.counter.StartPair(ctx, estimate, b.newSide(m, Base), b.newSide(m, Head))
}

// repeatCounts counts incomplete sides again as long as time permits. If that fails, it removes the
// benchmark from c and adds the reason to failures.
func (b *countBuilds) repeatCounts(ctx context.Context, c *comparisonCounts, failures map[string]string) {
	type repeat struct {
		benchmark suite.Benchmark
		side      *counts.Series
	}
	for ctx.Err() == nil {
		var repeats []repeat
		for _, m := range b.bench.benchmarks {
			if pair := c.pairs[m.ID()]; pair != nil {
				for _, side := range pair.Incomplete() {
					repeats = append(repeats, repeat{m, side})
				}
			}
		}
		if len(repeats) == 0 {
			return
		}
		var mu sync.Mutex
		done := 0
		counts.Concurrently(repeats, func(r repeat) {
			defer b.lockPackage(r.benchmark.Package)()
			err := r.side.Repeat(ctx)
			mu.Lock()
			defer mu.Unlock()
			done++
			b.setup.Say(fmt.Sprintf("counting instructions again: %d of %d", done, len(repeats)))
			if err != nil && ctx.Err() == nil {
				id := r.benchmark.ID()
				failures[id] = WhyNotCounted(ctx, err)
				delete(c.pairs, id)
			}
		})
	}
}

func (b *countBuilds) lockPackage(key string) (unlock func()) {
	lock := b.packageLocks[key]
	if lock == nil {
		return func() {}
	}
	lock.Lock()
	return lock.Unlock
}

func (b *countBuilds) newSide(m suite.Benchmark, id string) counts.Side {
	s := b.bench.Sources.Suites[id]
	return func(ctx context.Context, repeat int) (counts.Program, error) {
		binary, err := b.linkBinary(ctx, id, m.Package, repeat)
		return counts.Benchmark{
			Name: m.Name, Binary: binary, Dir: s.Packages[m.Package].Dir, Env: s.Environment(m.Package),
			Spec: trial.Spec{Run: b.setup.RunTag, Guardian: b.setup.Guardian}, Work: b.bench.workDir,
		}, err
	}
}

// WhyNotCounted describes an error of a count in words.
func WhyNotCounted(ctx context.Context, err error) string {
	var refused *counts.RefusedError
	switch {
	case ctx.Err() != nil:
		return "there was no time for it"
	case errors.As(err, &refused):
		return refused.Why
	}
	return firstLine(err.Error())
}

func (c *comparisonCounts) compareSides(all []suite.Benchmark) {
	for _, m := range all {
		pair, ok := c.pairs[m.ID()]
		if !ok {
			continue
		}
		c.work = append(c.work, newWork(m.ID(), Base, &pair.Base), newWork(m.ID(), Head, &pair.Head))
	}
	c.rows = counts.CompareWork(c.work, Base, counts.Alpha)
}

func newWork(benchmark, side string, s *counts.Series) tare.Work {
	return tare.Work{Workload: benchmark, Contender: side, Metric: tare.MetricInstructions, Ops: s.Ops(), PerOp: counts.PerOp(s.Counts)}
}

// findRow returns the comparison of a benchmark. It returns false if the benchmark was not counted
// or c is nil.
func (c *comparisonCounts) findRow(id string) (row tare.Comparison, ok bool) {
	if c == nil {
		return tare.Comparison{}, false
	}
	return tare.FindComparison(c.rows, id, Head, tare.MetricInstructions)
}

func (b *Bench) isSameCode(id string) bool {
	return slices.ContainsFunc(b.findings, func(f tare.Finding) bool { return f.Check == SameCode().ID && f.Workload == id })
}

// divideByCode returns the benchmarks whose machine code differs between the sides, and the others.
// Benchmarks near the code that differs come first, because it is a greater part of them.
func (b *Bench) divideByCode() (differing, same []suite.Benchmark) {
	for _, m := range b.benchmarks {
		if b.isSameCode(m.ID()) {
			same = append(same, m)
		} else {
			differing = append(differing, m)
		}
	}
	distance := func(m suite.Benchmark) int {
		if calls, ok := b.distances[m.ID()]; ok {
			return calls
		}
		return math.MaxInt // indirect calls may lead there, e.g. of methods
	}
	slices.SortStableFunc(differing, func(m, n suite.Benchmark) int { return cmp.Compare(distance(m), distance(n)) })
	return differing, same
}

// SkipSame excludes benchmarks with the same machine code and count from the timed rounds. Each
// gets a note.
func (b *Bench) SkipSame() {
	b.Study.Workloads = slices.DeleteFunc(slices.Clone(b.Study.Workloads), func(w tare.Workload) bool {
		row, ok := b.counted.findRow(w.ID)
		if !ok || !b.isSameCode(w.ID) || row.Differs(0) != tare.NotShown {
			return false
		}
		b.note(NotTimed(), w.ID, "the machine code and the count of instructions are the same on both sides: it is not timed")
		return true
	})
}
