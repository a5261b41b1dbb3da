package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/gobench"
)

// This file compares the times that tare measures with those of go test -bench for the same binary.
// They may differ if a benchmark reads a flag, or depends on an earlier benchmark.

const (
	goTestBenchTime = 30 * time.Millisecond // -test.benchtime
	goTestAttempts  = 4                     // runs that find a number of iterations
	minGoTestLimit  = 10 * time.Second      // shortest limit of a package's run
	goTestFactor    = 10                    // limit, as a multiple of the expected time
	maxRatio        = 2.0                   // two times differ beyond this ratio
	compareTurns    = 4                     // turns before a difference is reported
	shortRunTime    = time.Millisecond      // including the work of package testing
	maxShortRuns    = 20                    // short runs in a turn; the quickest counts
	minRuns         = 3
	compareShare    = 4 // divisor of Search.TimeLimit
)

// Remark is a message about a benchmark that is measured.
type Remark struct {
	ID        string // benchmark's id, or package's import path
	Side      string
	Text      string
	Repeats   bool // TestMain of the package runs the benchmarks more than once
	OutOfTime bool // no time for the comparison
}

// compareGoTest runs the benchmarks as go test -bench does. It returns a remark on each benchmark
// whose time differs from the time in found.
func (d *discovery) compareGoTest(ctx context.Context, built *Suite, found []Benchmark, spec trial.Spec, say func(string)) (remarks []Remark, err error) {
	groups := map[string][]Benchmark{}
	var order []string
	for _, m := range found {
		if groups[m.Package] == nil {
			order = append(order, m.Package)
		}
		groups[m.Package] = append(groups[m.Package], m)
	}
	for _, key := range order {
		if d.isCompareTimeOver() {
			remarks = append(remarks, d.newNotCompared(strings.TrimSuffix(key, "_test")))
			continue
		}
		if err := d.reopenConn(ctx, built, spec); err != nil { // ends the package's process
			return nil, err
		}
		say(fmt.Sprintf("%s: running the benchmarks of %s as go test does", built.Side.ID, strings.TrimSuffix(key, "_test")))
		more, err := d.comparePackage(ctx, built, key, groups[key], spec)
		if err != nil {
			return nil, err
		}
		remarks = append(remarks, more...)
	}
	return remarks, nil
}

// comparePackage compares the benchmarks of one package with one run of go test. It measures again
// where a time differs.
func (d *discovery) comparePackage(ctx context.Context, built *Suite, key string, found []Benchmark, spec trial.Spec) (remarks []Remark, err error) {
	var expected time.Duration
	for _, m := range found {
		expected += m.StartTime + goTestAttempts*(m.Overhead+max(goTestBenchTime, time.Duration(m.NSPerOp)))
	}
	limit := max(minGoTestLimit, goTestFactor*expected)
	args := []string{"-test.benchtime=" + goTestBenchTime.String()}
	if !d.compareUntil.IsZero() { // do not run benchmarks that were skipped
		limit = min(limit, time.Until(d.compareUntil))
		if !strings.Contains(built.suite.Bench, "/") {
			args = append(args, "-test.bench="+topLevelPattern(found))
		}
	}
	printed, why, err := d.runGoTest(ctx, built, key, spec, limit, args...)
	if err != nil {
		return nil, err
	}
	if printed == "" && d.isCompareTimeOver() {
		return []Remark{d.newNotCompared(strings.TrimSuffix(key, "_test"))}, nil
	}
	repeats := 0
	for _, m := range found {
		times := gobench.PrintedResults(printed, m.Name, d.procs[key], 0)
		repeats = max(repeats, len(times))
		if len(times) > 0 && !isFarApart(times[0], m.NSPerOp) {
			continue
		}
		remark, err := d.confirmInTime(ctx, m.ID(), func(limited context.Context) (string, error) {
			return d.confirmDifference(limited, built, m, spec, limit, why)
		})
		if err != nil {
			return nil, err
		}
		if remark.Text != "" {
			remarks = append(remarks, remark)
		}
	}
	if repeats > 1 {
		remarks = append(remarks, Remark{
			ID: strings.TrimSuffix(key, "_test"), Side: d.sideID, Repeats: true,
			Text: fmt.Sprintf("go test runs its benchmarks %d times, because TestMain calls m.Run as often: the first of them is measured", repeats),
		})
	}
	return remarks, nil
}

// confirmInTime calls confirm with the deadline of the comparison. It returns a remark on the
// benchmark id with the text of confirm, or that there was no time.
func (d *discovery) confirmInTime(ctx context.Context, id string, confirm func(context.Context) (string, error)) (Remark, error) {
	limited := ctx
	if !d.compareUntil.IsZero() {
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadline(ctx, d.compareUntil)
		defer cancel()
	}
	text, err := confirm(limited)
	isOverTime := limited.Err() != nil && ctx.Err() == nil
	if isOverTime {
		return d.newNotCompared(id), nil
	}
	return Remark{ID: id, Side: d.sideID, Text: text}, err
}

func (d *discovery) isCompareTimeOver() bool {
	return !d.compareUntil.IsZero() && time.Now().After(d.compareUntil)
}

func (d *discovery) newNotCompared(id string) Remark {
	return Remark{ID: id, Side: d.sideID, OutOfTime: true, Text: "it was not compared with go test -bench: the budget has no time for it"}
}

// topLevelPattern returns the pattern of -test.bench for the benchmarks of found, e.g.
// ^(BenchmarkA|BenchmarkB)$.
func topLevelPattern(found []Benchmark) string {
	var tops []string
	for _, m := range found {
		if top, _, _ := strings.Cut(m.Name, "/"); !slices.Contains(tops, top) {
			tops = append(tops, top)
		}
	}
	return "^(" + strings.Join(tops, "|") + ")$"
}

// confirmDifference measures m in turns, by tare and by go test. It returns a sentence about the
// difference, or "" as soon as the quickest runs agree. why is the failure of an earlier run of go
// test, or "".
func (d *discovery) confirmDifference(ctx context.Context, built *Suite, m Benchmark, spec trial.Spec, limit time.Duration, why string) (text string, err error) {
	n, runs := m.RunIterations, minRuns // iterations of a run, and runs of each turn
	if n == 0 {                         // the time is proportional to the iterations
		n = max(1, int64(float64(shortRunLength)/max(minIteration, m.NSPerOp)))
		runs = max(minRuns, int(maxShortRuns*shortRunTime/max(shortRunTime, m.Overhead, time.Duration(m.NSPerOp))))
	}
	var tareTimes, goTestTimes []float64 // ns per operation
	for range compareTurns {
		if err := d.reopenConn(ctx, built, spec); err != nil {
			return "", err
		}
		if err := d.prepareBenchmark(ctx, m, nil); err != nil {
			return "", err
		}
		took, failure, err := d.quickestRun(ctx, m, n, runs)
		if err != nil || failure != "" {
			return failure, err
		}
		tareTimes = append(tareTimes, took/float64(n))
		if err := d.reopenConn(ctx, built, spec); err != nil {
			return "", err
		}
		printed, failure, err := d.runGoTest(ctx, built, m.Package, spec, time.Duration(runs)*limit,
			"-test.bench="+gobench.Exactly(m.Name), fmt.Sprintf("-test.benchtime=%dx", n), fmt.Sprintf("-test.count=%d", runs))
		if err != nil {
			return "", err
		}
		goTestTimes = append(goTestTimes, gobench.PrintedResults(printed, m.Name, d.procs[m.Package], n)...)
		if len(goTestTimes) == 0 {
			return "go test -bench prints no result of it: " + cmp.Or(failure, why, "it is not among its benchmarks"), nil
		}
		if !isFarApart(slices.Min(goTestTimes), slices.Min(tareTimes)) {
			return "", nil
		}
	}
	return fmt.Sprintf("go test -bench prints %s, and tare measures %s, in runs of %s",
		formatPerOp(slices.Min(goTestTimes)), formatPerOp(slices.Min(tareTimes)), format.Count(n, "iteration")), nil
}

// runGoTest runs the test binary of a package as go test does. It returns the output, and the reason
// if the run failed or reached the limit, else "".
func (d *discovery) runGoTest(ctx context.Context, built *Suite, key string, spec trial.Spec, limit time.Duration, args ...string) (printed, why string, err error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	printed, err = built.suite.RunPlain(limited, spec, key, append([]string{"-test.count=1"}, args...)...)
	var te *tare.TrialError
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case limited.Err() != nil:
		return printed, fmt.Sprintf("it did not end within %v", limit.Round(time.Second)), nil
	case errors.As(err, &te):
		return printed, exitPrefixRE.ReplaceAllString(te.Message, ""), nil
	}
	return printed, "", err
}

func isFarApart(a, b float64) bool { return max(a, b) > maxRatio*min(a, b) }

func formatPerOp(ns float64) string { return fmt.Sprintf("%.4g ns/op", ns) }
