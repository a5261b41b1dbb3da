package suite

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tarebench/tare"
)

// This file finds benchmarks that fail if two processes of their package run at the same time. For
// example, TestMain may bind a fixed port. While tare compares two revisions, their processes run
// at the same time.

// sideBySideFactor limits the first run in a later process, as a multiple of that in the first. A
// process that waits for a lock of another never ends.
const sideBySideFactor = 10

// FindAlone finds the packages of which only one process can run at a time. It runs each benchmark
// in three processes side by side. If a benchmark fails there, but works in a single process,
// FindAlone sets Alone of the package in both suites. It returns the benchmarks that it has tried
// within search.TimeLimit.
func FindAlone(ctx context.Context, base, head *Suite, shared []Benchmark, search Search) (tried []Benchmark, err error) {
	began := time.Now()
	whyAlone := map[string]string{} // by package
	round := &sideBySide{suites: [3]*Suite{base, base, head}, search: search}
	defer round.closeAll(ctx)
	for i, m := range shared {
		isKnown := whyAlone[m.Package] != ""
		if isKnown {
			tried = append(tried, m)
			continue
		}
		if isLate := search.TimeLimit > 0 && time.Since(began) > search.TimeLimit; isLate && i > 0 {
			continue
		}
		tried = append(tried, m)
		beginsPackage := i == 0 || shared[i-1].Package != m.Package
		if beginsPackage {
			round.closeAll(ctx)
			search.Say("starting the processes of " + m.Package + " side by side")
		}
		why, err := round.tryBenchmark(ctx, m)
		if err != nil {
			return nil, err
		}
		if why != "" {
			whyAlone[m.Package] = why
		}
	}
	for i := range tried {
		tried[i].WhyAlone = whyAlone[tried[i].Package]
	}
	if len(whyAlone) == 0 {
		return tried, nil
	}
	for _, s := range []*Suite{base, head} {
		for key := range whyAlone {
			p := s.suite.Packages[key]
			p.Alone = true
			s.suite.Packages[key] = p
		}
		err = errors.Join(err, s.suite.Save(s.Program))
	}
	return tried, err
}

type sideBySide struct {
	suites    [3]*Suite
	processes [3]*discovery // nil if not started
	search    Search
}

// tryBenchmark runs m once in each of the processes. If m fails there, but works in a process by
// itself, it returns the failure, else "".
func (r *sideBySide) tryBenchmark(ctx context.Context, m Benchmark) (why string, err error) {
	var firstTook time.Duration // includes the start of the process
	for i := range r.processes {
		limit := onceLimit
		if r.processes[i] == nil {
			if err := r.startProcess(ctx, i); err != nil {
				return "", err
			}
			if i > 0 {
				limit = r.startLimit(firstTook)
			}
		}
		began := time.Now()
		failure, err := r.processes[i].tryOnce(ctx, m, limit)
		if err != nil {
			return "", err
		}
		if i == 0 {
			firstTook = time.Since(began)
		}
		if failure != "" {
			works, err := r.worksByItself(ctx, i, m)
			if err != nil || !works {
				return "", err
			}
			return failure, nil
		}
	}
	return "", nil
}

func (r *sideBySide) startLimit(firstTook time.Duration) time.Duration {
	limit := min(onceLimit, max(minGoTestLimit, sideBySideFactor*firstTook))
	if r.search.TimeLimit > 0 {
		limit = min(limit, max(r.search.TimeLimit, 2*firstTook))
	}
	return limit
}

func (r *sideBySide) worksByItself(ctx context.Context, i int, m Benchmark) (bool, error) {
	r.closeAll(ctx)
	defer r.closeAll(ctx)
	if err := r.startProcess(ctx, i); err != nil {
		return false, err
	}
	failure, err := r.processes[i].tryOnce(ctx, m, onceLimit)
	return err == nil && failure == "", err
}

func (r *sideBySide) startProcess(ctx context.Context, i int) error {
	r.processes[i] = newDiscovery(r.suites[i].Side.ID)
	return r.processes[i].reopenConn(ctx, r.suites[i], r.search.Spec)
}

func (r *sideBySide) closeAll(ctx context.Context) {
	for i, d := range r.processes {
		if d != nil {
			d.closeConn(ctx)
			r.processes[i] = nil
		}
	}
}

// tryOnce runs one iteration of m. It returns why m gives no result, or "" if it gives one.
func (d *discovery) tryOnce(ctx context.Context, m Benchmark, limit time.Duration) (why string, err error) {
	d.runLimit = limit
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	outcomes, _, err := d.runOnce(ctx, m, nil, 0)
	var te *tare.TrialError
	switch {
	case errors.As(err, &te):
		return d.describeExit(te), nil
	case err != nil:
		return "", err
	case slices.ContainsFunc(outcomes, hasTime):
		return "", nil
	}
	for _, o := range outcomes {
		if o.Failed || o.Skipped {
			return failureOf(o).why, nil
		}
	}
	return "it gives no result", nil
}
