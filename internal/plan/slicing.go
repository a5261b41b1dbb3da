package plan

import (
	"math"
	"slices"
	"time"

	"github.com/tarebench/tare"
)

// The slice rule, which docs/METHOD.md describes under "Rounds and slices".
const (
	shortNS      = 1e6  // a slice of work that allocates nothing
	minNS        = 12e6 // of work that allocates, about: the nearest number of complete collection cycles
	hugeNS       = 2e9  // the longest slice of one complete collection cycle, unless ten operations take longer
	longestOps   = 10
	unevenNS     = 12e6  // a slice of work whose collection cycles are longer than that, or were not seen
	totalNS      = 200e6 // a contender's slices of a round together
	shortCount   = 64    // slices per round of work that allocates nothing
	allocShare   = 4     // divisor of their number for work that allocates, if slices are short,
	minLongCount = 6     // if they are long,
	hugeCount    = 2     // and if they are longer than hugeSlice
	hugeSlice    = 60e6
	onceSlice    = 600e6 // a collection cycle as long as this is measured once a round
	slack        = 4     // a slice is cut off when it takes this many times the expected time

	// A slice begins with an unmeasured turn of the pool: the others' slices
	// put the inputs out of the caches. Slices are made about three turns long,
	// within reason, and the turn is cut off at half a slice.
	leadShare    = 0.07 // of a slice, at least
	maxLeadShare = 0.5  // of a slice
	turns        = 3    // in a slice
	turnsNS      = 24e6 // no slice is made longer than this for the sake of its lead-in

	memoryNS     = 5e6 // the pass that counts allocations, by its slowest contender …
	memoryMostNS = 50e6
	memoryTurns  = 1000 // … and never more turns of the pool than this

	// Visits: a load generator goes from server to server. A visit is long against the responses in
	// flight at its ends, and short against what the machine does meanwhile.
	visitNS    = 60e6
	visitCount = 8
	visitTurns = 2 // requests of a lead-in per connection
	// Answers of connections that began together come together: a visit that begins and ends with
	// an answer has many turns of all connections, or the rate would be that of a burst. Visits to
	// slow servers are longer.
	visitAnswers = 10
	visitMostNS  = 2e9
	segmentLead  = 0.05 // of a continuous segment

	briefDivisor = 10 // slices of contenders without ratios are this many times shorter

	block      = 2 // slices of complete cycles in a block
	shortBlock = 4 // slices in a block of work that allocates nothing
)

// sliceWorkload applies the slice rule to one workload: pilots has one entry per contender that can
// do it, in plan order.
func sliceWorkload(workload tare.Workload, pilots []tare.Pilot, o Options) tare.Slicing {
	s := sliceByRule(workload, pilots, o)
	if t := workload.Traffic; workload.Slice > 0 || t != nil && t.Segment > 0 {
		return s // one number of operations for all, or one length of a segment
	}
	for _, id := range o.Brief {
		shortenCount(s.Ops, id, visitAnswers, workload.Traffic)
		shortenCount(s.Lead, id, visitTurns, workload.Traffic)
		shortenCount(s.Cycles, id, 0, nil)
	}
	return s
}

// shortenCount makes n[id] a tenth, but for traffic at least answers responses per connection.
func shortenCount(n map[string]int64, id string, answers int, t *tare.Traffic) {
	rule := n[id]
	if rule == 0 {
		return
	}
	least := int64(1)
	if t != nil {
		least = int64(answers * t.Connections)
	}
	n[id] = min(rule, max(least, rule/briefDivisor))
}

// sliceByRule is sliceWorkload with slices of full length for all.
func sliceByRule(workload tare.Workload, pilots []tare.Pilot, o Options) tare.Slicing {
	want := o.Slice
	if workload.Slice > 0 {
		want = workload.Slice
	}
	most := shortCount
	if o.Most > 0 {
		most = min(most, o.Most)
	}
	s := tare.Slicing{
		Workload: workload.ID,
		Until:    map[string]tare.Until{},
		Ops:      map[string]int64{},
		Lead:     map[string]int64{},
	}
	slowest, longest, allocates, cycles := 0.0, 0.0, false, true
	lasts := 0.0 // an operation of the slowest, timed or not
	for _, p := range pilots {
		s.Contenders = append(s.Contenders, p.Contender)
		slowest, lasts = max(slowest, p.NSPerOp), max(lasts, p.ElapsedNS())
		if p.BytesPerOp >= 1 {
			allocates = true
			cycles = cycles && p.CycleNS > 0
			longest = max(longest, p.CycleNS)
		}
	}
	if workload.Slice > 0 { // one length for all is one number of operations for all: costs per slice have the same share in each
		pilots = slices.Clone(pilots)
		for i := range pilots {
			pilots[i].NSPerOp = slowest
		}
	}
	pool := int64(max(1, workload.Pool))
	s.MemoryOps = memoryOps(pool, lasts)
	if workload.Traffic != nil {
		sliceTraffic(&s, *workload.Traffic, pilots, want)
		return s
	}
	s.MinNS = want.Nanoseconds()
	if s.MinNS == 0 {
		least := float64(shortNS)
		if allocates {
			least = minNS
		}
		s.MinNS = int64(min(turnsNS, max(least, turns*float64(pool)*slowest)))
	}
	if !allocates {
		s.TargetNS = s.MinNS
		if slowest > float64(s.TargetNS) { // an operation is a slice of its own
			s.TargetNS = int64(slowest)
		}
		count := min(most, max(minLongCount, int(totalNS/float64(s.TargetNS))))
		s.Count, s.Block = balancedCount(len(pilots), count), shortBlock
		if count < 2*shortBlock {
			s.Block = block
		}
		s.CapNS = slack * s.TargetNS
		for _, p := range pilots {
			sliceByOps(&s, p, float64(s.TargetNS), pool)
		}
		return s
	}

	// Work that allocates: a slice has complete collection cycles, for all contenders or for none.
	s.Block = block
	var lengths []float64
	if !cycles || longest > max(hugeNS, longestOps*slowest) {
		s.RatioOfSums = true
		uneven := unevenNS
		if workload.Slice > 0 { // a length that was chosen for what it allocates
			uneven = 0
		}
		s.TargetNS = int64(max(uneven, float64(s.MinNS), slowest))
		for _, p := range pilots {
			sliceByOps(&s, p, float64(s.TargetNS), pool)
		}
	} else {
		s.Cycles = map[string]int64{}
		for _, p := range pilots {
			if p.BytesPerOp < 1 {
				continue
			}
			n := max(1, math.Round(float64(s.MinNS)/p.CycleNS))
			if n*p.CycleNS < shortNS {
				n = math.Ceil(shortNS / p.CycleNS)
			}
			lengths = append(lengths, n*p.CycleNS)
			sliceByOps(&s, p, n*p.CycleNS, pool)
			s.Cycles[p.Contender] = int64(n)
			s.Until[p.Contender] = tare.UntilGC
		}
		slices.Sort(lengths)
		s.MinNS = shortNS // the cycles determine its length
		s.TargetNS = int64(lengths[len(lengths)/2])
		longest = lengths[len(lengths)-1]
		for _, p := range pilots {
			if p.BytesPerOp < 1 {
				sliceByOps(&s, p, float64(s.TargetNS), pool)
			}
		}
	}
	s.CapNS = slack * int64(max(longest, float64(s.TargetNS)))
	mean := float64(s.TargetNS)
	for _, l := range lengths {
		mean += (l - float64(s.TargetNS)) / float64(len(pilots))
	}
	most /= allocShare
	count := min(most, int(math.Ceil(totalNS/mean)))
	if mean <= max(hugeSlice, 2*float64(want)) {
		s.Count = balancedCount(len(pilots), max(min(minLongCount, most), count))
	} else { // too few for a balanced order and for blocks
		s.Count, s.Block, s.RatioOfSums = max(hugeCount, count), 1, true
		if s.Cycles != nil && mean > onceSlice {
			s.Count = 1
		}
	}
	if slices.ContainsFunc(pilots, func(p tare.Pilot) bool { return p.Counted }) { // complete runs, however little of them is timed
		s.Count, s.Block, s.RatioOfSums = hugeCount, 1, true
		for _, p := range pilots {
			s.Ops[p.Contender], s.Lead[p.Contender] = 1, 0
		}
	}
	if o.Isolation == tare.TrialWise {
		s.RatioOfSums = true
	}
	return s
}

// sliceTraffic cuts a server's workload into visits, or one continuous segment.
func sliceTraffic(s *tare.Slicing, t tare.Traffic, pilots []tare.Pilot, want time.Duration) {
	if t.Segment > 0 {
		s.Count, s.Block, s.RatioOfSums = 1, 1, true
		s.TargetNS = t.Segment.Nanoseconds()
	} else {
		s.Count, s.Block, s.Visits = balancedCount(len(pilots), visitCount), block, true
		s.TargetNS = visitNS
		if want > 0 {
			s.TargetNS = want.Nanoseconds()
		}
	}
	s.MinNS, s.CapNS = s.TargetNS, slack*s.TargetNS
	for _, p := range pilots {
		pace := p.NSPerOp
		if t.Rate > 0 {
			pace = float64(time.Second) / t.Rate
		}
		ops := max(1, math.Round(float64(s.TargetNS)/max(1, pace)))
		if t.Segment == 0 {
			ops = max(ops, min(float64(visitAnswers*t.Connections), math.Round(visitMostNS/max(1, pace))))
		}
		lead := max(leadShare*ops, min(float64(visitTurns*t.Connections), maxLeadShare*ops))
		if t.Segment > 0 {
			lead = segmentLead * ops
		}
		s.Until[p.Contender] = tare.UntilOps
		s.Ops[p.Contender], s.Lead[p.Contender] = int64(ops), int64(math.Ceil(lead))
	}
}

// memoryOps returns the number of operations of the pass that counts allocations: the same for all
// contenders, and entire turns of the pool if there is time.
func memoryOps(pool int64, slowestNS float64) int64 {
	turn := float64(pool) * max(1, slowestNS)
	if turn > memoryMostNS {
		return max(2, int64(memoryMostNS/max(1, slowestNS)))
	}
	turns := max(1, int64(memoryNS/turn))
	return min(turns, memoryTurns) * pool
}

// sliceByOps makes p's slice as many operations as take about ns, with its lead-in.
func sliceByOps(s *tare.Slicing, p tare.Pilot, ns float64, pool int64) {
	ops := int64(1)
	if p.NSPerOp > 0 {
		ops = max(1, int64(math.Round(ns/p.NSPerOp)))
	}
	s.Until[p.Contender] = tare.UntilOps
	s.Ops[p.Contender] = ops
	lead := max(leadShare*float64(ops), min(float64(pool), maxLeadShare*float64(ops)))
	s.Lead[p.Contender] = int64(math.Round(lead))
	if ops >= 3 {
		s.Lead[p.Contender] = max(1, s.Lead[p.Contender])
	}
}

// LongCount returns the number of slices of s that a contender takes in a round whose slices are
// tau times as long, or 0 if a slice is long enough by itself.
func LongCount(s tare.Slicing, tau int) int {
	if s.Block == 1 || s.TargetNS > hugeSlice {
		return 0
	}
	return max(2, s.Count/tau)
}

// balancedCount returns the smallest count not below want that a Williams design of k contenders
// fills completely: a multiple of k, of 2k if k is odd. If that is more than twice want, because
// there are many contenders, it returns want made even: each round then takes other rows of the
// design.
func balancedCount(k, want int) int {
	rows := k
	if k%2 == 1 {
		rows = 2 * k
	}
	if k == 1 {
		rows = 1
	}
	if whole := (want + rows - 1) / rows * rows; whole <= 2*want {
		return whole
	}
	return want + want%2
}
