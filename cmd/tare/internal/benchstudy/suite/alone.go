package suite

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tarebench/tare"
)

// aloneFactor limits the first run in a process that starts next to others: that many times the run
// of the first process. A process that waits for a lock of another one never ends by itself.
const aloneFactor = 10

// FindAlone finds the packages of which only one process can run at a time. It starts the processes
// of a round side by side, two of base and one of head, and runs each benchmark once in each of them.
// If a benchmark fails there, but works in a single process, the other processes are the reason: the
// suites then have the package as Alone, and its benchmarks the failure. FindAlone returns the
// benchmarks that it has tried within q.Within.
func FindAlone(ctx context.Context, base, head *Suite, shared []Benchmark, q Search) (tried []Benchmark, err error) {
	spec, began := q.Spec, time.Now()
	alone := map[string]string{} // failure next to other processes, by package
	suites := [3]*Suite{base, base, head}
	var processes [3]*discovery // nil if not started
	closeAll := func() {
		for _, d := range processes {
			if d != nil {
				d.conn.Close(context.WithoutCancel(ctx))
			}
		}
		processes = [3]*discovery{}
	}
	defer func() { closeAll() }()
	for i := range shared {
		m := &shared[i]
		known := alone[m.Package] != ""
		isLate := i > 0 && q.Within > 0 && time.Since(began) > q.Within
		if isLate && !known {
			continue
		}
		tried = append(tried, *m)
		if known {
			continue
		}
		if i == 0 || shared[i-1].Package != m.Package {
			closeAll()
			q.Say("starting the processes of " + m.Package + " side by side")
		}
		var firstTook time.Duration // time of the run in the first process, with its start
		for j, s := range suites {
			limit := onceLimit
			if processes[j] == nil {
				processes[j] = newDiscovery(s.Side.ID)
				if err := processes[j].openConn(ctx, s, spec); err != nil {
					return nil, err
				}
				if j > 0 {
					limit = min(limit, max(minPlainLimit, aloneFactor*firstTook))
					if q.Within > 0 {
						limit = min(limit, max(q.Within, 2*firstTook))
					}
				}
			}
			runBegan := time.Now()
			failure, err := processes[j].tryOnce(ctx, *m, limit)
			if err != nil {
				return nil, err
			}
			if j == 0 {
				firstTook = time.Since(runBegan)
			}
			if failure == "" {
				continue
			}
			closeAll()
			processes[j] = newDiscovery(s.Side.ID)
			if err := processes[j].openConn(ctx, s, spec); err != nil {
				return nil, err
			}
			failureByItself, err := processes[j].tryOnce(ctx, *m, onceLimit)
			if err != nil {
				return nil, err
			}
			if failureByItself == "" {
				alone[m.Package] = failure
			}
			closeAll()
			break
		}
	}
	for key := range alone {
		for _, s := range []*Suite{base, head} {
			p := s.suite.Packages[key]
			p.Alone = true
			s.suite.Packages[key] = p
		}
	}
	for i := range tried {
		tried[i].Alone = alone[tried[i].Package]
	}
	if len(alone) == 0 {
		return tried, nil
	}
	return tried, errors.Join(base.suite.Save(base.Program), head.suite.Save(head.Program))
}

// tryOnce runs one iteration of b. It returns why b gives no result; "" if b gives one.
func (d *discovery) tryOnce(ctx context.Context, b Benchmark, limit time.Duration) (why string, err error) {
	d.limit = limit
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	all, _, err := d.runOnce(ctx, b, nil, 0)
	var te *tare.TrialError
	switch {
	case errors.As(err, &te):
		return d.describeExit(te), nil
	case err != nil:
		return "", err
	case slices.ContainsFunc(all, hasTime):
		return "", nil
	}
	for _, o := range all {
		if o.Failed || o.Skipped {
			return failureOf(o).why, nil
		}
	}
	return "it gives no result", nil
}
