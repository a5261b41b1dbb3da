package suite

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tarebench/tare"
)

// aloneFactor is the factor by which a process may start more slowly next to another one, which may
// hold a lock that it waits for.
const aloneFactor = 10

// FindAlone finds the packages of which no two processes can run at the same time, and records that
// in their suites, and the reason in their benchmarks. It starts all processes of a round side by
// side, and runs each benchmark once in each of them. A benchmark that fails there and works
// afterwards in a single process fails because of the others. It returns the benchmarks that it has
// tried within the time of q.
func FindAlone(ctx context.Context, base, head *Suite, shared []Benchmark, q Search) (tried []Benchmark, err error) {
	spec, began := q.Spec, time.Now()
	alone := map[string]string{}
	var seats [3]*discovery
	suites := [3]*Suite{base, base, head}
	closeAll := func() {
		for _, d := range seats {
			if d != nil {
				d.conn.Close(context.WithoutCancel(ctx))
			}
		}
		seats = [3]*discovery{}
	}
	defer func() { closeAll() }()
	for i := range shared {
		m := &shared[i]
		if i > 0 && q.Within > 0 && time.Since(began) > q.Within && alone[m.Package] == "" {
			continue
		}
		tried = append(tried, *m)
		if alone[m.Package] != "" {
			continue
		}
		if i == 0 || shared[i-1].Package != m.Package {
			closeAll()
			q.Say("starting the processes of " + m.Package + " side by side")
		}
		var starts time.Duration
		for j, s := range suites {
			limit := onceLimit
			if seats[j] == nil {
				seats[j] = newDiscovery(s.Side.ID)
				if err := seats[j].openConn(ctx, s, spec); err != nil {
					return nil, err
				}
				if j > 0 {
					limit = min(limit, max(minPlainLimit, aloneFactor*starts))
					if q.Within > 0 {
						limit = min(limit, max(q.Within, 2*starts))
					}
				}
			}
			began := time.Now()
			why, err := seats[j].tryOnce(ctx, *m, limit)
			if err != nil {
				return nil, err
			}
			if j == 0 {
				starts = time.Since(began)
			}
			if why == "" {
				continue
			}
			closeAll()
			seats[j] = newDiscovery(s.Side.ID)
			if err := seats[j].openConn(ctx, s, spec); err != nil {
				return nil, err
			}
			byItself, err := seats[j].tryOnce(ctx, *m, onceLimit)
			if err != nil {
				return nil, err
			}
			if byItself == "" {
				alone[m.Package] = why
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

// tryOnce runs one iteration of b, and returns why it gives no result, or "".
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
