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
	wantWork    = 200e6   // instructions between the two runs of a count
	enoughWork  = 80e6    // of them, enough for the pilot to be a count
	maxWork     = 4e9     // of one run; longer operations are not counted
	maxHeap     = 1 << 30 // bytes allocated by a run without garbage collection
	perNS       = 5.0     // estimated instructions per ns
	runsShare   = 8       // N divided by the operations of the shorter run
	minOps      = 2       // of a run: testing runs a single operation differently
	maxOps      = 100e6
	maxPilots   = 4
	maxRepeats  = 3     // counts of a side if two are inconsistent
	minRepeats  = 2     // otherwise; 1 if both sides have the same code
	agreeWithin = 0.002 // largest difference of consistent counts, as a share
	agreeOps    = 1.0   // or in instructions per operation
	leastCount  = 0.02  // least instructions per operation of a stored place
)

// Count is the cost of one operation by one count.
type Count struct {
	PerOp  float64           // instructions
	Places map[Place]float64 // of PerOp, by line; nil if the counter reports only the sum
}

// Side returns the program of one build for the repeat-th count. Each has another order of
// functions.
type Side func(ctx context.Context, repeat int) (Program, error)

// Guess holds earlier measurements of an operation.
type Guess struct {
	NSPerOp  float64
	BytesPer float64 // allocated by one operation
	SameCode bool    // both sides have the same machine code: a count of each shows whether data differ
}

// Pair holds the counts of a benchmark on two sides.
type Pair struct {
	Ops        int64 // between the two runs of a count
	Base, Head []Count
}

// RefusedError is the reason why a benchmark is not counted.
type RefusedError struct{ Why string }

// Error is one line.
func (e *RefusedError) Error() string { return e.Why }

// Compare counts both sides of a benchmark twice, and a third time if two counts of a side are
// inconsistent. Sides with the same code are counted once, and again if inconsistent.
func (c *Counter) Compare(ctx context.Context, g Guess, base, head Side) (p Pair, err error) {
	first, last, err := c.findOperations(ctx, g, base, &p)
	if err != nil {
		return p, err
	}
	for repeat := range maxRepeats {
		if repeat >= minRepeats && isConsistent(p.Base) && isConsistent(p.Head) || repeat > 0 && g.SameCode && isConsistent(slices.Concat(p.Base, p.Head)) {
			break
		}
		for _, side := range []struct {
			of   Side
			into *[]Count
		}{{base, &p.Base}, {head, &p.Head}} {
			if len(*side.into) > repeat { // the pilot was a count
				continue
			}
			one, err := c.countSide(ctx, side.of, repeat, first, last)
			if err != nil {
				return p, err
			}
			*side.into = append(*side.into, one)
		}
	}
	if least := min(slices.Min(PerOp(p.Base)), slices.Min(PerOp(p.Head))); least < 1 {
		return p, &RefusedError{"its instructions do not grow with its operations"}
	}
	return p, nil
}

// findOperations finds the operations of the two runs of a count, and adds the last trial as
// the first count of base.
func (c *Counter) findOperations(ctx context.Context, g Guess, base Side, p *Pair) (first, last int64, err error) {
	estimate := max(1, g.NSPerOp*perNS)
	if 3*estimate > maxWork {
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
		one, err := c.countSide(ctx, base, 0, first, last)
		if err != nil {
			return 0, 0, err
		}
		work := one.PerOp * float64(last-first)
		if work >= enoughWork || float64(last) > bound/2 || try == maxPilots-1 {
			p.Ops, p.Base = last-first, []Count{one}
			return first, last, nil
		}
		estimate = max(estimate/64, one.PerOp, 1)
	}
	return first, last, nil
}

// splitOperations returns the operations of the two runs of a count, for an estimate of
// instructions per operation.
func splitOperations(estimate, bound float64) (first, last int64) {
	n := min(wantWork/estimate*runsShare/(runsShare-1), bound)
	last = max(minOps+1, int64(n))
	return max(minOps, last/runsShare), last
}

// countSide counts one side once.
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

// perOperation returns the cost of an operation. many has executed ops operations more than
// few.
func perOperation(few, many *Profile, ops int64) Count {
	n := float64(ops)
	one := Count{PerOp: (float64(many.Total) - float64(few.Total)) / n}
	if len(many.Places) == 0 {
		return one
	}
	one.Places = map[Place]float64{}
	for at, count := range many.Places {
		if x := (float64(count) - float64(few.Places[at])) / n; math.Abs(x) >= leastCount {
			one.Places[at] = x
		}
	}
	for at, count := range few.Places {
		if _, in := many.Places[at]; !in && float64(count)/n >= leastCount {
			one.Places[at] = -float64(count) / n
		}
	}
	return one
}

// isConsistent reports whether counts of one side are as close as two counts of most
// benchmarks.
func isConsistent(counts []Count) bool {
	least, most := math.Inf(1), math.Inf(-1)
	for _, c := range counts {
		least, most = min(least, c.PerOp), max(most, c.PerOp)
	}
	return most-least <= max(agreeOps, agreeWithin*most)
}

// PerOp returns the instructions per operation of counts.
func PerOp(counts []Count) []float64 {
	all := make([]float64, len(counts))
	for i, c := range counts {
		all[i] = c.PerOp
	}
	return all
}
