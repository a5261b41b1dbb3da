package counts

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// This file counts the instructions of an operation. For example, runs of 80 and of 10 operations
// differ by 70,000 instructions. Then one operation has 1,000.

// Bounds of the number of operations.
const (
	targetWork           = 200e6   // instructions between the two runs of a count
	briefWork            = 100e6   // replaces targetWork if Estimate.Brief is set
	minPilotShare        = 0.4     // a pilot with this share of the work is a count
	maxWork              = 4e9     // most instructions of one run
	maxHeap              = 1 << 30 // most allocated bytes of a run, as nothing is collected
	instructionsPerNS    = 12.0    // usual speed of arithmetic in caches
	minInstructionsPerNS = 5.0     // long operations miss caches
	maxCorrection        = 64      // factor by which a pilot may lower the estimate
	opsRatio             = 8       // operations of the longer run divided by those of the shorter
	minOps               = 2       // testing runs a single operation differently
	maxOps               = 100e6
	maxPilots            = 4
	minRepeats           = 2     // counts of a side, unless both have the same code
	fewOthersRepeats     = 3     // replaces minRepeats if Estimate.FewOthers is set
	maxRepeats           = 5     // most counts of an inconsistent side
	maxSpread            = 0.002 // largest difference of consistent counts, as a share
	maxSpreadOps         = 1.0   // the same in instructions per operation
	minPlaceCount        = 0.02  // least instructions per operation of a stored place
	minCalls             = 0.001 // least calls per operation of a stored site
	callsShare           = 4     // operations of a count to those of a count of calls
)

// Count is the result of one count of a benchmark.
type Count struct {
	PerOp  float64           // instructions per operation
	Places map[Place]float64 // PerOp by line; nil for hardware counters
	Calls  map[Call]float64  // calls per operation; nil unless [Series.CountCalls] counted
}

// Side returns the program for a count; repeat is its number, from 0. Each build has another order
// of functions.
type Side func(ctx context.Context, repeat int) (Program, error)

// Estimate holds earlier measurements of an operation.
type Estimate struct {
	NSPerOp    float64
	BytesPerOp float64 // allocated per operation; 0 if unknown
	SameCode   bool    // the same machine code on both sides: one count of each may do
	FewOthers  bool    // few other benchmarks show how much counts vary
	Brief      bool    // each count is half as long
	Cycle      int64   // number of inputs; 0 if all operations do the same
}

// Series holds the counts of a benchmark on one side. All counts have the same numbers of
// operations.
type Series struct {
	Counts                []Count
	counter               *Counter
	side                  Side
	shorterOps, longerOps int64
}

// Pair holds the counts of a benchmark on two sides.
type Pair struct {
	Base, Head Series
	guess      Estimate
}

// RefusedError is the reason why a benchmark is not counted.
type RefusedError struct{ Why string }

// Error returns e.Why.
func (e *RefusedError) Error() string { return e.Why }

// StartPair counts both sides of a benchmark once. Its error explains why the benchmark cannot be
// counted.
func (c *Counter) StartPair(ctx context.Context, g Estimate, base, head Side) (*Pair, error) {
	p := &Pair{guess: g}
	var err error
	if p.Base, err = c.startSeries(ctx, g, base); err != nil {
		return nil, err
	}
	p.Head = Series{counter: c, side: head, shorterOps: p.Base.shorterOps, longerOps: p.Base.longerOps}
	return p, p.Head.Repeat(ctx)
}

// Incomplete returns the sides of p that should be counted again. One count is enough if both sides
// have the same code. A few benchmarks alone do not show how much counts vary, so each has more
// repeats. Inconsistent repeats require more.
func (p *Pair) Incomplete() []*Series {
	minimum := minRepeats
	switch {
	case p.guess.SameCode:
		minimum = 1
	case p.guess.FewOthers:
		minimum = fewOthersRepeats
	}
	isConsistent := p.isConsistent()
	var incomplete []*Series
	for _, s := range []*Series{&p.Base, &p.Head} {
		if len(s.Counts) < minimum || !isConsistent && len(s.Counts) < maxRepeats {
			incomplete = append(incomplete, s)
		}
	}
	return incomplete
}

// CountSingle counts one side by itself, with the repeats of a [Pair] whose code differs.
func (c *Counter) CountSingle(ctx context.Context, g Estimate, side Side) (Series, error) {
	s, err := c.startSeries(ctx, g, side)
	minimum := minRepeats
	if g.FewOthers {
		minimum = fewOthersRepeats
	}
	for err == nil && (len(s.Counts) < minimum || !s.isConsistent() && len(s.Counts) < maxRepeats) {
		err = s.Repeat(ctx)
	}
	return s, err
}

// startSeries finds the numbers of operations by pilots, which are short counts. The last pilot is
// the first count.
func (c *Counter) startSeries(ctx context.Context, g Estimate, side Side) (Series, error) {
	estimate := max(1, g.NSPerOp*instructionsPerNS)
	minLonger := max(minOps+1, 2*g.Cycle)
	if float64(minLonger)*g.NSPerOp*minInstructionsPerNS > maxWork {
		return Series{}, &RefusedError{fmt.Sprintf("an operation takes %v, and a count %d times as long and more", time.Duration(g.NSPerOp).Round(time.Microsecond), 2*minLonger)}
	}
	maxLonger := float64(maxOps)
	if g.BytesPerOp > 0 {
		maxLonger = min(maxLonger, maxHeap/g.BytesPerOp)
	}
	if maxLonger < float64(minLonger) {
		return Series{}, &RefusedError{fmt.Sprintf("%d operations allocate %.0f MB, and a count has the collector off: its memory is bounded to 1 GiB", minLonger, float64(minLonger)*g.BytesPerOp/1e6)}
	}
	work := targetWork
	if g.Brief {
		work = briefWork
	}
	for try := 1; ; try++ {
		s := Series{counter: c, side: side}
		s.shorterOps, s.longerOps = splitOperations(work/estimate, maxLonger, g.Cycle)
		if err := s.addCount(ctx); err != nil {
			return s, err
		}
		perOp := s.Counts[0].PerOp
		isNearBound := float64(s.longerOps) > maxLonger/2 // there cannot be many more operations
		if perOp*float64(s.Ops()) >= minPilotShare*work || isNearBound || try == maxPilots {
			return s, checkGrowth(perOp)
		}
		estimate = max(estimate/maxCorrection, perOp, 1)
	}
}

// splitOperations returns the numbers of operations of the two runs of a count. Their difference
// should be difference, and longer is at most maxLonger. With several inputs both are multiples of
// cycle, so that each input has the same weight.
func splitOperations(difference, maxLonger float64, cycle int64) (shorter, longer int64) {
	n := min(difference*opsRatio/(opsRatio-1), maxLonger)
	longer = max(minOps+1, int64(n))
	shorter = max(minOps, longer/opsRatio)
	if cycle > 1 {
		shorter = max(cycle, shorter-shorter%cycle)
		longer = max(shorter+cycle, longer-longer%cycle)
	}
	return shorter, longer
}

// Ops returns the difference in operations of the two runs of a count.
func (s *Series) Ops() int64 { return s.longerOps - s.shorterOps }

// Repeat adds a count, unless it returns an error.
func (s *Series) Repeat(ctx context.Context) error {
	if err := s.addCount(ctx); err != nil {
		return err
	}
	last := len(s.Counts) - 1
	err := checkGrowth(s.Counts[last].PerOp)
	if err != nil {
		s.Counts = s.Counts[:last]
	}
	return err
}

func checkGrowth(perOp float64) error {
	if perOp < 1 {
		return &RefusedError{"its instructions do not grow with its operations"}
	}
	return nil
}

func (s *Series) isConsistent() bool {
	values := PerOp(s.Counts)
	return isSteady(values, slices.Max(values))
}

// addCount appends a count of two runs. It runs shorterOps each time, because the instructions of
// the start differ. A single run would add the same error to each count.
func (s *Series) addCount(ctx context.Context) error {
	shorter, err := s.runOps(ctx, cachegrind, len(s.Counts), s.shorterOps)
	if err != nil {
		return err
	}
	longer, err := s.runOps(ctx, cachegrind, len(s.Counts), s.longerOps)
	if err != nil {
		return err
	}
	s.Counts = append(s.Counts, perOperation(shorter, longer, s.Ops()))
	return nil
}

// CountCalls counts the calls of an operation by callgrind, which the counter must have. Callgrind
// is slower, and calls are integers, so it runs fewer operations.
func (s *Series) CountCalls(ctx context.Context) (map[Call]float64, error) {
	longerOps := max(minOps+1, s.Ops()/callsShare)
	shorterOps := max(minOps, longerOps/opsRatio)
	shorter, err := s.runOps(ctx, callgrind, 0, shorterOps)
	if err != nil {
		return nil, err
	}
	longer, err := s.runOps(ctx, callgrind, 0, longerOps)
	if err != nil {
		return nil, err
	}
	return perOperation(shorter, longer, longerOps-shorterOps).Calls, nil
}

// runOps counts a run of n operations. Hardware counters ignore tool.
func (s *Series) runOps(ctx context.Context, tool string, repeat int, n int64) (*Profile, error) {
	program, err := s.side(ctx, repeat)
	if err != nil {
		return nil, err
	}
	return s.counter.runCount(ctx, tool, program, repeat, n)
}

// perOperation returns the cost of one operation. The run longer executed ops operations more than
// the run shorter.
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

// isConsistent reports whether the difference between head and base is about the same in all
// repeats. If both sides have the same code, the difference must be about 0.
func (p *Pair) isConsistent() bool {
	var differences []float64
	if p.guess.SameCode {
		differences = append(differences, 0)
	}
	largest := 0.0
	for i := range min(len(p.Base.Counts), len(p.Head.Counts)) {
		base, head := p.Base.Counts[i].PerOp, p.Head.Counts[i].PerOp
		differences, largest = append(differences, head-base), max(largest, base, head)
	}
	return isSteady(differences, largest)
}

// isSteady reports whether values differ as little as two counts usually do. count is the number of
// instructions of which they are parts.
func isSteady(values []float64, count float64) bool {
	return slices.Max(values)-slices.Min(values) <= max(maxSpreadOps, maxSpread*count)
}

// PerOp returns the instructions per operation of counts.
func PerOp(counts []Count) []float64 {
	all := make([]float64, len(counts))
	for i, c := range counts {
		all[i] = c.PerOp
	}
	return all
}
