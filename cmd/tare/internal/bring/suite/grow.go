package suite

import (
	"context"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// How a benchmark is told whose time is not proportional to its iterations.
// The runs that are compared are so short that some of them are not
// interrupted, whatever else the machine does: of longer ones every one may be.
const (
	growRun       = 200 * time.Microsecond // or one iteration
	growSome      = 10                     // times that, if the most of it is not timed
	growBy        = 8                      // times as many iterations in the longer runs, where that stays short
	growLong      = 20 * time.Millisecond  // an iteration beyond which they have two
	growFew       = 3                      // pairs of runs at least: a short one may have been interrupted
	growLeastRuns = 3 * growFew            // that this takes: growFew, and two in each pair
	growPairs     = 10                     // and at most; the quickest count
	growFrom      = 2.0                    // times as long that an iteration takes; collections alone make it less
	fixedFrom     = 0.2                    // of a slice
	growMost      = 1e9                    // iterations of a run; go test -bench asks for no more
	growLeast     = 50 * time.Millisecond  // that so many iterations take: 0.05 ns each is less than a cycle
)

// noLoop is why there is no result of a benchmark whose time says nothing about
// an iteration.
const noLoop = "its time does not grow with the iterations asked for: there is no loop over b.N in it"

// grow finds out whether the time of b is proportional to its iterations, and
// if not how many make a run as long as asked. It says why where b gives no
// result then.
func (d *discovery) grow(ctx context.Context, b *Benchmark) (why string, err error) {
	slice := d.slice(*b)
	if slice == 0 {
		return "", nil
	}
	run, share := float64(growRun), b.TimedShare() // all of these times are with what is not timed
	if b.Untimed > b.NSPerOp {
		run *= growSome
	}
	n := max(1, int64(run/max(0.1, b.Elapsed())))
	short, why, err := d.quickest(ctx, *b, n, growFew)
	for ; err == nil && why == "" && short < share*run/4; short, why, err = d.quickest(ctx, *b, n, growFew) {
		if n >= growMost/growBy {
			return noLoop, nil
		}
		n = min(4*n, growMost/growBy) // the first figure was that of an interrupted run
	}
	if err != nil || why != "" {
		return why, err
	}
	more := n * growBy
	if short > share*float64(growLong) {
		more = 2 * n
	}
	var long float64
	for i := range growPairs {
		for _, run := range []struct {
			ops      int64
			quickest *float64
		}{{n, &short}, {more, &long}} {
			took, why, err := d.quickest(ctx, *b, run.ops, 1)
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
		if fixed > fixedFrom*(fixed+each*inSlice) {
			b.Fixed = time.Duration(fixed)
		}
		if by := long / float64(more) / (short / float64(n)); by > growFrom && short < 2*share*run {
			b.Growth = by
		}
		isUp := d.isUp != nil && d.isUp() // then what there is has to do
		if b.Fixed == 0 && b.Growth == 0 && (i+1 >= growFew || isUp) {
			return "", nil
		}
		if isUp {
			break
		}
	}
	return d.whole(ctx, b, more, long)
}

// whole finds the iterations of a run as long as asked, from one of n
// iterations on that took so many nanoseconds.
func (d *discovery) whole(ctx context.Context, b *Benchmark, n int64, took float64) (why string, err error) {
	run := b.TimedShare() * float64(d.run)
	for took < run && n < growMost {
		by := int64(2)
		if took < 2*float64(b.Fixed) {
			by = 10
		}
		longer, why, err := d.quickest(ctx, *b, min(by*n, growMost), 1)
		if err != nil || why != "" {
			return why, err
		}
		if longer > 2*run && took > run/4 { // rather too short than much too long
			break
		}
		n, took = min(by*n, growMost), longer
	}
	if n >= growMost && took < run { // iterations of less than a nanosecond, or none at all
		quickest, why, err := d.quickest(ctx, *b, n, growFew)
		if err != nil || why != "" {
			return why, err
		}
		if took = min(took, quickest); took < max(2*float64(b.Fixed), float64(growLeast)) {
			return noLoop, nil
		}
	}
	b.Run, b.NSPerOp = n, took/float64(n)
	return "", nil
}

// quickest is how long the quickest of some runs of n iterations of b takes, in
// nanoseconds, or why there is no telling.
func (d *discovery) quickest(ctx context.Context, b Benchmark, n int64, runs int) (ns float64, why string, err error) {
	for i := range runs {
		a, err := d.conn.Do(ctx, wire.Request{Op: wire.OpSlice, On: b.ID(), Ops: n})
		if err != nil || a.Errors > 0 {
			return 0, said(b, a), err
		}
		if took := float64(a.WallNS); i == 0 || took < ns {
			ns = took
		}
	}
	return ns, "", nil
}
