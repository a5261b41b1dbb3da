package plan

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/tarebench/tare"
)

// This file has the slice rule (docs/METHOD.md, "Rounds and slices"). In a round, the contenders
// (programs under test) take turns on each workload. A slice is the work of one turn. The rule
// chooses the length and the number of slices. For example, an operation takes 50 ns and allocates
// nothing. Then a slice has 20,000 operations (1 ms), and a round has some 64 slices of each
// contender.
//
// There are four kinds of slices:
//   - sliceWithoutAllocations, if no contender allocates;
//   - sliceByCycles, if one allocates: complete cycles of the garbage collector, so that each contender
//     pays for its own garbage;
//   - sliceWithoutCycles, if these cycles take too long;
//   - sliceTraffic for servers: visits of a load generator.
//
// Names that end in NS are lengths in ns. Numbers of slices are per contender and round. The inputs
// of a workload are its pool. Consecutive slices are added up to blocks.

// Slices of work without servers.
const (
	minSliceNS   = 1e6   // least length of a slice
	allocSliceNS = 12e6  // least length of a slice if a contender allocates
	sliceTurns   = 3     // a slice is as long as this number of turns of the pool,
	maxTurnsNS   = 24e6  // but turns make it at most this long
	totalNS      = 200e6 // length of all slices of a contender in a round together
	capFactor    = 4     // a slice is cut off after this many times its expected length
	briefDivisor = 10    // divides the length of slices of contenders without ratios
	noAllocCount = 64    // largest number of slices
	allocDivisor = 4     // divides noAllocCount if a contender allocates
	noAllocBlock = 4     // number of slices in a block, if no contender allocates
	cycleBlock   = 2     // number of slices in a block of other work

	maxCycleNS      = 2e9  // slices consist of collection cycles if the longest cycle takes at most this time,
	maxCycleOps     = 10   // or at most the time of this number of operations;
	withoutCyclesNS = 12e6 // otherwise slices have at least this length

	maxBalancedNS      = 60e6  // slices up to this mean length have a balanced order and blocks,
	minBalancedCount   = 6     // and there are at least this number of them;
	minUnbalancedCount = 2     // there are at least this number of longer slices,
	onceNS             = 600e6 // but only one if they consist of cycles and their mean is above this length

	// A slice begins with a lead-in, a turn of the pool that is not timed: other contenders have
	// displaced the inputs from the caches. Its limits are shares of a slice.
	leadShare    = 0.07
	maxLeadShare = 0.5
)

// sliceWorkload applies the slice rule to one workload. pilots are in plan order.
func sliceWorkload(workload tare.Workload, pilots []tare.Pilot, o Options) tare.Slicing {
	s := sliceByRule(workload, pilots, o)
	hasSegment := workload.Traffic != nil && workload.Traffic.Segment > 0
	if workload.Slice > 0 || hasSegment {
		return s // all contenders must have the same number of operations, or a segment of the same length
	}
	for _, id := range o.Brief {
		shortenCount(s.Ops, id, minVisitResponses, workload.Traffic)
		shortenCount(s.Lead, id, visitLeadRequests, workload.Traffic)
		shortenCount(s.Cycles, id, 0, nil)
	}
	return s
}

// shortenCount divides counts[id], a number of operations or cycles, by briefDivisor. It leaves at
// least 1. A server keeps at least perConnection requests for each connection.
func shortenCount(counts map[string]int64, id string, perConnection int, t *tare.Traffic) {
	byRule := counts[id]
	if byRule == 0 {
		return
	}
	least := int64(1)
	if t != nil {
		least = int64(perConnection * t.Connections)
	}
	counts[id] = min(byRule, max(least, byRule/briefDivisor))
}

// sliceByRule is sliceWorkload without the shorter slices of o.Brief.
func sliceByRule(workload tare.Workload, pilots []tare.Pilot, o Options) tare.Slicing {
	length := cmp.Or(workload.Slice, o.Slice) // 0 means by the rule
	maxCount := noAllocCount
	if o.Most > 0 {
		maxCount = min(maxCount, o.Most)
	}
	s := tare.Slicing{
		Workload: workload.ID,
		Until:    map[string]tare.Until{},
		Ops:      map[string]int64{},
		Lead:     map[string]int64{},
	}
	for _, p := range pilots {
		s.Contenders = append(s.Contenders, p.Contender)
	}
	e := findExtremes(pilots)
	if workload.Slice > 0 {
		pilots = withNSPerOp(pilots, e.slowest)
	}
	pool := int64(max(1, workload.Pool))
	s.MemoryOps = memoryOps(pool, e.longestOp)
	s.MinNS = length.Nanoseconds()
	if s.MinNS == 0 {
		s.MinNS = e.wantedNS(pool)
	}
	var cycleLengths []float64
	switch {
	case workload.Traffic != nil:
		sliceTraffic(&s, *workload.Traffic, pilots, length)
		return s
	case !e.allocates:
		sliceWithoutAllocations(&s, pilots, e.slowest, pool, maxCount)
		return s
	case e.hasCycles:
		cycleLengths = sliceByCycles(&s, pilots, pool)
	default:
		sliceWithoutCycles(&s, workload, pilots, e, pool)
	}
	countAllocating(&s, cycleLengths, maxCount/allocDivisor, length)
	if isBenchmark := slices.ContainsFunc(pilots, func(p tare.Pilot) bool { return p.Counted }); isBenchmark {
		sliceByRuns(&s)
	}
	if o.Isolation == tare.TrialWise {
		s.RatioOfSums = true
	}
	return s
}

// withNSPerOp returns pilots as if every contender were as slow as the slowest. All contenders then
// get the same number of operations. So the overhead of a slice has the same share in each
// operation.
func withNSPerOp(pilots []tare.Pilot, slowest float64) []tare.Pilot {
	pilots = slices.Clone(pilots)
	for i := range pilots {
		pilots[i].NSPerOp = slowest
	}
	return pilots
}

// sliceByRuns makes each slice one complete run of a Go benchmark.
func sliceByRuns(s *tare.Slicing) {
	s.Count, s.Block, s.RatioOfSums = minUnbalancedCount, 1, true
	for _, id := range s.Contenders {
		s.Ops[id], s.Lead[id] = 1, 0
	}
}

// extremes are the largest values of the pilots of one workload, in ns, and two facts about them.
type extremes struct {
	slowest      float64 // timed part of an operation of the slowest contender
	longestOp    float64 // longest operation with its untimed part
	longestCycle float64 // longest garbage collection cycle
	allocates    bool    // at least one contender allocates
	hasCycles    bool    // slices can consist of collection cycles: all are known, and none is too long
}

func findExtremes(pilots []tare.Pilot) extremes {
	e := extremes{hasCycles: true}
	for _, p := range pilots {
		e.slowest, e.longestOp = max(e.slowest, p.NSPerOp), max(e.longestOp, p.ElapsedNS())
		if p.BytesPerOp >= 1 {
			e.allocates = true
			e.hasCycles = e.hasCycles && p.CycleNS > 0
			e.longestCycle = max(e.longestCycle, p.CycleNS)
		}
	}
	isTooLong := e.longestCycle > max(maxCycleNS, maxCycleOps*e.slowest)
	e.hasCycles = e.hasCycles && !isTooLong
	return e
}

// wantedNS returns the wanted length of a slice in ns: some turns of the pool of the slowest
// contender.
func (e extremes) wantedNS(pool int64) int64 {
	least := float64(minSliceNS)
	if e.allocates {
		least = allocSliceNS
	}
	return int64(min(maxTurnsNS, max(least, sliceTurns*float64(pool)*e.slowest)))
}

// sliceWithoutAllocations sets slices of s.MinNS, or of one operation if that takes longer. slowest
// is the time of the slowest operation in ns.
func sliceWithoutAllocations(s *tare.Slicing, pilots []tare.Pilot, slowest float64, pool int64, maxCount int) {
	s.TargetNS = max(s.MinNS, int64(slowest))
	count := min(maxCount, max(minBalancedCount, int(totalNS/float64(s.TargetNS))))
	s.Count, s.Block = balancedCount(len(pilots), count), noAllocBlock
	if count < 2*noAllocBlock {
		s.Block = cycleBlock
	}
	s.CapNS = capFactor * s.TargetNS
	for _, p := range pilots {
		sliceByOps(s, p, float64(s.TargetNS), pool)
	}
}

// sliceByCycles sets slices of complete collection cycles, about s.MinNS long. Contenders that do
// not allocate get slices of the median length. It returns the slice lengths of the contenders that
// allocate, in ns, sorted.
func sliceByCycles(s *tare.Slicing, pilots []tare.Pilot, pool int64) (lengths []float64) {
	s.Cycles = map[string]int64{}
	for _, p := range pilots {
		if p.BytesPerOp < 1 {
			continue
		}
		n := max(1, math.Round(float64(s.MinNS)/p.CycleNS))
		if n*p.CycleNS < minSliceNS { // the requested length is shorter
			n = math.Ceil(minSliceNS / p.CycleNS)
		}
		lengths = append(lengths, n*p.CycleNS)
		sliceByOps(s, p, n*p.CycleNS, pool)
		s.Cycles[p.Contender] = int64(n)
		s.Until[p.Contender] = tare.UntilGC
	}
	slices.Sort(lengths)
	s.MinNS = minSliceNS // the cycles determine the length of a slice
	s.TargetNS = int64(lengths[len(lengths)/2])
	for _, p := range pilots {
		if p.BytesPerOp < 1 {
			sliceByOps(s, p, float64(s.TargetNS), pool)
		}
	}
	longest := lengths[len(lengths)-1]
	s.CapNS = capFactor * int64(max(longest, float64(s.TargetNS)))
	return lengths
}

// sliceWithoutCycles sets slices of a fixed length, for work that allocates but whose collection
// cycles are too long or unknown.
func sliceWithoutCycles(s *tare.Slicing, workload tare.Workload, pilots []tare.Pilot, e extremes, pool int64) {
	s.RatioOfSums = true
	least := withoutCyclesNS
	if workload.Slice > 0 { // the requested length already allows for allocations
		least = 0
	}
	s.TargetNS = int64(max(least, float64(s.MinNS), e.slowest))
	for _, p := range pilots {
		sliceByOps(s, p, float64(s.TargetNS), pool)
	}
	s.CapNS = capFactor * int64(max(e.longestCycle, float64(s.TargetNS)))
}

// countAllocating sets the number of slices of work that allocates, and of slices in a block.
// lengths has the lengths in ns of slices that consist of cycles; the others have s.TargetNS.
// requested is the requested length of a slice; 0 means none.
func countAllocating(s *tare.Slicing, lengths []float64, maxCount int, requested time.Duration) {
	contenders := len(s.Contenders)
	mean := float64(s.TargetNS) // over all contenders, in ns
	for _, l := range lengths {
		mean += (l - float64(s.TargetNS)) / float64(contenders)
	}
	count := min(maxCount, int(math.Ceil(totalNS/mean)))
	if mean <= max(maxBalancedNS, 2*float64(requested)) {
		s.Count, s.Block = balancedCount(contenders, max(min(minBalancedCount, maxCount), count)), cycleBlock
		return
	}
	// There are too few slices for a balanced order and for blocks.
	s.Count, s.Block, s.RatioOfSums = max(minUnbalancedCount, count), 1, true
	if s.Cycles != nil && mean > onceNS {
		s.Count = 1
	}
}

// A visit of a load generator is long compared with the responses in flight at its ends. It is
// short compared with changes of the machine's speed. Connections that start together get their
// responses together, as a burst. So visits to slow servers are longer.
const (
	visitNS           = 60e6 // length of a visit
	visitCount        = 8
	visitLeadRequests = 2    // requests per connection in the lead-in of a visit
	minVisitResponses = 10   // least number of requests per connection in a visit,
	maxVisitNS        = 2e9  // unless the visit would be longer than this
	segmentLead       = 0.05 // length of the lead-in of a continuous segment, as a share of it
)

// sliceTraffic sets the slices of a workload of servers: visits of length, or one continuous
// segment per round if the study has segments. Length 0 means by the rule.
func sliceTraffic(s *tare.Slicing, t tare.Traffic, pilots []tare.Pilot, length time.Duration) {
	if t.Segment > 0 {
		s.Count, s.Block, s.RatioOfSums = 1, 1, true
		s.TargetNS = t.Segment.Nanoseconds()
	} else {
		s.Count, s.Block, s.Visits = balancedCount(len(pilots), visitCount), cycleBlock, true
		s.TargetNS = visitNS
		if length > 0 {
			s.TargetNS = length.Nanoseconds()
		}
	}
	s.MinNS, s.CapNS = s.TargetNS, capFactor*s.TargetNS
	for _, p := range pilots {
		nsPerRequest := p.NSPerOp // of a closed loop; an open loop has a rate
		if t.Rate > 0 {
			nsPerRequest = float64(time.Second) / t.Rate
		}
		nsPerRequest = max(1, nsPerRequest)
		ops := max(1, math.Round(float64(s.TargetNS)/nsPerRequest))
		if t.Segment == 0 {
			ops = max(ops, min(float64(minVisitResponses*t.Connections), math.Round(maxVisitNS/nsPerRequest)))
		}
		lead := max(leadShare*ops, min(float64(visitLeadRequests*t.Connections), maxLeadShare*ops))
		if t.Segment > 0 {
			lead = segmentLead * ops
		}
		s.Until[p.Contender] = tare.UntilOps
		s.Ops[p.Contender], s.Lead[p.Contender] = int64(ops), int64(math.Ceil(lead))
	}
}

// The memory pass is a separate part of each round. It counts allocations.
const (
	memoryNS    = 5e6  // least length of the pass for the slowest contender
	maxMemoryNS = 50e6 // longest turn of the pool in the pass; longer turns are cut off
	memoryTurns = 1000 // largest number of turns in the pass
)

// memoryOps returns the number of operations of the memory pass, the same for all contenders. It
// makes complete turns of the pool, unless one takes too long. nsPerOp is the time of an operation
// of the slowest contender.
func memoryOps(pool int64, nsPerOp float64) int64 {
	nsPerOp = max(1, nsPerOp)
	turn := float64(pool) * nsPerOp
	if turn > maxMemoryNS {
		return max(2, int64(maxMemoryNS/nsPerOp))
	}
	turns := max(1, int64(memoryNS/turn))
	return min(turns, memoryTurns) * pool
}

// sliceByOps sets the slice of p to the number of operations that take about ns, and its lead-in.
func sliceByOps(s *tare.Slicing, p tare.Pilot, ns float64, pool int64) {
	ops := int64(1)
	if p.NSPerOp > 0 {
		ops = max(1, int64(math.Round(ns/p.NSPerOp)))
	}
	s.Until[p.Contender] = tare.UntilOps
	s.Ops[p.Contender] = ops
	lead := max(leadShare*float64(ops), min(float64(pool), maxLeadShare*float64(ops)))
	s.Lead[p.Contender] = int64(math.Round(lead))
	if ops >= 3 { // an operation is at most a third of the slice
		s.Lead[p.Contender] = max(1, s.Lead[p.Contender])
	}
}

// LongCount returns the number of slices of s in a round whose slices are tau times as long. It
// returns 0 if the slices of s are so long that they are not made longer.
func LongCount(s tare.Slicing, tau int) int {
	if s.Block == 1 || s.TargetNS > maxBalancedNS {
		return 0
	}
	return max(2, s.Count/tau)
}

// balancedCount returns the number of slices for k contenders, at least wanted. Their order is
// balanced if the slices fill complete Williams designs. If these take more than twice wanted, it
// returns wanted rounded up to an even number. Each round then uses other rows of the design.
func balancedCount(k, wanted int) int {
	rows := k
	if k%2 == 1 {
		rows = 2 * k
	}
	if k == 1 {
		rows = 1
	}
	if balanced := (wanted + rows - 1) / rows * rows; balanced <= 2*wanted {
		return balanced
	}
	return wanted + wanted%2
}
