package suite

import (
	"context"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// This file tests whether the time of a benchmark is proportional to its iterations. Only then the
// short runs of tare measure the same as the longer ones of go test.
//
// The test compares two runs. Both are so short that some are not interrupted even on a busy
// machine.

const (
	growRunTime   = 200 * time.Microsecond // length of a short run
	untimedFactor = 10                     // multiple of growRunTime, if most of an iteration is not timed
	longRunFactor = 8                      // multiple of the short run's iterations
	longIteration = 20 * time.Millisecond  // longer runs are compared with only twice their iterations
	minPairs      = 3                      // a short run may have been interrupted
	minGrowRuns   = 3 * minPairs           // minPairs to find the iterations, and two runs in each pair
	maxPairs      = 10                     // the quickest runs count
	maxGrowth     = 2.0                    // garbage collection causes less growth
	maxFixedShare = 0.2                    // share of a run that may be work outside the loop
	maxGrowRun    = 1e9                    // go test -bench has the same maximum
	minGrowTime   = 50 * time.Millisecond  // maxGrowRun iterations of 0.05 ns, less than a cycle
	minElapsed    = 0.1                    // least ns of an iteration, to divide by
)

const noLoop = "its time does not grow with the iterations asked for: there is no loop over b.N in it"

type timedRun struct {
	ops int64
	ns  float64 // ns without untimed parts; 0 before the first run
}

func (r timedRun) nsPerOp() float64 { return r.ns / float64(r.ops) }

type runPair struct {
	short, long timedRun
	target      float64 // intended ns of the short run, without untimed parts
}

// checkGrowth finds out whether the time of b is proportional to its iterations. If not, it sets
// b.OutsideLoop or b.Growth, and b.RunIterations. For example, if b works for 3 ms before its loop,
// b.OutsideLoop becomes about 3 ms. It returns why b gives no result, or "" if it gives one.
func (d *discovery) checkGrowth(ctx context.Context, b *Benchmark) (why string, err error) {
	sliceTime := d.sliceTime(*b)
	if sliceTime == 0 {
		return "", nil
	}
	pair, why, err := d.startPair(ctx, *b)
	if err != nil || why != "" {
		return why, err
	}
	for i := range maxPairs {
		for _, run := range []*timedRun{&pair.short, &pair.long} {
			took, why, err := d.quickestRun(ctx, *b, run.ops, 1)
			if err != nil || why != "" {
				return why, err
			}
			if run.ns == 0 || took < run.ns {
				run.ns = took
			}
		}
		b.setGrowth(pair, sliceTime)
		isProportional := b.OutsideLoop == 0 && b.Growth == 0
		isHalfUsed := d.isHalfUsed != nil && d.isHalfUsed()
		canEnd := i+1 >= minPairs || isHalfUsed
		if isProportional && canEnd {
			return "", nil
		}
		if isHalfUsed {
			break
		}
	}
	return d.findRunLength(ctx, b, pair.long)
}

// startPair finds the iterations of both runs of b, and measures the short one. It returns why b
// gives no result, or "".
func (d *discovery) startPair(ctx context.Context, b Benchmark) (p runPair, why string, err error) {
	withUntimed := float64(growRunTime)
	if b.UntimedNS > b.NSPerOp {
		withUntimed *= untimedFactor
	}
	p.target = b.TimedShare() * withUntimed
	n := max(1, int64(withUntimed/max(minElapsed, b.IterationNS())))
	ns, why, err := d.quickestRun(ctx, b, n, minPairs)
	// If the run is far shorter than intended, the first estimate came from an interrupted run.
	for err == nil && why == "" && ns < p.target/4 {
		if n >= maxGrowRun/longRunFactor {
			return p, noLoop, nil
		}
		n = min(4*n, maxGrowRun/longRunFactor)
		ns, why, err = d.quickestRun(ctx, b, n, minPairs)
	}
	p.short = timedRun{ops: n, ns: ns}
	p.long.ops = n * longRunFactor
	if ns > b.TimedShare()*float64(longIteration) {
		p.long.ops = 2 * n
	}
	return p, why, err
}

// setGrowth sets b.OutsideLoop and b.Growth, to 0 if the times of both runs are proportional.
func (b *Benchmark) setGrowth(p runPair, sliceTime time.Duration) {
	// A run of n iterations takes outside + n*perIteration. Both follow from the times of two runs.
	perIteration := max(0, (p.long.ns-p.short.ns)/float64(p.long.ops-p.short.ops))
	outside := p.short.ns - perIteration*float64(p.short.ops)
	sliceOps := float64(sliceTime) * float64(p.short.ops) / p.short.ns // iterations of a slice, a timed run of sliceTime
	slice := outside + perIteration*sliceOps
	b.OutsideLoop, b.Growth = 0, 0
	if outside > maxFixedShare*slice {
		b.OutsideLoop = time.Duration(outside)
	}
	growth := p.long.nsPerOp() / p.short.nsPerOp()
	isShort := p.short.ns < 2*p.target // longer runs may all be interrupted
	if growth > maxGrowth && isShort {
		b.Growth = growth
	}
}

// findRunLength sets b.RunIterations to the iterations of a run of about d.runTime, and b.NSPerOp to
// the time of one. It starts with the iterations of last and doubles them. It returns why b gives no
// result, or "".
func (d *discovery) findRunLength(ctx context.Context, b *Benchmark, last timedRun) (why string, err error) {
	want := b.TimedShare() * float64(d.runTime)
	for last.ns < want && last.ops < maxGrowRun {
		factor := int64(2)
		if last.ns < 2*float64(b.OutsideLoop) { // the iterations hardly add to the time yet
			factor = 10
		}
		ops := min(factor*last.ops, maxGrowRun)
		ns, why, err := d.quickestRun(ctx, *b, ops, 1)
		if err != nil || why != "" {
			return why, err
		}
		if ns > 2*want && last.ns > want/4 { // too short is better than much too long
			break
		}
		last = timedRun{ops: ops, ns: ns}
	}
	if last.ops >= maxGrowRun && last.ns < want { // less than a nanosecond, or no loop at all
		ns, why, err := d.quickestRun(ctx, *b, last.ops, minPairs)
		if err != nil || why != "" {
			return why, err
		}
		if last.ns = min(last.ns, ns); last.ns < max(2*float64(b.OutsideLoop), float64(minGrowTime)) {
			return noLoop, nil
		}
	}
	b.RunIterations, b.NSPerOp = last.ops, last.nsPerOp()
	return "", nil
}

// quickestRun runs n iterations of b several times. It returns the ns of the quickest run, without
// untimed parts, or why b gives no result.
func (d *discovery) quickestRun(ctx context.Context, b Benchmark, n int64, runs int) (ns float64, why string, err error) {
	for i := range runs {
		reply, err := d.conn.Do(ctx, wire.Request{Op: wire.OpSlice, On: b.ID(), Ops: n})
		if err != nil || reply.Errors > 0 {
			return 0, whyNoResult(b, reply), err
		}
		if took := float64(reply.WallNS); i == 0 || took < ns {
			ns = took
		}
	}
	return ns, "", nil
}
