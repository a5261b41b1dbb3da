package plan

import (
	"math"
	"slices"
	"time"

	"github.com/tarebench/tare"
)

// The slice rule: docs/METHOD.md, "Slices".
const (
	shortNS      = 1e6  // a slice of work that allocates nothing, and the shortest of any
	capNS        = 12e6 // the longest slice, unless ten operations take longer
	capOps       = 10
	wholeNS      = 12e6 // slices where a collection cycle does not fit
	shortCount   = 64   // slices per round of work that allocates nothing
	cycleCount   = 16   // and of work that allocates
	leadShare    = 0.07
	wholeCycles  = 2 // cycles in a block
	shortBlock   = 4 // slices in a block of work that allocates nothing
	fewestCycles = 2 // seen in the pilot, for a cycle length to be believed
)

// slicing applies the slice rule to one workload: pilots has one entry per
// contender that can do it, in plan order.
func slicing(workload string, pilots []tare.Pilot, want time.Duration, iso tare.Isolation) tare.Slicing {
	s := tare.Slicing{
		Workload: workload,
		MinNS:    max(shortNS, want.Nanoseconds()),
		Until:    map[string]tare.Until{},
		Ops:      map[string]int64{},
		Lead:     map[string]int64{},
	}
	slowest, allocates := 0.0, false
	for _, p := range pilots {
		s.Contenders = append(s.Contenders, p.Contender)
		slowest = max(slowest, p.NSPerOp)
		allocates = allocates || p.BytesPerOp >= 1
	}
	s.CapNS = int64(max(capNS, capOps*slowest, 3*float64(s.MinNS)))
	if !allocates {
		s.TargetNS = s.MinNS
		count := shortCount
		if slowest > float64(s.TargetNS) { // an operation is a slice of its own
			s.TargetNS = int64(slowest)
			count = max(cycleCount, int(shortCount*shortNS/slowest))
		}
		s.Count = multiple(len(pilots), count)
		s.Block = shortBlock
		for _, p := range pilots {
			byOps(&s, p, float64(s.TargetNS))
		}
		return s
	}

	// Work that allocates: a slice holds whole collection cycles.
	s.Count = multiple(len(pilots), cycleCount)
	s.Block = wholeCycles
	s.Cycles = map[string]int64{}
	var lengths []float64
	for _, p := range pilots {
		if p.BytesPerOp < 1 {
			continue
		}
		if p.CycleNS <= 0 || p.CycleNS > float64(s.CapNS) {
			s.RatioOfSums = true
			lengths = append(lengths, max(wholeNS, float64(s.MinNS)))
			continue
		}
		n := max(1, math.Ceil(float64(s.MinNS)/p.CycleNS))
		lengths = append(lengths, n*p.CycleNS)
		s.Cycles[p.Contender] = int64(n)
	}
	slices.Sort(lengths)
	s.TargetNS = int64(lengths[len(lengths)/2])
	for _, p := range pilots {
		n, whole := s.Cycles[p.Contender]
		switch {
		case whole:
			byOps(&s, p, float64(n)*p.CycleNS)
			s.Until[p.Contender] = tare.UntilGC
		case p.BytesPerOp >= 1:
			byOps(&s, p, max(wholeNS, float64(s.MinNS)))
		default:
			byOps(&s, p, float64(s.TargetNS))
		}
	}
	if iso == tare.TrialWise {
		s.RatioOfSums = true
	}
	return s
}

// byOps makes p's slice as many operations as take about ns, with its lead-in.
func byOps(s *tare.Slicing, p tare.Pilot, ns float64) {
	ops := int64(1)
	if p.NSPerOp > 0 {
		ops = max(1, int64(math.Round(ns/p.NSPerOp)))
	}
	s.Until[p.Contender] = tare.UntilOps
	s.Ops[p.Contender] = ops
	s.Lead[p.Contender] = int64(math.Round(leadShare * float64(ops)))
	if ops >= 3 {
		s.Lead[p.Contender] = max(1, s.Lead[p.Contender])
	}
}

// multiple is the smallest count not below want that a Williams design of k
// contenders fills whole: a multiple of k, of 2k where k is odd.
func multiple(k, want int) int {
	rows := k
	if k%2 == 1 {
		rows = 2 * k
	}
	if k == 1 {
		rows = 1
	}
	return (want + rows - 1) / rows * rows
}
