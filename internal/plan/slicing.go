package plan

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/tarebench/tare"
)

// In a round, the contenders (programs under test) take turns on each workload. A slice is the work
// of one turn. The slice rule (docs/METHOD.md, "Rounds and slices") chooses the length and the
// number of slices. For example, an operation takes 50 ns and allocates nothing. Then a slice has
// 20,000 operations (1 ms), and a round has some 64 slices of each contender.
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
	allocSliceNS = 12e6  // least length with allocations
	sliceTurns   = 3     // a slice is this many turns of the pool,
	maxTurnsNS   = 24e6  // but at most this long
	totalNS      = 200e6 // all slices of a contender in a round
	capFactor    = 4     // a slice ends after this many times its expected length
	briefDivisor = 10    // divides slices of contenders without ratios
	noAllocCount = 64    // largest number of slices
	allocDivisor = 4     // divides noAllocCount if a contender allocates
	noAllocBlock = 4     // slices in a block of work without allocations
	cycleBlock   = 2     // slices in a block of other work

	maxCycleNS      = 2e9  // longest cycle for slices of cycles,
	maxCycleOps     = 10   // or the time of this number of operations
	withoutCyclesNS = 12e6 // least length of other slices

	maxBalancedNS      = 60e6  // mean length for a balanced order and blocks,
	minBalancedCount   = 6     // with at least this number of slices
	minUnbalancedCount = 2     // least number of longer slices,
	onceNS             = 600e6 // or one slice of cycles above this mean length

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
		return s // all have the same operations or length
	}
	for _, id := range o.Brief {
		shortenCount(s.Ops, id, minVisitResponses, workload.Traffic)
		shortenCount(s.Lead, id, visitLeadRequests, workload.Traffic)
		shortenCount(s.Cycles, id, 0, nil)
	}
	return s
}

// shortenCount divides counts[id] by briefDivisor. A server keeps at least perConnection requests
// for each connection.
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

// withNSPerOp gives all contenders the number of operations of the slowest one. The overhead then has
// the same share in each operation.
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

// extremes are over the pilots of one workload, in ns.
type extremes struct {
	slowest      float64 // timed part of an operation
	longestOp    float64 // operation with its untimed part
	longestCycle float64 // collection cycle
	allocates    bool    // at least one contender does
	hasCycles    bool    // all are known and short enough for slices
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

// wantedNS returns some turns of the pool of the slowest contender.
func (e extremes) wantedNS(pool int64) int64 {
	least := float64(minSliceNS)
	if e.allocates {
		least = allocSliceNS
	}
	return int64(min(maxTurnsNS, max(least, sliceTurns*float64(pool)*e.slowest)))
}

// sliceWithoutAllocations sets slices of s.MinNS, or of one operation. slowest is in ns.
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

// sliceByCycles sets slices of complete collection cycles. Contenders that do not allocate get
// slices of the median length. It returns the lengths of the others in ns, sorted.
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

func sliceWithoutCycles(s *tare.Slicing, workload tare.Workload, pilots []tare.Pilot, e extremes, pool int64) {
	s.RatioOfSums = true
	least := withoutCyclesNS
	if workload.Slice > 0 { // allows for allocations already
		least = 0
	}
	s.TargetNS = int64(max(least, float64(s.MinNS), e.slowest))
	for _, p := range pilots {
		sliceByOps(s, p, float64(s.TargetNS), pool)
	}
	s.CapNS = capFactor * int64(max(e.longestCycle, float64(s.TargetNS)))
}

// countAllocating sets the number of slices if a contender allocates. lengths has the ns of slices
// of cycles. requested is a length; 0 means none.
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
	// Too few slices for a balanced order and for blocks.
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
	visitLeadRequests = 2    // requests per connection
	minVisitResponses = 10   // requests per connection,
	maxVisitNS        = 2e9  // up to this length of a visit
	segmentLead       = 0.05 // share of a continuous segment
)

// sliceTraffic sets visits of a length, or one continuous segment per round. Length 0 means by the
// rule.
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
		nsPerRequest := p.NSPerOp // closed loop
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

// The memory pass counts allocations in each round.
const (
	memoryNS    = 5e6  // least length for the slowest contender
	maxMemoryNS = 50e6 // longest turn of the pool
	memoryTurns = 1000
)

// memoryOps returns the number of operations of the memory pass: complete turns of the pool, unless
// one takes too long. nsPerOp is that of the slowest contender.
func memoryOps(pool int64, nsPerOp float64) int64 {
	nsPerOp = max(1, nsPerOp)
	turn := float64(pool) * nsPerOp
	if turn > maxMemoryNS {
		return max(2, int64(maxMemoryNS/nsPerOp))
	}
	turns := max(1, int64(memoryNS/turn))
	return min(turns, memoryTurns) * pool
}

// sliceByOps sets the slice of p to operations of about ns, and its lead-in.
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

// LongCount returns the number of slices of s in a round of longer slices, or 0 if they are long
// already.
func LongCount(s tare.Slicing, tau int) int {
	if s.Block == 1 || s.TargetNS > maxBalancedNS {
		return 0
	}
	return max(2, s.Count/tau)
}

// balancedCount returns the number of slices for k contenders, at least wanted. Complete Williams
// designs give a balanced order. If these take more than twice wanted, each round uses other rows.
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
