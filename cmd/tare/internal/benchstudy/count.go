package benchstudy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/gobench"
	"github.com/tarebench/tare/stats"
)

const (
	// CountsShare is the divisor of a budget that gives the time to count instructions.
	CountsShare = 4
	// workAlpha is the error level of the interval of a count, for each row.
	workAlpha = 0.01
	// minWork is the number of instructions by which an operation can differ between two builds of
	// the same code: the addresses of data decide how copies and searches run.
	minWork = 1.0
)

// comparisonCounts contains the instruction counts of a comparison.
type comparisonCounts struct {
	counter *counts.Counter
	pairs   map[string]counts.Pair // by benchmark id
	rows    []tare.Comparison      // in the order of the benchmarks
}

// Count counts the instructions of all benchmarks on both sides, on all processors concurrently. The
// counting takes at most within, which does not limit the builds before it; 0 means no limit. A
// benchmark that cannot be counted gets a note, and is timed all the same.
func (b *Bench) Count(ctx context.Context, choice counts.Choice, p Place, within time.Duration) error {
	counter, why := counts.Find(ctx, choice)
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
	c := &comparisonCounts{counter: counter, pairs: map[string]counts.Pair{}}
	l := &layouts{b: b, place: p, counter: counter, links: map[string]*gobench.Link{}, failed: map[string]error{}, built: map[string]string{}}
	defer l.removeBinaries()
	for i, m := range b.benchmarks {
		if i == 0 || b.benchmarks[i-1].Package != m.Package {
			if err := l.buildPackage(ctx, m.Package); err != nil {
				return err
			}
		}
	}
	began := time.Now()
	limited, cancel := ctx, context.CancelFunc(func() {})
	if within > 0 {
		limited, cancel = context.WithTimeout(ctx, within)
	}
	defer cancel()
	failures := l.countAll(limited, c)
	b.Spent += time.Since(began)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, m := range b.benchmarks {
		if why := failures[m.ID()]; why != "" {
			b.note(NotCounted(), m.ID(), why)
		}
	}
	c.compareSides(b.benchmarks)
	b.counted = c
	return nil
}

// whyUncountable returns why the sides cannot be counted; "" if they can.
func (b *Bench) whyUncountable(c *counts.Counter) string {
	for _, id := range []string{Base, Head} {
		s := b.Sources.Suites[id]
		for _, kv := range s.Side.Env {
			name, _, _ := strings.Cut(kv, "=")
			if name == "GOGC" || name == "GOMEMLIMIT" {
				return fmt.Sprintf("%s has %s, and the collector is off while they are", id, kv)
			}
		}
		if c.BuildTag() != "" && isBefore(s.Go, 25) {
			return fmt.Sprintf("%s is built with %s, and Go supports Valgrind since go1.25", id, s.Go)
		}
	}
	return ""
}

// isBefore reports whether a release of Go is older than go1.minor.
func isBefore(release string, minor int) bool {
	var n int
	_, err := fmt.Sscanf(release, "go1.%d", &n)
	return err == nil && n < minor
}

// layouts links the test binaries that are counted. Each repeat of a count has a binary with another
// order of functions, as timed rounds do.
type layouts struct {
	b       *Bench
	place   Place
	counter *counts.Counter

	mu     sync.Mutex
	links  map[string]*gobench.Link // linker calls by side and package; nil if the binary is not linked again
	failed map[string]error         // build errors by package
	built  map[string]string        // paths of binaries by side, package and repeat
	alone  map[string]*sync.Mutex   // locks of packages of which only one process can run at a time
}

// buildPackage builds a package on both sides for a counter that needs builds with a tag. An error
// of the compiler is stored in l.failed, not returned.
func (l *layouts) buildPackage(ctx context.Context, key string) error {
	for _, id := range []string{Base, Head} {
		s := l.b.Sources.Suites[id]
		pkg := packageKey(key)
		if l.links[id+" "+pkg] != nil {
			continue
		}
		link := s.Packages[key].Link
		if tag := l.counter.BuildTag(); tag != "" {
			l.place.Say(fmt.Sprintf("%s: building %s for %s", id, pkg, l.counter.Name))
			var err error
			link, err = s.BuildCounted(ctx, key, tag, filepath.Join(l.b.work, "counted", id, fmt.Sprint(len(l.links))))
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				l.failed[pkg] = fmt.Errorf("built for %s, %w", l.counter.Name, err)
			}
		}
		l.links[id+" "+pkg] = link
	}
	return nil
}

// packageKey returns the key of a package's internal tests; its external tests are in the same binary.
func packageKey(key string) string { return strings.TrimSuffix(key, "_test") }

// linkBinary returns the binary of a package for the repeat-th count of a side.
func (l *layouts) linkBinary(ctx context.Context, side, key string, repeat int) (string, error) {
	pkg := packageKey(key)
	if err := l.failed[pkg]; err != nil {
		return "", err
	}
	link := l.links[side+" "+pkg]
	if link == nil {
		return l.b.Sources.Suites[side].Packages[key].Binary, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id := fmt.Sprint(side, " ", pkg, " ", repeat)
	if path := l.built[id]; path != "" {
		return path, nil
	}
	seed := uint64(2*repeat+1) << 33 // seeds of base and head differ: no two binaries have the same order
	if side == Head {
		seed += 1 << 33
	}
	path, err := link.Binary(ctx, seed)
	if err == nil {
		l.built[id] = path
	}
	return path, err
}

// removeBinaries removes all binaries that were built or linked for counting.
func (l *layouts) removeBinaries() {
	for _, path := range l.built {
		_ = os.Remove(path)
	}
	_ = os.RemoveAll(filepath.Join(l.b.work, "counted"))
}

// countAll counts all benchmarks and adds their counts to c. It returns why benchmarks are not
// counted, by id. Benchmarks whose code differs come first, as time may run out.
func (l *layouts) countAll(ctx context.Context, c *comparisonCounts) map[string]string {
	failures := map[string]string{}
	l.alone = map[string]*sync.Mutex{}
	for _, m := range l.b.benchmarks {
		if m.Alone != "" {
			l.alone[m.Package] = &sync.Mutex{}
		}
	}
	order := slices.Clone(l.b.benchmarks)
	slices.SortStableFunc(order, func(x, y suite.Benchmark) int {
		sameX, sameY := l.b.isSameCode(x.ID()), l.b.isSameCode(y.ID())
		switch {
		case sameX == sameY:
			return 0
		case sameX:
			return 1
		}
		return -1
	})
	work := make(chan suite.Benchmark)
	var mu sync.Mutex
	var wait sync.WaitGroup
	done := 0
	l.place.Say(fmt.Sprintf("counting instructions: 0 of %d benchmarks", len(order)))
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for m := range work {
				pair, err := l.countOne(ctx, m)
				mu.Lock()
				done++
				l.place.Say(fmt.Sprintf("counting instructions: %d of %d benchmarks", done, len(order)))
				if err != nil {
					failures[m.ID()] = whyNotCounted(ctx, err)
				} else {
					c.pairs[m.ID()] = pair
				}
				mu.Unlock()
			}
		})
	}
	for _, m := range order {
		work <- m
	}
	close(work)
	wait.Wait()
	return failures
}

// countOne counts one benchmark on both sides.
func (l *layouts) countOne(ctx context.Context, m suite.Benchmark) (counts.Pair, error) {
	if ctx.Err() != nil {
		return counts.Pair{}, ctx.Err()
	}
	if lock := l.alone[m.Package]; lock != nil {
		lock.Lock()
		defer lock.Unlock()
	}
	newSide := func(id string) counts.Side {
		s := l.b.Sources.Suites[id]
		return func(ctx context.Context, repeat int) (counts.Program, error) {
			binary, err := l.linkBinary(ctx, id, m.Package, repeat)
			return counts.Program{
				Name: m.Name, Binary: binary, Dir: s.Packages[m.Package].Dir, Env: s.Environment(m.Package),
				Spec: trial.Spec{Run: l.place.Run, Guardian: l.place.Guardian}, Work: l.b.work,
			}, err
		}
	}
	return l.counter.Compare(ctx, counts.Guess{NSPerOp: m.NSPerOp + m.Untimed, BytesPer: m.BytesPer, SameCode: l.b.isSameCode(m.ID())}, newSide(Base), newSide(Head))
}

// whyNotCounted describes an error of countOne in words.
func whyNotCounted(ctx context.Context, err error) string {
	var refused *counts.RefusedError
	switch {
	case ctx.Err() != nil:
		return "there was no time for it"
	case errors.As(err, &refused):
		return refused.Why
	}
	return firstLine(err.Error())
}

// compareSides makes a row of each counted benchmark. The variance between repeats of a count is
// estimated from all benchmarks together, as each has only a few.
func (c *comparisonCounts) compareSides(all []suite.Benchmark) {
	metric := tare.MetricFor(tare.MetricInstructions)
	var table []stats.Repeats
	for _, p := range c.pairs {
		table = append(table, stats.Repeats{Base: counts.PerOp(p.Base), Head: counts.PerOp(p.Head)})
	}
	variance := stats.RepeatVariance(table)
	for _, m := range all {
		p, ok := c.pairs[m.ID()]
		if !ok {
			continue
		}
		r := stats.Repeats{Base: counts.PerOp(p.Base), Head: counts.PerOp(p.Head)}
		row := tare.Comparison{
			Workload: m.ID(), Contender: Head, Against: Base, Metric: metric.Name, Unit: metric.Unit, Level: 1 - workAlpha,
			Rounds:       min(len(p.Base), len(p.Head)),
			AgainstValue: stats.Median(r.Base), Value: stats.Median(r.Head), Exploratory: true,
		}
		if base, head, ok := r.Exact(); ok {
			row.AgainstValue, row.Value, row.Exact = base, head, true
			row.Ratio = head / base
			row.Low, row.High = row.Ratio, row.Ratio
		} else {
			row.Ratio, row.Low, row.High = r.Compare(variance, minWork, workAlpha)
		}
		c.rows = append(c.rows, row)
	}
}

// findRow returns the comparison of a benchmark; false if the benchmark was not counted, or c is nil.
func (c *comparisonCounts) findRow(id string) (tare.Comparison, bool) {
	if c == nil {
		return tare.Comparison{}, false
	}
	i := slices.IndexFunc(c.rows, func(r tare.Comparison) bool { return r.Workload == id })
	if i < 0 {
		return tare.Comparison{}, false
	}
	return c.rows[i], true
}

// addToResult adds the counts to a result: the counter, the metric, and both sides of every row.
func (c *comparisonCounts) addToResult(r *tare.Result) {
	if c == nil || len(c.rows) == 0 {
		return
	}
	counter := c.counter.Counter
	r.Counter = &counter
	r.Metrics = append(r.Metrics[:len(r.Metrics):len(r.Metrics)], tare.MetricInstructions)
	for _, row := range c.rows {
		p := c.pairs[row.Workload]
		for _, side := range []struct {
			id      string
			repeats []counts.Count
			value   float64
		}{
			{Base, p.Base, row.AgainstValue},
			{Head, p.Head, row.Value},
		} {
			perOp := counts.PerOp(side.repeats)
			r.Work = append(r.Work, tare.Work{Workload: row.Workload, Contender: side.id, Metric: row.Metric, Ops: p.Ops, PerOp: perOp})
			r.Values = append(r.Values, tare.Value{
				Workload: row.Workload, Contender: side.id, Metric: row.Metric, Unit: row.Unit, Rounds: len(perOp),
				Value: side.value, Low: slices.Min(perOp), High: slices.Max(perOp),
			})
		}
	}
	r.Comparisons = append(r.Comparisons, c.rows...)
}

// isSameCode reports whether the machine code of a benchmark is the same on both sides.
func (b *Bench) isSameCode(id string) bool {
	return slices.ContainsFunc(b.findings, func(f tare.Finding) bool { return f.Check == SameCode().ID && f.Workload == id })
}

// SkipSame removes the benchmarks from the timed rounds whose machine code is the same on both sides
// and whose counts do not differ. Each gets a note.
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
