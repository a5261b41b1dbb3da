package suite

import (
	"context"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// Bounds of the test whether the time of a benchmark is proportional to its iterations. The
// compared runs are so short that some of them are not interrupted, whatever else the machine does:
// of longer ones every one may be.
const (
	growRunTime   = 200 * time.Microsecond // or one iteration
	untimedFactor = 10                     // times that, if most of it is not timed
	longRunFactor = 8                      // times as many iterations in the longer runs, if these stay short
	longIteration = 20 * time.Millisecond  // an iteration beyond which they have two
	minPairs      = 3                      // fewest pairs of runs: a short one may have been interrupted
	minGrowRuns   = 3 * minPairs           // fewest runs in total: minPairs, and two in each pair
	maxPairs      = 10                     // most pairs; the quickest count
	maxGrowth     = 2.0                    // times as long that an iteration takes; collections by themselves make it less
	maxFixedShare = 0.2                    // of a slice
	maxGrowRun    = 1e9                    // iterations of a run; go test -bench requests no more
	minGrowTime   = 50 * time.Millisecond  // shortest run of that many iterations: 0.05 ns each is less than a cycle
)

// noLoop is the reason against a benchmark whose time does not depend on its iterations.
const noLoop = "its time does not grow with the iterations asked for: there is no loop over b.N in it"

// checkGrowth finds out whether the time of b is proportional to its iterations, and if not how
// many make a run of the requested length. It returns why b then gives no result, or "".
func (d *discovery) checkGrowth(ctx context.Context, b *Benchmark) (why string, err error) {
	slice := d.slice(*b)
	if slice == 0 {
		return "", nil
	}
	run, share := float64(growRunTime), b.TimedShare() // all of these times include untimed parts
	if b.Untimed > b.NSPerOp {
		run *= untimedFactor
	}
	n := max(1, int64(run/max(0.1, b.Elapsed())))
	short, why, err := d.quickestRun(ctx, *b, n, minPairs)
	for ; err == nil && why == "" && short < share*run/4; short, why, err = d.quickestRun(ctx, *b, n, minPairs) {
		if n >= maxGrowRun/longRunFactor {
			return noLoop, nil
		}
		n = min(4*n, maxGrowRun/longRunFactor) // the first value was that of an interrupted run
	}
	if err != nil || why != "" {
		return why, err
	}
	more := n * longRunFactor
	if short > share*float64(longIteration) {
		more = 2 * n
	}
	var long float64
	for i := range maxPairs {
		for _, run := range []struct {
			ops      int64
			quickest *float64
		}{{n, &short}, {more, &long}} {
			took, why, err := d.quickestRun(ctx, *b, run.ops, 1)
			if err != nil || why != "" {
				return why, err
			}
			if *run.quickest == 0 || took < *run.quickest {
				*run.quickest = took
			}
		}
		each := max(0, (long-short)/float64(more-n))
		fixed := short - each*float64(n)
		inSlice := float64(slice) * float64(n) / short // iterations
		b.Fixed, b.Growth = 0, 0
		if fixed > maxFixedShare*(fixed+each*inSlice) {
			b.Fixed = time.Duration(fixed)
		}
		if by := long / float64(more) / (short / float64(n)); by > maxGrowth && short < 2*share*run {
			b.Growth = by
		}
		isUp := d.isUp != nil && d.isUp() // then the runs so far must do
		if b.Fixed == 0 && b.Growth == 0 && (i+1 >= minPairs || isUp) {
			return "", nil
		}
		if isUp {
			break
		}
	}
	return d.findRunLength(ctx, b, more, long)
}

// findRunLength finds the iterations of a run of the requested length, starting from one of n
// iterations that took took ns.
func (d *discovery) findRunLength(ctx context.Context, b *Benchmark, n int64, took float64) (why string, err error) {
	run := b.TimedShare() * float64(d.run)
	for took < run && n < maxGrowRun {
		by := int64(2)
		if took < 2*float64(b.Fixed) {
			by = 10
		}
		longer, why, err := d.quickestRun(ctx, *b, min(by*n, maxGrowRun), 1)
		if err != nil || why != "" {
			return why, err
		}
		if longer > 2*run && took > run/4 { // rather too short than much too long
			break
		}
		n, took = min(by*n, maxGrowRun), longer
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

// quickestRun returns the time of the quickest of some runs of n iterations of b, in ns, or why
// it has none.
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
