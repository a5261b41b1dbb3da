package suite

import (
	"context"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// This file tests whether the time of a benchmark is proportional to its iterations. Only then do
// the short runs of tare measure the same as the long ones of go test.
//
// The test runs a benchmark with n and with 8 n iterations, several times, and compares the quickest
// run of each length. Both are so short that even on a busy machine some run is not interrupted.

// Lengths of the two runs.
const (
	shortRunLength = 200 * time.Microsecond
	untimedFactor  = 10                    // the short run is longer by this, if most of an iteration is not timed
	longRunFactor  = 8                     // the long run has this multiple of the short run's iterations
	longShortRun   = 20 * time.Millisecond // if even the short run takes longer, the long run has only twice its iterations
	minIteration   = 0.1                   // ns of an iteration that are assumed at least, to divide by
)

// Numbers of runs.
const (
	minPairs    = 3            // pairs before times count as proportional: one short run may have been interrupted
	maxPairs    = 10           // pairs before times count as not proportional
	minGrowRuns = 3 * minPairs // least runs of a test: minPairs to choose n, and two in each of minPairs
)

// Limits of the verdict.
const (
	maxGrowth     = 2.0 // time of an iteration in the long run, over that in the short one; garbage collection causes less
	maxFixedShare = 0.2 // share of a slice (a timed run of tare) that may be work outside the loop
)

// Limits of the search for longer runs.
const (
	maxRunOps      = 1e9                   // iterations of a run, as in go test -bench
	minLongestTime = 50 * time.Millisecond // a loop of maxRunOps takes longer, because 0.05 ns are less than a processor's cycle
)

const noLoop = "its time does not grow with the iterations asked for: there is no loop over b.N in it"

type timedRun struct {
	ops int64   // iterations
	ns  float64 // ns of the quickest run, without untimed parts; 0 before the first run
}

func (r timedRun) nsPerOp() float64 { return r.ns / float64(r.ops) }

type runPair struct {
	short, long timedRun
	intended    float64 // ns that the short run was to take, without untimed parts
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
		isHalfTimeUsed := d.isHalfTimeUsed != nil && d.isHalfTimeUsed()
		if isProportional && (i+1 >= minPairs || isHalfTimeUsed) {
			return "", nil
		}
		if isHalfTimeUsed {
			break
		}
	}
	return d.findRunLength(ctx, b, pair.long)
}

// startPair finds the iterations of both runs of b, and measures the short one. It returns why b
// gives no result, or "".
func (d *discovery) startPair(ctx context.Context, b Benchmark) (p runPair, why string, err error) {
	length := float64(shortRunLength) // in ns, with untimed parts
	if b.UntimedNS > b.NSPerOp {
		length *= untimedFactor
	}
	p.intended = b.TimedShare() * length
	n := max(1, int64(length/max(minIteration, b.IterationNS())))
	ns, why, err := d.quickestRun(ctx, b, n, minPairs)
	// If the run is far shorter than intended, b.IterationNS is that of an interrupted run.
	for err == nil && why == "" && ns < p.intended/4 {
		if n >= maxRunOps/longRunFactor {
			return p, noLoop, nil
		}
		n = min(4*n, maxRunOps/longRunFactor)
		ns, why, err = d.quickestRun(ctx, b, n, minPairs)
	}
	p.short = timedRun{ops: n, ns: ns}
	p.long.ops = n * longRunFactor
	if ns > b.TimedShare()*float64(longShortRun) {
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
	// If even the quickest short run took twice as long as intended, all runs may have been interrupted.
	mayBeInterrupted := p.short.ns >= 2*p.intended
	if growth > maxGrowth && !mayBeInterrupted {
		b.Growth = growth
	}
}

// findRunLength sets b.RunIterations to the iterations of a run of about d.runTime, and b.NSPerOp to
// the time of an iteration in such a run. It starts with the iterations of last and doubles them. It
// returns why b gives no result, or "".
func (d *discovery) findRunLength(ctx context.Context, b *Benchmark, last timedRun) (why string, err error) {
	want := b.TimedShare() * float64(d.runTime)
	for last.ns < want && last.ops < maxRunOps {
		factor := int64(2)
		if last.ns < 2*float64(b.OutsideLoop) { // the iterations hardly add to the time yet
			factor = 10
		}
		ops := min(factor*last.ops, maxRunOps)
		ns, why, err := d.quickestRun(ctx, *b, ops, 1)
		if err != nil || why != "" {
			return why, err
		}
		if ns > 2*want && last.ns > want/4 { // too short is better than much too long
			break
		}
		last = timedRun{ops: ops, ns: ns}
	}
	if last.ops >= maxRunOps && last.ns < want { // an iteration takes less than a nanosecond, or there is no loop
		ns, why, err := d.quickestRun(ctx, *b, last.ops, minPairs)
		if err != nil || why != "" {
			return why, err
		}
		if last.ns = min(last.ns, ns); last.ns < max(2*float64(b.OutsideLoop), float64(minLongestTime)) {
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
