package suite

import (
	"context"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// Bounds of the test whether the time of a benchmark is proportional to its iterations. It compares
// pairs of a short run and a run of several times as many iterations. Both are so short that some of
// them are not interrupted, whatever else the machine does: of longer runs every one may be.
const (
	growRunTime   = 200 * time.Microsecond // short run, if an iteration is not longer
	untimedFactor = 10                     // multiple of growRunTime, if most of an iteration is not timed
	longRunFactor = 8                      // iterations of the longer run, as a multiple of the short run
	longIteration = 20 * time.Millisecond  // short run beyond which the longer run has twice its iterations instead
	minPairs      = 3                      // fewest pairs of runs: a short one may have been interrupted
	minGrowRuns   = 3 * minPairs           // fewest runs in total: minPairs by themselves, and two in each pair
	maxPairs      = 10                     // most pairs; the quickest runs count
	maxGrowth     = 2.0                    // factor beyond which an iteration's growth is reported; garbage collection causes less
	maxFixedShare = 0.2                    // largest share of a slice that may be work outside the loop
	maxGrowRun    = 1e9                    // most iterations of a run; go test -bench requests no more
	minGrowTime   = 50 * time.Millisecond  // shortest run of that many iterations: 0.05 ns each is less than a cycle
	minElapsed    = 0.1                    // least time of an iteration in ns, to divide by
)

// noLoop is the reason against a benchmark whose time does not depend on its iterations.
const noLoop = "its time does not grow with the iterations asked for: there is no loop over b.N in it"

// checkGrowth finds out whether the time of b is proportional to its iterations. If not, it sets
// b.Fixed or b.Growth, and b.Run, the iterations of a run of the requested length. It returns why b
// gives no result, or "".
func (d *discovery) checkGrowth(ctx context.Context, b *Benchmark) (why string, err error) {
	slice := d.slice(*b)
	if slice == 0 {
		return "", nil
	}
	run, timedShare := float64(growRunTime), b.TimedShare() // run includes untimed parts; results do not
	if b.Untimed > b.NSPerOp {
		run *= untimedFactor
	}
	n := max(1, int64(run/max(minElapsed, b.Elapsed())))
	short, why, err := d.quickestRun(ctx, *b, n, minPairs)
	// If the run is far shorter than forecast, the first estimate was of an interrupted run.
	for err == nil && why == "" && short < timedShare*run/4 {
		if n >= maxGrowRun/longRunFactor {
			return noLoop, nil
		}
		n = min(4*n, maxGrowRun/longRunFactor)
		short, why, err = d.quickestRun(ctx, *b, n, minPairs)
	}
	if err != nil || why != "" {
		return why, err
	}
	more := n * longRunFactor
	if short > timedShare*float64(longIteration) {
		more = 2 * n
	}
	var long float64
	for i := range maxPairs {
		for _, run := range []struct {
			ops      int64
			quickest *float64
		}{
			{n, &short},
			{more, &long},
		} {
			took, why, err := d.quickestRun(ctx, *b, run.ops, 1)
			if err != nil || why != "" {
				return why, err
			}
			if *run.quickest == 0 || took < *run.quickest {
				*run.quickest = took
			}
		}
		// A run takes fixed + n*perIteration: a line through both runs.
		perIteration := max(0, (long-short)/float64(more-n))
		fixed := short - perIteration*float64(n)
		inSlice := float64(slice) * float64(n) / short // iterations of a slice
		b.Fixed, b.Growth = 0, 0
		if fixed > maxFixedShare*(fixed+perIteration*inSlice) {
			b.Fixed = time.Duration(fixed)
		}
		growth := (long / float64(more)) / (short / float64(n))
		if isShort := short < 2*timedShare*run; growth > maxGrowth && isShort {
			b.Growth = growth
		}
		isHalfUsed := d.isHalfUsed != nil && d.isHalfUsed() // then the pairs so far decide
		if b.Fixed == 0 && b.Growth == 0 && (i+1 >= minPairs || isHalfUsed) {
			return "", nil
		}
		if isHalfUsed {
			break
		}
	}
	return d.findRunLength(ctx, b, more, long)
}

// findRunLength sets b.Run to the iterations of a run of the requested length, d.run, and b.NSPerOp to
// the time of one of them. It starts from a run of n iterations that took took ns, and returns why b
// gives no result, or "".
func (d *discovery) findRunLength(ctx context.Context, b *Benchmark, n int64, took float64) (why string, err error) {
	run := b.TimedShare() * float64(d.run)
	for took < run && n < maxGrowRun {
		factor := int64(2)
		if took < 2*float64(b.Fixed) { // the iterations hardly add to the time yet
			factor = 10
		}
		more := min(factor*n, maxGrowRun)
		longer, why, err := d.quickestRun(ctx, *b, more, 1)
		if err != nil || why != "" {
			return why, err
		}
		if longer > 2*run && took > run/4 { // rather too short than much too long
			break
		}
		n, took = more, longer
	}
	if n >= maxGrowRun && took < run { // iterations of less than a nanosecond, or none at all
		quickest, why, err := d.quickestRun(ctx, *b, n, minPairs)
		if err != nil || why != "" {
			return why, err
		}
		if took = min(took, quickest); took < max(2*float64(b.Fixed), float64(minGrowTime)) {
			return noLoop, nil
		}
	}
	b.Run, b.NSPerOp = n, took/float64(n)
	return "", nil
}

// quickestRun returns the time of the quickest of some runs of n iterations of b, in ns, without
// untimed parts, or why b gives no result.
func (d *discovery) quickestRun(ctx context.Context, b Benchmark, n int64, runs int) (ns float64, why string, err error) {
	for i := range runs {
		a, err := d.conn.Do(ctx, wire.Request{Op: wire.OpSlice, On: b.ID(), Ops: n})
		if err != nil || a.Errors > 0 {
			return 0, whyNoResult(b, a), err
		}
		if took := float64(a.WallNS); i == 0 || took < ns {
			ns = took
		}
	}
	return ns, "", nil
}
