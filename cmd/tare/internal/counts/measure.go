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
)

// Count is the result of one count of a benchmark.
type Count struct {
	PerOp  float64           // instructions per operation
	Places map[Place]float64 // PerOp by line; nil if the counter reports only the sum
}

// Side returns the program of one side for a count; repeat is the number of the count, from
// 0. Each build has another order of functions.
type Side func(ctx context.Context, repeat int) (Program, error)

// Guess holds earlier measurements of an operation.
type Guess struct {
	NSPerOp  float64
	BytesPer float64 // bytes allocated per operation; 0 if unknown
	SameCode bool    // both sides have the same machine code, so that one count of each may do
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

// Compare counts both sides of a benchmark twice, and a third time if the counts of a side
// are inconsistent. Sides with the same code are counted once, and again if the two counts
// are inconsistent. The error explains why the benchmark cannot be counted.
func (c *Counter) Compare(ctx context.Context, g Guess, base, head Side) (p Pair, err error) {
	first, last, err := c.findOperations(ctx, g, base, &p)
	if err != nil {
		return p, err
	}
	for repeat := range maxRepeats {
		isComplete := repeat >= minRepeats && isConsistent(p.Base) && isConsistent(p.Head)
		isEqual := repeat > 0 && g.SameCode && isConsistent(slices.Concat(p.Base, p.Head))
		if isComplete || isEqual {
			break
		}
		for _, side := range []struct {
			program Side
			counts  *[]Count
		}{{base, &p.Base}, {head, &p.Head}} {
			if len(*side.counts) > repeat { // the pilot is the first count of base
				continue
			}
			count, err := c.countSide(ctx, side.program, repeat, first, last)
			if err != nil {
				return p, err
			}
			*side.counts = append(*side.counts, count)
		}
	}
	if lowest := min(slices.Min(PerOp(p.Base)), slices.Min(PerOp(p.Head))); lowest < 1 {
		return p, &RefusedError{"its instructions do not grow with its operations"}
	}
	return p, nil
}

// findOperations finds the numbers of operations of the two runs of a count, by pilots. It
// adds the last pilot as the first count of base, and sets p.Ops.
func (c *Counter) findOperations(ctx context.Context, g Guess, base Side, p *Pair) (first, last int64, err error) {
	estimate := max(1, g.NSPerOp*instructionsPerNS) // instructions per operation
	if (minOps+1)*estimate > maxWork {
		return 0, 0, &RefusedError{fmt.Sprintf("an operation takes %v, and a count %d times as long and more", time.Duration(g.NSPerOp).Round(time.Millisecond), 3*minOps)}
	}
	bound := float64(maxOps)
	if g.BytesPer > 0 {
		bound = min(bound, maxHeap/g.BytesPer)
	}
	if bound < minOps+1 {
		return 0, 0, &RefusedError{fmt.Sprintf("an operation allocates %.0f MB, and a count has the collector off: its memory is bounded to 1 GiB", g.BytesPer/1e6)}
	}
	for try := range maxPilots {
		first, last = splitOperations(estimate, bound)
		pilot, err := c.countSide(ctx, base, 0, first, last)
		if err != nil {
			return 0, 0, err
		}
		work := pilot.PerOp * float64(last-first)
		isNearBound := float64(last) > bound/2 // there cannot be many more operations
		if work >= minPilotWork || isNearBound || try == maxPilots-1 {
			p.Ops, p.Base = last-first, []Count{pilot}
			return first, last, nil
		}
		estimate = max(estimate/maxCorrection, pilot.PerOp, 1)
	}
	return first, last, nil
}

// splitOperations returns the numbers of operations of the two runs of a count, for an
// estimate of instructions per operation. bound is the maximum number.
func splitOperations(estimate, bound float64) (first, last int64) {
	n := min(targetWork/estimate*opsRatio/(opsRatio-1), bound)
	last = max(minOps+1, int64(n))
	return max(minOps, last/opsRatio), last
}

// countSide counts one side by runs of first and of last operations.
func (c *Counter) countSide(ctx context.Context, side Side, repeat int, first, last int64) (Count, error) {
	program, err := side(ctx, repeat)
	if err != nil {
		return Count{}, err
	}
	few, err := c.runCount(ctx, program, first)
	if err != nil {
		return Count{}, err
	}
	many, err := c.runCount(ctx, program, last)
	if err != nil {
		return Count{}, err
	}
	return perOperation(few, many, last-first), nil
}

// perOperation returns the cost of an operation from two runs, of which many executed ops
// operations more than few.
func perOperation(few, many *Profile, ops int64) Count {
	n := float64(ops)
	c := Count{PerOp: (float64(many.Total) - float64(few.Total)) / n}
	if len(many.Places) == 0 {
		return c
	}
	c.Places = map[Place]float64{}
	for place, count := range many.Places {
		if x := (float64(count) - float64(few.Places[place])) / n; math.Abs(x) >= minPlaceCount {
			c.Places[place] = x
		}
	}
	for place, count := range few.Places {
		if _, ok := many.Places[place]; !ok && float64(count)/n >= minPlaceCount {
			c.Places[place] = -float64(count) / n
		}
	}
	return c
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
