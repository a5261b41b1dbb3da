package counts

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// Bounds of the number of operations.
const (
	targetWork        = 200e6   // instructions by which the two runs of a count differ
	minPilotWork      = 80e6    // of these, from which the pilot is a count
	maxWork           = 4e9     // instructions of one run; longer operations are not counted
	maxHeap           = 1 << 30 // bytes allocated by a run without garbage collection
	instructionsPerNS = 5.0     // first estimate
	maxCorrection     = 64      // factor by which a pilot may lower the estimate
	opsRatio          = 8       // operations of the longer run divided by those of the shorter
	minOps            = 2       // operations of a run: testing runs a single operation differently
	maxOps            = 100e6
	maxPilots         = 4
	maxRepeats        = 3     // counts of a side if two are inconsistent
	minRepeats        = 2     // counts of a side otherwise; 1 if both sides have the same code
	maxSpread         = 0.002 // difference of consistent counts, as a share
	maxSpreadOps      = 1.0   // or in instructions per operation
	minPlaceCount     = 0.02  // instructions per operation of a stored place
	minCalls          = 0.001 // calls per operation of a stored call site
	callsShare        = 4     // operations of a count divided by those of a count of calls
)

// Count is the result of one count of a benchmark.
type Count struct {
	PerOp  float64           // instructions per operation
	Places map[Place]float64 // PerOp by line; nil if the counter reports only the sum
	Calls  map[Call]float64  // calls per operation; nil unless [Counter.CountCalls] counted
}

// Side returns the program of one side for a count; repeat is the number of the count, from
// 0. Each build of a benchmark has another order of functions.
type Side func(ctx context.Context, repeat int) (Program, error)

// Estimate holds earlier measurements of an operation.
type Estimate struct {
	NSPerOp    float64
	BytesPerOp float64 // bytes allocated per operation; 0 if unknown
	SameCode   bool    // both sides have the same machine code, so that one count of each may do
	FewOthers  bool    // hardly any other benchmarks show how much counts vary
	Cycle      int64   // number of inputs, which operations take in turn; 0 if all do the same
}

// Pair holds the counts of a benchmark on two sides.
type Pair struct {
	Ops        int64 // difference in operations of the two runs of a count
	Base, Head []Count
}

// RefusedError is the reason why a benchmark is not counted.
type RefusedError struct{ Why string }

// Error is one line.
func (e *RefusedError) Error() string { return e.Why }

// CountPair counts both sides of a benchmark twice, and a third time if the counts of a side
// are inconsistent or if g.FewOthers is set. Sides with the same code are counted once, and again if
// the two counts are inconsistent. The error explains why the benchmark cannot be counted.
func (c *Counter) CountPair(ctx context.Context, g Estimate, base, head Side) (p Pair, err error) {
	shorter, longer, pilot, err := c.findOperations(ctx, g, base)
	if err != nil {
		return p, err
	}
	p.Ops, p.Base = longer-shorter, []Count{pilot}
	for repeat := range maxRepeats {
		isComplete := repeat >= minRepeats && !g.FewOthers && isConsistent(p.Base) && isConsistent(p.Head)
		isEqual := repeat > 0 && g.SameCode && isConsistent(slices.Concat(p.Base, p.Head))
		if isComplete || isEqual {
			break
		}
		if repeat > 0 { // the pilot is the first count of base
			count, err := c.countSide(ctx, cachegrind, base, repeat, shorter, longer)
			if err != nil {
				return p, err
			}
			p.Base = append(p.Base, count)
		}
		count, err := c.countSide(ctx, cachegrind, head, repeat, shorter, longer)
		if err != nil {
			return p, err
		}
		p.Head = append(p.Head, count)
	}
	return p, checkGrowth(slices.Concat(p.Base, p.Head))
}

// CountSingle counts one side by itself, as often as [Counter.CountPair] does. ops is the difference in
// operations of the two runs of a count.
func (c *Counter) CountSingle(ctx context.Context, g Estimate, side Side) (ops int64, all []Count, err error) {
	shorter, longer, pilot, err := c.findOperations(ctx, g, side)
	if err != nil {
		return 0, nil, err
	}
	all = []Count{pilot}
	for repeat := 1; repeat < maxRepeats; repeat++ {
		if repeat >= minRepeats && !g.FewOthers && isConsistent(all) {
			break
		}
		count, err := c.countSide(ctx, cachegrind, side, repeat, shorter, longer)
		if err != nil {
			return 0, nil, err
		}
		all = append(all, count)
	}
	return longer - shorter, all, checkGrowth(all)
}

// checkGrowth returns an error if a count has less than one instruction per operation.
func checkGrowth(counts []Count) error {
	if slices.Min(PerOp(counts)) < 1 {
		return &RefusedError{"its instructions do not grow with its operations"}
	}
	return nil
}

// findOperations finds the numbers of operations of the two runs of a count, by pilots on one side. The
// last pilot is a count.
func (c *Counter) findOperations(ctx context.Context, g Estimate, side Side) (shorter, longer int64, pilot Count, err error) {
	estimate := max(1, g.NSPerOp*instructionsPerNS) // instructions per operation
	minLonger := max(minOps+1, 2*g.Cycle)           // operations of the longer run
	if float64(minLonger)*estimate > maxWork {
		return 0, 0, pilot, &RefusedError{fmt.Sprintf("an operation takes %v, and a count %d times as long and more", time.Duration(g.NSPerOp).Round(time.Microsecond), 2*minLonger)}
	}
	maxLonger := float64(maxOps)
	if g.BytesPerOp > 0 {
		maxLonger = min(maxLonger, maxHeap/g.BytesPerOp)
	}
	if maxLonger < float64(minLonger) {
		return 0, 0, pilot, &RefusedError{fmt.Sprintf("%d operations allocate %.0f MB, and a count has the collector off: its memory is bounded to 1 GiB", minLonger, float64(minLonger)*g.BytesPerOp/1e6)}
	}
	for try := range maxPilots {
		shorter, longer = splitOperations(estimate, maxLonger, g.Cycle)
		if pilot, err = c.countSide(ctx, cachegrind, side, 0, shorter, longer); err != nil {
			return 0, 0, pilot, err
		}
		work := pilot.PerOp * float64(longer-shorter)
		isNearBound := float64(longer) > maxLonger/2 // there cannot be many more operations
		if work >= minPilotWork || isNearBound || try == maxPilots-1 {
			break
		}
		estimate = max(estimate/maxCorrection, pilot.PerOp, 1)
	}
	return shorter, longer, pilot, nil
}

// splitOperations returns the numbers of operations of the two runs of a count, for an
// estimate of instructions per operation. maxLonger is the maximum number, at least two cycles. With
// several inputs both are multiples of the cycle, so that each input has the same weight.
func splitOperations(estimate, maxLonger float64, cycle int64) (shorter, longer int64) {
	n := min(targetWork/estimate*opsRatio/(opsRatio-1), maxLonger)
	longer = max(minOps+1, int64(n))
	shorter = max(minOps, longer/opsRatio)
	if cycle > 1 {
		shorter = max(cycle, shorter-shorter%cycle)
		longer = max(shorter+cycle, longer-longer%cycle)
	}
	return shorter, longer
}

// CountCalls counts the calls of an operation of one side by callgrind, after [Counter.CountPair] has
// returned p. It runs fewer operations, because callgrind is slower and calls are integers. The
// counter must have functions.
func (c *Counter) CountCalls(ctx context.Context, p Pair, side Side) (Count, error) {
	longer := max(minOps+1, p.Ops/callsShare)
	return c.countSide(ctx, callgrind, side, 0, max(minOps, longer/opsRatio), longer)
}

// countSide counts one side by runs of shorterOps and of longerOps operations. tool is ignored by hardware
// counters.
func (c *Counter) countSide(ctx context.Context, tool string, side Side, repeat int, shorterOps, longerOps int64) (Count, error) {
	program, err := side(ctx, repeat)
	if err != nil {
		return Count{}, err
	}
	shorter, err := c.runCount(ctx, tool, program, shorterOps)
	if err != nil {
		return Count{}, err
	}
	longer, err := c.runCount(ctx, tool, program, longerOps)
	if err != nil {
		return Count{}, err
	}
	return perOperation(shorter, longer, longerOps-shorterOps), nil
}

// perOperation returns the cost of an operation from two runs, of which longer executed ops
// operations more than shorter.
func perOperation(shorter, longer *Profile, ops int64) Count {
	n := float64(ops)
	return Count{
		PerOp:  (float64(longer.Total) - float64(shorter.Total)) / n,
		Places: diffPerOperation(shorter.Places, longer.Places, n, minPlaceCount),
		Calls:  diffPerOperation(shorter.Calls, longer.Calls, n, minCalls),
	}
}

// diffPerOperation returns the differences of two runs, divided by n operations. It omits those
// below minimum. It returns nil if longer is empty.
func diffPerOperation[K comparable](shorter, longer map[K]uint64, n, minimum float64) map[K]float64 {
	if len(longer) == 0 {
		return nil
	}
	differences := map[K]float64{}
	for key, count := range longer {
		if x := (float64(count) - float64(shorter[key])) / n; math.Abs(x) >= minimum {
			differences[key] = x
		}
	}
	for key, count := range shorter {
		if _, ok := longer[key]; !ok && float64(count)/n >= minimum {
			differences[key] = -float64(count) / n
		}
	}
	return differences
}

// isConsistent reports whether counts differ as little as two counts of most benchmarks do.
func isConsistent(counts []Count) bool {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, c := range counts {
		lowest, highest = min(lowest, c.PerOp), max(highest, c.PerOp)
	}
	return highest-lowest <= max(maxSpreadOps, maxSpread*highest)
}

// PerOp returns the instructions per operation of counts.
func PerOp(counts []Count) []float64 {
	all := make([]float64, len(counts))
	for i, c := range counts {
		all[i] = c.PerOp
	}
	return all
}
